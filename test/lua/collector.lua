-- SPDX-License-Identifier: BSD-2-Clause
-- How far the heap grows before the collector goes through it: a small one further than
-- to twice its size, a large one to that; a pause that a script sets holds.
local tap = require('tap')
local test = tap.test('collector')
test:plan(4)

-- The largest heap while garbage is made, in KB.
local function peak()
    collectgarbage()
    local max = 0
    for i = 1, 2000000 do
        local garbage = {i}
        local count = collectgarbage('count')
        max = garbage and count > max and count or max
    end
    return max
end

local small = peak()
test:ok(small > 6000 and small < 12000, 'a small heap grows to 8 MB', small)
local data = {}
for i = 1, 400000 do data[i] = {i} end
collectgarbage()
local live = collectgarbage('count')
local large = peak()
test:ok(large < live * 2.7, 'a large one is collected as ever', large .. ' of ' .. live)
data = nil
small = peak()
test:ok(small < 12000, 'it shrinks again', small)
collectgarbage('setpause', 110)
small = peak()
test:ok(small < 5000, 'a pause set by a script holds', small)
os.exit(test:check() and 0 or 1)
