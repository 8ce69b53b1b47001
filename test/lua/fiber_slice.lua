-- SPDX-License-Identifier: BSD-2-Clause
-- Slices: a fiber that runs for too long without a yield gets an error, wherever it is.
local tap = require('tap')
local fiber = require('fiber')
local fio = require('fio')

local test = tap.test('fiber_slice')
test:plan(26)

local SLICE = 0.02

-- Without a bound nothing is limited.
test:is(select('#', fiber.check_slice()), 0, 'check_slice() before any bound is set')

-- What the function ends in, run in a fiber with a bound.
local function run(func, ...)
    local f = fiber.new(func, ...)
    f:set_joinable(true)
    local ok, err = f:join()
    if ok then return ok, err end
    return ok, err.type, tostring(err)
end

local function is_stopped(func, what)
    local ok, kind = run(func)
    test:is_deeply({ok, kind}, {false, 'FiberSliceIsExceeded'}, what .. ' is stopped')
end

fiber.set_max_slice(SLICE)
local _, _, text = run(function() while true do fiber.check_slice() end end)
test:is(text, 'fiber slice is exceeded', 'the text of the error')
is_stopped(function() while true do fiber.check_slice() end end, 'a loop that checks')

-- Pure Lua, interpreted and compiled.
is_stopped(function() local i = 0 while true do i = i + 1 end end, 'a loop that counts')
is_stopped(function() while true do end end, 'an empty loop')
is_stopped(function() while true do local _ = {1} end end, 'a loop that makes tables')
is_stopped(function() local function f() return f() end f() end, 'a tail call to itself')
is_stopped(function() jit.off(true, true) while true do end end, 'an interpreted loop')
is_stopped(function() coroutine.wrap(function() while true do end end)() end,
           'a loop in a coroutine')
is_stopped(function()
    for _ = 1, 3 do pcall(function() while true do end end) end
    while true do end
end, 'a loop that catches the error')

-- A yield begins a new slice.
local ok, result = run(function()
    local ok, err = pcall(function() while true do end end)
    fiber.yield()
    fiber.check_slice()
    return not ok and err.type
end)
test:is_deeply({ok, result}, {true, 'FiberSliceIsExceeded'}, 'after a yield the fiber goes on')

-- The user's hook is put back.
local calls = 0
local function count() calls = calls + 1 end
debug.sethook(count, '', 1000000)
is_stopped(function() while true do end end, 'a loop under a hook')
test:is(debug.gethook(), count, 'the hook is there still')
debug.sethook()

-- Only the upper bound stops.
fiber.set_max_slice({warn = 0.001})
ok, result = run(function()
    local from = os.clock()
    while os.clock() - from < 3 * SLICE do fiber.check_slice() end
    return 'done'
end)
test:is_deeply({ok, result}, {true, 'done'}, 'beyond `warn` there is a warning only')

-- Bounds of one fiber, of one slice, and more of it.
is_stopped(function() fiber.set_slice(SLICE) while true do end end, 'set_slice():')
is_stopped(function()
    fiber.set_slice({warn = 0.001, err = SLICE})
    fiber.extend_slice(SLICE)
    fiber.extend_slice({err = SLICE})
    while true do fiber.check_slice() end
end, 'an extended slice')
is_stopped(function()
    fiber.self():set_max_slice(SLICE)
    fiber.yield()
    while true do end
end, 'set_max_slice() of an object:')
test:is(run(function() fiber.check_slice() end), true, 'others are not concerned')

-- The functions of the database check.
local dir = fio.tempdir()
box.cfg({work_dir = dir, log = dir .. '/log', wal_mode = 'none'})
local s = box.schema.space.create('test')
s:create_index('pk')
s:replace({1})
fiber.set_max_slice(SLICE)
is_stopped(function() while true do s:get(1) end end, 'a loop of get()')
is_stopped(function() while true do s:select() end end, 'a loop of select()')
is_stopped(function() while true do for _ in s:pairs() do end end end, 'a loop of pairs()')
is_stopped(function() box.begin() while true do s:replace({1}) end end, 'a transaction')
fiber.yield()
test:is_deeply(s:get(1):totable(), {1}, 'and the database is as it was')
fiber.set_max_slice({})

-- Bad arguments.
local bad = 0
for _, value in ipairs({'x', -1, 0 / 0, {warn = 'a'}, {err = -1}, true}) do
    for _, name in ipairs({'set_max_slice', 'set_slice', 'extend_slice'}) do
        local ok, err = pcall(fiber[name], value)
        if not ok and tostring(err):find('bad arguments') then bad = bad + 1 end
    end
end
test:is(bad, 18, 'bad arguments are told')
test:is(pcall(fiber.set_max_slice), false, 'none at all, too')
test:is(pcall(fiber.set_max_slice, 1e300), true, 'a huge bound is none')

fio.rmtree(dir)
os.exit(test:check() and 0 or 1)
