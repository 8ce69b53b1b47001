-- SPDX-License-Identifier: BSD-2-Clause
-- Values read through FFI stay right once a loop is compiled. LuaJIT (2.1, 2023) may move
-- a load from memory behind a later FFI call into the instruction that uses it, so a result
-- that C leaves in shared memory must not be read there as an operand.
local tap = require('tap')

local test = tap.test('fields in compiled code')
test:plan(8)
box.cfg{log_level = 2, wal_mode = 'none'}
local s = box.schema.space.create('s')
s:create_index('pk')
s:create_index('text', {type = 'hash', parts = {{2, 'string'}}})
s:create_index('n', {parts = {{3, 'unsigned'}}})
local N = 500
for i = 1, N do
    s:insert{i, 'row ' .. i, i * 7, i % 2 == 0, i + 0.5}
end

local function count(f)
    local bad = 0
    for _, t in s:pairs() do
        if f(t) then
            bad = bad + 1
        end
    end
    return bad
end

test:is(count(function(t) return t[3] ~= t[1] * 7 end), 0, 'two numbers of one tuple')
test:is(count(function(t) return t[2] ~= 'row ' .. t[1] end), 0, 'a string and a number')
test:is(count(function(t) return t[5] - t[1] ~= 0.5 end), 0, 'a difference')
test:is(count(function(t) return t[4] ~= (t[1] % 2 == 0) end), 0, 'a boolean and a number')
test:is(count(function(t)
    local twin = s.index.text:get(t[2])
    return twin == nil or twin[1] ~= t[1] or twin[3] ~= t[3]
end), 0, 'two tuples')

local bad = 0
for i = 1, N do
    local t = s:get(i)
    if t[1] + t[3] ~= i * 8 or #t ~= 5 then
        bad = bad + 1
    end
end
test:is(bad, 0, 'get')

bad = 0
for i = 1, N do
    if s.index.n:min(i * 7)[1] ~= s:get(i)[1] or s:count(i) ~= s.index.n:count(i * 7) or s:len() ~= N then
        bad = bad + 1
    end
end
test:is(bad, 0, 'min, count, len')

bad = 0
for i = 1, N do
    local t = s:update(i, {{'+', 3, 1}})
    if t[3] - 1 ~= t[1] * 7 or s:select(i)[1][3] ~= t[3] then
        bad = bad + 1
    end
end
test:is(bad, 0, 'update and select')
os.exit(test:check() and 0 or 1)
