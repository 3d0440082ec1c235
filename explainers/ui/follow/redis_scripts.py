"""What Redis does for a room in one go, so that no other process comes in between: scripts in Lua.

Each answers "done", or why not: a reason of `REASONS` in `board.py`.
"""

OPEN = """
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
  redis.call('DEL', prefix .. 'room:' .. quiet)
  redis.call('ZREM', rooms, quiet)
  redis.call('PUBLISH', prefix .. 'said:' .. quiet, '{"kind": "over", "text": ""}')
end
redis.call('HSET', key, 'owner', owner, 'address', address, 'number', 0)
redis.call('PEXPIRE', key, ARGV[7])
redis.call('ZADD', rooms, ARGV[8], room)
return 'done'
"""
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
VOTE = """
local room, prefix, question = ARGV[1], ARGV[2], ARGV[3]
local key, questions = prefix .. 'room:' .. room, prefix .. 'questions:' .. room
local votes, life = prefix .. 'votes:' .. room .. ':' .. question, redis.call('PTTL', key)
if life < 0 then return 'unknown' end
if redis.call('HEXISTS', votes, ARGV[4]) == 0 and redis.call('HLEN', votes) >= tonumber(ARGV[6])
  then return 'many votes' end
if redis.call('SISMEMBER', questions, question) == 0
  and redis.call('SCARD', questions) >= tonumber(ARGV[7]) then return 'many votes' end
redis.call('SADD', questions, question)
redis.call('HSET', votes, ARGV[4], ARGV[5])
redis.call('PEXPIRE', questions, life)
redis.call('PEXPIRE', votes, life)
redis.call('PUBLISH', prefix .. 'said:' .. room, cjson.encode({kind = 'votes', text = question}))
return 'done'
"""
ASK_TO_LEAD = """
local room, prefix, code, heir = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local asked = prefix .. 'asked:' .. room
if redis.call('EXISTS', prefix .. 'room:' .. room) == 0 then return 'unknown' end
local count = redis.call('INCR', asked)
if count == 1 then redis.call('PEXPIRE', asked, ARGV[5]) end
if count > tonumber(ARGV[6]) then return 'full' end
redis.call('SET', prefix .. 'heir:' .. room .. ':' .. code, heir, 'PX', ARGV[5])
return 'done'
"""
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
CLOSE = """
local room, owner, prefix = ARGV[1], ARGV[2], ARGV[3]
local its = redis.call('HGET', prefix .. 'room:' .. room, 'owner')
if not its then return 'unknown' end
if its ~= owner then return 'not yours' end
for _, question in ipairs(redis.call('SMEMBERS', prefix .. 'questions:' .. room)) do
  redis.call('DEL', prefix .. 'votes:' .. room .. ':' .. question)
end
redis.call('DEL', prefix .. 'room:' .. room, prefix .. 'questions:' .. room)
redis.call('ZREM', prefix .. 'rooms', room)
redis.call('PUBLISH', prefix .. 'said:' .. room, '{"kind": "over", "text": ""}')
return 'done'
"""
