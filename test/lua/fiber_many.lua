-- SPDX-License-Identifier: BSD-2-Clause
-- 100,000 fibers asleep at once; fewer under the sanitizers, which are slow at freeing stacks.
local tap = require('tap')
local fiber = require('fiber')

local test = tap.test('fiber_many')
test:plan(5)

local COUNT = 100000 * (tonumber(os.getenv('TARN_TEST_SCALE')) or 1)
local list, ended = {}, 0
local function body()
    local ok, err = pcall(fiber.sleep, 10000)
    if not ok and err.type == 'FiberIsCancelled' then ended = ended + 1 end
end
for i = 1, COUNT do list[i] = fiber.create(body) end
test:is(#list, COUNT, 'all are made')
local asleep = 0
for _, f in ipairs(list) do
    if f:status() == 'suspended' then asleep = asleep + 1 end
end
test:is(asleep, COUNT, 'all sleep')
collectgarbage('collect')
for _, f in ipairs(list) do f:cancel() end
while ended < COUNT do fiber.yield() end
test:is(ended, COUNT, 'a cancel ends each')
local dead = 0
for _, f in ipairs(list) do
    if f:status() == 'dead' and not pcall(f.name, f) then dead = dead + 1 end
end
test:is(dead, COUNT, 'their objects say so')

-- And again, with the stacks that are there.
ended = 0
for i = 1, COUNT do list[i] = fiber.create(body) end
for _, f in ipairs(list) do f:cancel() end
while ended < COUNT do fiber.yield() end
test:is(ended, COUNT, 'a second time')
os.exit(test:check() and 0 or 1)
