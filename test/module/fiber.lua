-- SPDX-License-Identifier: BSD-2-Clause
-- A C module against tarn/module.h: fibers, conditions, latches, blocking calls.
local tap = require('tap')
local fiber = require('fiber')
local ffi = require('ffi')
local sample = require('sample')

local test = tap.test('module_fiber')
test:plan(16)

-- Others run meanwhile, with Lua of their own.
local rounds, stop = 0, false
local background = fiber.new(function()
    while not stop do rounds = rounds + 1 fiber.yield() end
end)
background:set_joinable(true)

test:is_deeply({sample.sum(10, 100)}, {1000, 0}, 'C fibers add up')
test:is_deeply({sample.sum(3, 0)}, {0, 3}, 'results of C fibers reach join')
test:ok(rounds > 100, 'and others run meanwhile')
test:is_deeply({sample.cancel()}, {true, true}, 'a cancel of a C fiber')
test:is_deeply({sample.turns()}, {-1, 1, 10, 1, 10, 0}, 'conditions and latches')
test:is_deeply({sample.call()}, {42, true}, 'coio_call: result and errno')
test:is_deeply({sample.wait()}, {0, 2, 1, 0, 0}, 'coio_wait and coio_close')
test:is(sample.resolve('127.0.0.1'), true, 'coio_getaddrinfo')
test:is(sample.resolve('no such name'), nil, 'a name that is none')
test:is(sample.resolve('127.0.0.1', 0), nil, 'no time for it')
test:is_deeply({sample.time()}, {true, true, true}, 'the clocks')

-- From a coroutine, and many times.
local ok = true
for _ = 1, 200 do
    ok = ok and coroutine.wrap(function() return sample.sum(3, 3) end)() == 9
end
test:ok(ok, 'from coroutines')

-- By FFI: the calls yield while they are recorded, so they are not compiled.
ffi.cdef([[
    void fiber_reschedule(void);
    int sample_yield_late(int call, int from);
    int sample_call_back(int (*func)(int), int value);
]])
local C = ffi.load(package.searchpath and package.searchpath('sample', package.cpath) or
                   package.search('sample'))
local sum = 0
for i = 1, 10000 do sum = sum + C.sample_yield_late(i, 0) end
test:is(sum, 50005000, 'a loop of FFI calls that yield')

local object = setmetatable({}, {__index = function(_, k) ffi.C.fiber_reschedule() return k end})
sum = 0
for i = 1, 10000 do sum = sum + object[i] end
test:is(sum, 50005000, 'FFI calls in a metamethod')

local callback = ffi.cast('int (*)(int)', function(n) fiber.yield() return n + 1 end)
sum = 0
for i = 1, 1000 do sum = sum + C.sample_call_back(callback, i) end
test:is(sum, 501500, 'a callback into Lua that yields')

stop = true
test:is(background:join(), true, 'the other fiber is well')
os.exit(test:check() and 0 or 1)
