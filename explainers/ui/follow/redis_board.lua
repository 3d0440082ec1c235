-- What Redis does for a room in one go, so that no other process comes in between.
-- The first argument says what, the others are its own. Each answers "done", or why not: a reason
-- of `REASONS` in `board.py`.

local prefix, room = ARGV[2], ARGV[3]

local function name(what) return prefix .. what .. ':' .. room end

local function read_time()
  local time = redis.call('TIME')
  return 1000 * time[1] + math.floor(time[2] / 1000)
end

local function publish(said) redis.call('PUBLISH', name('said'), said) end

local function forget(gone)
  for _, question in ipairs(redis.call('SMEMBERS', prefix .. 'questions:' .. gone)) do
    redis.call('DEL', prefix .. 'votes:' .. gone .. ':' .. question)
  end
  for _, what in ipairs({'room', 'questions', 'seats', 'ballots', 'held', 'codes', 'followed'}) do
    redis.call('DEL', prefix .. what .. ':' .. gone)
  end
  redis.call('ZREM', prefix .. 'rooms', gone)
  redis.call('PUBLISH', prefix .. 'said:' .. gone, '{"kind": "over", "text": ""}')
end

-- Why somebody may not speak as the owner of the room, if so.
local function refuse(owner)
  local its = redis.call('HGET', name('room'), 'owner')
  if not its then return 'unknown' end
  if its ~= owner then return 'not yours' end
end

local function is_too_fast(pace, most)
  local said = redis.call('INCR', pace)
  if said == 1 then redis.call('PEXPIRE', pace, 1000) end
  return said > tonumber(most)
end

local function find_held(ballot)
  local seat = redis.call('HGET', name('ballots'), ballot)
  local held = seat and redis.call('ZSCORE', name('held'), seat)
  return held and tonumber(held) > read_time() and seat
end

local acts = {}

function acts.open(owner, address, most, most_here, life, now, may_begin)
  local reason = refuse(owner)
  if reason ~= 'unknown' then return reason or 'done' end
  if may_begin == '0' then return 'unknown' end
  local here, quiet, rooms = 0, nil, prefix .. 'rooms'
  for _, one in ipairs(redis.call('ZRANGE', rooms, 0, -1)) do
    local other = prefix .. 'room:' .. one
    if redis.call('EXISTS', other) == 0 then
      redis.call('ZREM', rooms, one)
    else
      if redis.call('HGET', other, 'address') == address then here = here + 1 end
      if not quiet and redis.call('EXISTS', prefix .. 'followed:' .. one) == 0 then quiet = one end
    end
  end
  if here >= tonumber(most_here) then return 'many rooms here' end
  if redis.call('ZCARD', rooms) >= tonumber(most) then
    if not quiet then return 'many rooms' end
    forget(quiet)
  end
  redis.call('HSET', name('room'), 'owner', owner, 'address', address, 'number', 0)
  redis.call('PEXPIRE', name('room'), life)
  redis.call('ZADD', rooms, now, room)
  publish('{"kind": "opened"}')
  return 'done'
end

function acts.close(owner)
  local reason = refuse(owner)
  if reason then return reason end
  forget(room)
  return 'done'
end

function acts.lead(owner, number, text, most, said)
  local reason = refuse(owner)
  if reason then return reason end
  if is_too_fast(name('pace'), most) then return 'too fast' end
  if tonumber(number) <= tonumber(redis.call('HGET', name('room'), 'number')) then
    return 'older'
  end
  redis.call('HSET', name('room'), 'number', number, 'text', text)
  publish(said)
  return 'done'
end

-- The same as `Seats` in `board.py`; a seat whose time is over is free, too.
function acts.sit(ballot, group, stream, spare, held_for, most, is_new)
  local seats, ballots, held = name('seats'), name('ballots'), name('held')
  local life, now = redis.call('PTTL', name('room')), read_time()
  if life < 0 then return 'unknown' end
  local seat = redis.call('HGET', ballots, ballot)
  if seat and is_new == '0' and redis.call('HGET', seats, 'stream ' .. seat) ~= stream then
    return 'done ' .. ballot  -- the same reader has a newer stream
  end
  if not seat then
    local free = redis.call('ZRANGEBYSCORE', held, '-inf', now)
    for _, one in ipairs(free) do
      if redis.call('HGET', seats, 'group ' .. one) == group then seat = one end
    end
    if not seat and redis.call('ZCARD', held) >= tonumber(most) then
      seat = free[1]
      if not seat then return 'full' end
    end
    seat = seat or tostring(redis.call('ZCARD', held))
    redis.call('HDEL', ballots, redis.call('HGET', seats, 'ballot ' .. seat) or '')
    ballot = spare
    redis.call('HSET', ballots, ballot, seat)
  end
  redis.call('HSET', seats, 'ballot ' .. seat, ballot, 'group ' .. seat, group)
  redis.call('HSET', seats, 'stream ' .. seat, stream)
  redis.call('ZADD', held, now + held_for, seat)
  for _, key in ipairs({seats, ballots, held}) do redis.call('PEXPIRE', key, life) end
  return 'done ' .. ballot
end

function acts.rise(ballot, stream)
  local seat = redis.call('HGET', name('ballots'), ballot)
  if seat and redis.call('HGET', name('seats'), 'stream ' .. seat) == stream then
    redis.call('HDEL', name('seats'), 'stream ' .. seat)
    redis.call('ZADD', name('held'), read_time(), seat)
  end
  return 'done'
end

function acts.vote(ballot, question, option, most, most_questions)
  local questions, votes = name('questions'), name('votes') .. ':' .. question
  local life = redis.call('PTTL', name('room'))
  if life < 0 then return 'unknown' end
  local seat = find_held(ballot)
  if not seat then return 'no stream' end
  if is_too_fast(name('pace') .. ':' .. seat, most) then return 'too fast' end
  if redis.call('SISMEMBER', questions, question) == 0
    and redis.call('SCARD', questions) >= tonumber(most_questions) then return 'many votes' end
  redis.call('SADD', questions, question)
  redis.call('HSET', votes, seat, option)
  redis.call('PEXPIRE', questions, life)
  redis.call('PEXPIRE', votes, life)
  publish(cjson.encode({kind = 'votes', text = question}))
  return 'done'
end

function acts.ask_to_lead(ballot, code, heir, life)
  local codes, asked = name('codes'), name('heir') .. ':'
  if redis.call('EXISTS', name('room')) == 0 then return 'unknown' end
  local seat = find_held(ballot)
  if not seat then return 'no stream' end
  redis.call('DEL', asked .. (redis.call('HGET', codes, seat) or ''))
  redis.call('HSET', codes, seat, code)
  redis.call('PEXPIRE', codes, life)
  redis.call('SET', asked .. code, heir, 'PX', life)
  return 'done'
end

function acts.hand_over(owner, code, said)
  local reason, asked = refuse(owner), name('heir') .. ':' .. code
  if reason then return reason end
  local heir = redis.call('GET', asked)
  if not heir then return 'no device' end
  redis.call('DEL', asked)
  redis.call('HSET', name('room'), 'owner', heir)
  publish(said)
  return 'done'
end

return acts[ARGV[1]](unpack(ARGV, 4))
