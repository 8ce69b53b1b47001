-- SPDX-License-Identifier: BSD-2-Clause
-- The module fiber, where tarn follows newer versions than 2.6.0 or promises more.
local tap = require('tap')
local fiber = require('fiber')

local test = tap.test('fiber')
test:plan(9)

-- A waiting cond raises when its fiber is cancelled (as since 2.6.2).
local result
local cond = fiber.cond()
local f = fiber.create(function() result = {pcall(cond.wait, cond, 10)} end)
f:cancel()
fiber.yield()
test:is(result[1], false, 'cond:wait() raises on a cancel')
test:is(result[2].type, 'FiberIsCancelled', 'with the type of the error')

-- What can't be waited for is an error, not a hang.
local ok, err = pcall(fiber.sleep, 0 / 0)
test:is(ok, false, 'sleep of NaN is an error')
test:like(tostring(err), 'bad arguments', 'and says so')
test:is(pcall(fiber.channel, 1e18), false, 'a channel of a huge size is an error')

-- Joining: itself, and results of all kinds.
f = fiber.new(function() return pcall(fiber.join, fiber.self()) end)
f:set_joinable(true)
local joined = {f:join()}
test:is_deeply({joined[1], joined[2], joined[3] == false or type(joined[3])}, {true, true, true},
               'a fiber that joins itself gets an error')

f = fiber.new(function() return 1, nil, 'three', nil end)
f:set_joinable(true)
test:is(select('#', f:join()), 5, 'nils among the results are kept')

f = fiber.new(function() error({code = 7}) end)
f:set_joinable(true)
ok, err = f:join()
test:ok(not ok and err ~= nil, 'a table thrown out of a fiber reaches join')

-- 10,000 fibers, each with a value of its own on the way.
local sum, count = 0, 10000
local channel = fiber.channel(10)
for i = 1, count do
    fiber.new(function() fiber.yield() channel:put(i) end)
end
for _ = 1, count do
    sum = sum + channel:get()
end
test:is(sum, count * (count + 1) / 2, 'values of 10,000 fibers arrive')

os.exit(test:check() and 0 or 1)
