#!/usr/bin/env tarn
-- Fields of tuples in compiled code: several reads in one expression keep their values.
local tap = require('tap')
local test = tap.test('tuple in compiled code')
test:plan(6)

local t = box.tuple.new{57, 'row 57', 399, -0.5}
local wrong = {0, 0, 0, 0, 0, 0}
for _ = 1, 500 do
    if t[3] ~= t[1] * 7 then wrong[1] = wrong[1] + 1 end
    if t[1] == t[3] then wrong[2] = wrong[2] + 1 end
    if t[3] < t[1] then wrong[3] = wrong[3] + 1 end
    if t[1] + t[3] * t[4] ~= -142.5 then wrong[4] = wrong[4] + 1 end
    if t[3] - t[1] ~= 342 then wrong[5] = wrong[5] + 1 end
    if t[2] ~= 'row ' .. t[1] then wrong[6] = wrong[6] + 1 end
end
test:is(wrong[1], 0, 'not equal')
test:is(wrong[2], 0, 'equal')
test:is(wrong[3], 0, 'less')
test:is(wrong[4], 0, 'sum')
test:is(wrong[5], 0, 'difference')
test:is(wrong[6], 0, 'string')
os.exit(test:check() and 0 or 1)
