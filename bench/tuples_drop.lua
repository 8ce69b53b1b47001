-- SPDX-License-Identifier: BSD-2-Clause
-- A million tuples held in a Lua table and dropped: the longest gap of the event loop
-- while they are there, and while the collector takes them. Other fibers work as ever
-- and make garbage, which drives the collector; one that only yields looks at the clock.
local fiber = require('fiber')
local clock = require('clock')
local lib = require('lib')
lib.cfg()
-- BENCH_CLOCK=proc: the thread's processor time, in which other processes do not count.
local now = os.getenv('BENCH_CLOCK') == 'proc' and clock.thread or clock.monotonic
local COUNT, ROWS = tonumber(arg[1] or 1000000), 1000

local s = box.schema.space.create('test')
s:create_index('primary')

local longest, stop = 0, false
local function watch()
    local last = now()
    while not stop do
        fiber.yield()
        local this = now()
        longest = math.max(longest, this - last)
        last = this
    end
end

-- The longest gap while `f` runs, in ms.
local function gap(f)
    fiber.sleep(0.01)
    longest = 0
    f()
    return longest * 1000
end

local function work(seconds)
    local till = clock.monotonic() + seconds
    while clock.monotonic() < till do
        for i = 1, 10 do s:get(i) local _ = {i} end
        fiber.yield()
    end
end

local watcher = fiber.new(watch)
watcher:set_joinable(true)

for _, size in ipairs({50, 900, 2000}) do
    s:truncate()
    for i = 1, ROWS do s:insert{i, ('x'):rep(size)} end
    collectgarbage() collectgarbage()
    local held = {}
    local filling = gap(function()
        for i = 1, COUNT do
            held[i] = s:get(i % ROWS + 1)
            if i % 100 == 0 then fiber.yield() end
        end
    end)
    local there = gap(function() work(2) end)
    held = nil
    local dropped = gap(function() work(4) end)
    lib.row(('%d tuples of %d bytes, taking'):format(COUNT, size), filling, 'ms', 'lower')
    lib.row(('%d tuples of %d bytes, held'):format(COUNT, size), there, 'ms', 'lower')
    lib.row(('%d tuples of %d bytes, dropped'):format(COUNT, size), dropped, 'ms', 'lower')
end
stop = true
watcher:join()
os.exit(0)
