-- SPDX-License-Identifier: BSD-2-Clause
-- fiber.info() and fiber.top(): backtraces, counts, shares of the processor.
local tap = require('tap')
local fiber = require('fiber')

local test = tap.test('fiber_info')
test:plan(24)

local function sleeper() fiber.sleep(1000) end
local f = fiber.create(sleeper)
f:name('sleeper')
local info = fiber.info()[f:id()]
test:is(info.fid, f:id(), 'fid')
test:is(info.name, 'sleeper', 'name')
test:is(info.csw, 1, 'csw')
test:is(info.memory.used, 0, 'memory used')
test:ok(info.memory.total > 512 * 1024, 'memory total counts the stack')
test:is(info.time, nil, 'no time while top is off')

local function frames(list, kind)
    local out = {}
    for _, frame in ipairs(list) do
        if frame[kind] ~= nil then out[#out + 1] = frame[kind] end
    end
    return out
end
local lua = frames(info.backtrace, 'L')
test:is(lua[1], 'sleep in =[C] at line -1', 'the innermost Lua frame')
local line = debug.getinfo(sleeper, 'S').linedefined
test:like(lua[2], 'in @.*fiber_info.lua at line ' .. line .. '$', 'the caller, with source and line')
test:like(frames(info.backtrace, 'C')[1], '^#0  0x%x+ in ', 'the innermost C frame')

-- The running fiber's, also from a coroutine.
local own = coroutine.wrap(function() local b = fiber.self():backtrace() return b end)()
test:is(frames(own, 'L')[1], 'backtrace in =[C] at line -1', 'a backtrace of oneself')

-- A fiber that has not begun.
local new = fiber.new(sleeper)
test:is(#frames(fiber.info()[new:id()].backtrace, 'L'), 0, 'no Lua frames before the start')
fiber.yield()

-- Options.
test:is(fiber.info({backtrace = false})[f:id()].backtrace, nil, 'backtrace = false')
test:is(fiber.info({bt = false})[f:id()].backtrace, nil, 'bt = false')
test:isnt(fiber.info({backtrace = true, bt = false})[f:id()].backtrace, nil,
          'backtrace is stronger than bt')

-- Of one fiber.
test:is(f:info().name, 'sleeper', 'info() of an object')
test:is(f:info({bt = false}).backtrace, nil, 'its options')
test:is(f:csw(), 1, 'csw() of an object')
test:is(#f:backtrace(), #f:info().backtrace, 'backtrace() of an object')

-- Shares.
test:is(pcall(fiber.top), false, 'top() before it is enabled')
fiber.top_enable()
fiber.top_enable()
fiber.sleep(0)
local sum = 0
for i = 1, 1e6 do sum = sum + math.sin(i) end
fiber.sleep(0)
local top = fiber.top()
local me = top.cpu[fiber.id() .. '/' .. fiber.name()]
test:ok(me.time > 0 and me.instant > 0 and me.average > 0, 'who computes has its share')
test:is(top.cpu[f:id() .. '/sleeper'].time, 0, 'who sleeps has none')
test:isnt(top.cpu['1/sched'], nil, 'the scheduler is shown')
test:ok(fiber.self():info().time > 0, 'info() has the time while top is on')
fiber.top_disable()
-- Fibers that come and go while it is on, and those that end after it is off.
for i = 1, 50 do
    fiber.top_enable()
    for _ = 1, 20 do fiber.create(fiber.sleep, i % 2 == 0 and 0 or 0.0001) end
    fiber.sleep(0)
    if i % 3 == 0 then fiber.top_disable() end
end
fiber.sleep(0.01)
test:is(type(fiber.top_enable() or fiber.top().cpu), 'table', 'fibers come and go')
os.exit(test:check() and 0 or 1)
