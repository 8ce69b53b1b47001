-- SPDX-License-Identifier: BSD-2-Clause
-- The server of soak.py: procedures good and bad. arg[1]: what to listen on.
local fiber = require('fiber')
local ffi = require('ffi')

box.cfg{listen = arg[1], log_level = 1, wal_mode = 'none'}
box.schema.user.grant('guest', 'super')
box.schema.func.create('stored', {body = 'function(a, b) return a + b end'})
local s = box.schema.space.create('test', {id = 512})
s:create_index('primary')
for i = 1, 20 do
    s:insert{i, ('row '):rep(i * 20)}
end

local t200 = {}
for i = 1, 200 do t200[i] = i end

function echo(...) return ... end
function many() return unpack(t200) end
function rows(i) return s:get(i), s:select({}, {limit = 3}), s:replace{i, ('row '):rep(i * 20)} end
function yields() fiber.yield() return coroutine.wrap(function() fiber.yield() return 1 end)() end
function spawns()
    local f = fiber.new(function() fiber.yield() error('in a fiber') end)
    f:set_joinable(true)
    return (f:join())
end
function redefined(n)
    redefined = function(m) return m end
    fiber.yield()
    local old = redefined
    redefined = function(m) return old(m) end
    redefined = old
    return n
end
function cancelled()
    fiber.self():cancel()
    fiber.sleep(1)
end
function begins()
    box.begin()
    s:replace{1, 'never'}
end

-- Errors with values of every type.
local raised = {
    'text', 5, true, {}, {a = {b = 1}}, function() end, coroutine.create(print), newproxy(), ffi.new('int[3]'), 1ULL,
}
function raise(n)
    if n == 11 then
        box.error(box.error.NO_SUCH_USER, 'joe')
    elseif n == 12 then
        error()
    end
    error(raised[n])
end

-- Results that cannot be sent.
local cycle = {}
cycle.self = cycle
local deep = {}
for _ = 1, 1000 do deep = {deep} end
local bad = {
    function() end, coroutine.create(print), newproxy(), ffi.new('int[3]'), {1, {print}}, {[print] = 1},
    setmetatable({}, {__serialize = function() error('in __serialize') end}),
    setmetatable({}, {__serialize = 'nosuch'}),
}
function give(n) return 1, 'two', bad[n] end

function state()
    -- Until fibers that are done have ended, and buffers have shrunk; without compiled code.
    jit.flush()
    for _ = 1, 20 do fiber.yield() end
    for _ = 1, 12 do collectgarbage() end
    return box.stat.lua().heap, box.stat.lua().coroutines
end

print('ready')
io.stdout:flush()
