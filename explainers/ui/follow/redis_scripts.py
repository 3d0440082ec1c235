"""What Redis does for a room in one go, so that no other process comes in between: scripts in Lua.

Each answers "done", or why not: a reason of `REASONS` in `board.py`.
"""

_FORGET = """
local function forget(prefix, room)
  for _, question in ipairs(redis.call('SMEMBERS', prefix .. 'questions:' .. room)) do
    redis.call('DEL', prefix .. 'votes:' .. room .. ':' .. question)
  end
  for _, what in ipairs({'room', 'questions', 'seats', 'ballots', 'held', 'codes', 'followed'}) do
    redis.call('DEL', prefix .. what .. ':' .. room)
  end
  redis.call('ZREM', prefix .. 'rooms', room)
  redis.call('PUBLISH', prefix .. 'said:' .. room, '{"kind": "over", "text": ""}')
end
"""
_SEATS = """
local function read_time()
  local time = redis.call('TIME')
  return 1000 * time[1] + math.floor(time[2] / 1000)
end
local function find_held(prefix, room, ballot)
  local seat = redis.call('HGET', prefix .. 'ballots:' .. room, ballot)
  local held = seat and redis.call('ZSCORE', prefix .. 'held:' .. room, seat)
  return held and tonumber(held) > read_time() and seat
end
"""
OPEN = (
    _FORGET
    + """
local room, owner, address, prefix = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local most, most_here = tonumber(ARGV[5]), tonumber(ARGV[6])
local key, rooms = prefix .. 'room:' .. room, prefix .. 'rooms'
local its = redis.call('HGET', key, 'owner')
if its then return its == owner and 'done' or 'not yours' end
if ARGV[9] == '0' then return 'unknown' end
local here, quiet = 0, nil
for _, name in ipairs(redis.call('ZRANGE', rooms, 0, -1)) do
  local other = prefix .. 'room:' .. name
  if redis.call('EXISTS', other) == 0 then
    redis.call('ZREM', rooms, name)
  else
    if redis.call('HGET', other, 'address') == address then here = here + 1 end
    if not quiet and redis.call('EXISTS', prefix .. 'followed:' .. name) == 0 then quiet = name end
  end
end
if here >= most_here then return 'many rooms here' end
if redis.call('ZCARD', rooms) >= most then
  if not quiet then return 'many rooms' end
  forget(prefix, quiet)
end
redis.call('HSET', key, 'owner', owner, 'address', address, 'number', 0)
redis.call('PEXPIRE', key, ARGV[7])
redis.call('ZADD', rooms, ARGV[8], room)
redis.call('PUBLISH', prefix .. 'said:' .. room, '{"kind": "opened"}')
return 'done'
"""
)
LEAD = """
local room, owner, prefix, number, text = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4]), ARGV[5]
local key, pace = prefix .. 'room:' .. room, prefix .. 'pace:' .. room
local its = redis.call('HGET', key, 'owner')
if not its then return 'unknown' end
if its ~= owner then return 'not yours' end
local said = redis.call('INCR', pace)
if said == 1 then redis.call('PEXPIRE', pace, 1000) end
if said > tonumber(ARGV[6]) then return 'too fast' end
if number <= tonumber(redis.call('HGET', key, 'number')) then return 'older' end
redis.call('HSET', key, 'number', ARGV[4], 'text', text)
redis.call('PUBLISH', prefix .. 'said:' .. room, ARGV[7])
return 'done'
"""
SIT = (
    _SEATS
    + """
local room, prefix, ballot, group, stream = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local seats, ballots = prefix .. 'seats:' .. room, prefix .. 'ballots:' .. room
local held = prefix .. 'held:' .. room
local life, now = redis.call('PTTL', prefix .. 'room:' .. room), read_time()
if life < 0 then return 'unknown' end
local seat = redis.call('HGET', ballots, ballot)
if seat and ARGV[9] == '0' and redis.call('HGET', seats, 'stream ' .. seat) ~= stream then
  return 'done ' .. ballot  -- the same reader has a newer stream
end
if not seat then
  local free = redis.call('ZRANGEBYSCORE', held, '-inf', now)
  for _, one in ipairs(free) do
    if redis.call('HGET', seats, 'group ' .. one) == group then seat = one end
  end
  if not seat and redis.call('ZCARD', held) >= tonumber(ARGV[8]) then
    seat = free[1]
    if not seat then return 'full' end
  end
  seat = seat or tostring(redis.call('ZCARD', held))
  redis.call('HDEL', ballots, redis.call('HGET', seats, 'ballot ' .. seat) or '')
  ballot = ARGV[6]
  redis.call('HSET', ballots, ballot, seat)
end
redis.call('HSET', seats, 'ballot ' .. seat, ballot, 'group ' .. seat, group)
redis.call('HSET', seats, 'stream ' .. seat, stream)
redis.call('ZADD', held, now + ARGV[7], seat)
for _, key in ipairs({seats, ballots, held}) do redis.call('PEXPIRE', key, life) end
return 'done ' .. ballot
"""
)
"""The same as `Seats` in `board.py`; a seat whose time is over is free, too."""
RISE = (
    _SEATS
    + """
local room, prefix, ballot, stream = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local seats = prefix .. 'seats:' .. room
local seat = redis.call('HGET', prefix .. 'ballots:' .. room, ballot)
if seat and redis.call('HGET', seats, 'stream ' .. seat) == stream then
  redis.call('HDEL', seats, 'stream ' .. seat)
  redis.call('ZADD', prefix .. 'held:' .. room, read_time(), seat)
end
return 'done'
"""
)
VOTE = (
    _SEATS
    + """
local room, prefix, ballot, question = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local questions = prefix .. 'questions:' .. room
local votes = prefix .. 'votes:' .. room .. ':' .. question
local life = redis.call('PTTL', prefix .. 'room:' .. room)
if life < 0 then return 'unknown' end
local seat = find_held(prefix, room, ballot)
if not seat then return 'no stream' end
local pace = prefix .. 'pace:' .. room .. ':' .. seat
local said = redis.call('INCR', pace)
if said == 1 then redis.call('PEXPIRE', pace, 1000) end
if said > tonumber(ARGV[6]) then return 'too fast' end
if redis.call('SISMEMBER', questions, question) == 0
  and redis.call('SCARD', questions) >= tonumber(ARGV[7]) then return 'many votes' end
redis.call('SADD', questions, question)
redis.call('HSET', votes, seat, ARGV[5])
redis.call('PEXPIRE', questions, life)
redis.call('PEXPIRE', votes, life)
redis.call('PUBLISH', prefix .. 'said:' .. room, cjson.encode({kind = 'votes', text = question}))
return 'done'
"""
)
ASK_TO_LEAD = (
    _SEATS
    + """
local room, prefix, ballot, code, heir = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local codes, asked = prefix .. 'codes:' .. room, prefix .. 'heir:' .. room .. ':'
if redis.call('EXISTS', prefix .. 'room:' .. room) == 0 then return 'unknown' end
local seat = find_held(prefix, room, ballot)
if not seat then return 'no stream' end
redis.call('DEL', asked .. (redis.call('HGET', codes, seat) or ''))
redis.call('HSET', codes, seat, code)
redis.call('PEXPIRE', codes, ARGV[6])
redis.call('SET', asked .. code, heir, 'PX', ARGV[6])
return 'done'
"""
)
HAND_OVER = """
local room, owner, prefix, code = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local key, asked = prefix .. 'room:' .. room, prefix .. 'heir:' .. room .. ':' .. code
local its = redis.call('HGET', key, 'owner')
if not its then return 'unknown' end
if its ~= owner then return 'not yours' end
local heir = redis.call('GET', asked)
if not heir then return 'no device' end
redis.call('DEL', asked)
redis.call('HSET', key, 'owner', heir)
redis.call('PUBLISH', prefix .. 'said:' .. room, ARGV[5])
return 'done'
"""
CLOSE = (
    _FORGET
    + """
local room, owner, prefix = ARGV[1], ARGV[2], ARGV[3]
local its = redis.call('HGET', prefix .. 'room:' .. room, 'owner')
if not its then return 'unknown' end
if its ~= owner then return 'not yours' end
forget(prefix, room)
return 'done'
"""
)
