-- SPDX-License-Identifier: BSD-2-Clause
-- Tuples as values: making, indexing, length, comparing, printing.
local check = require('check')
box.cfg{}
s = box.schema.space.create('s', {format = {{'id', 'unsigned'}, {'name', 'string'}, {'opt', 'any', is_nullable = true}}})
s:create_index('pk')
check [[
t = box.tuple.new{1, 'two', 3.5, true, box.NULL, {1, 2}, {k = 'v'}}
t
type(t), #t, tostring(t)
t[1], t[2], t[3], t[4], t[5], t[6], t[7], t[8], t[0], t[-1]
t[5] == nil, t[5] == box.NULL, t[8] == nil
t.nosuch
t['1'], t['2']
t[1.5]
t[{}]
t[1] == t[1], t[6] == t[6]
t[1] + 1
(pcall(function() t[1] = 5 end))
(pcall(function() t.name = 5 end))
box.tuple.new()
box.tuple.new{}
box.tuple.new(1)
box.tuple.new('x')
box.tuple.new(box.NULL)
box.tuple.new(nil)
box.tuple.new(1, 2, 'x')
box.tuple.new({1, 2}, 3)
box.tuple.new(t) == t
box.tuple.new{1} == box.tuple.new{1}
box.tuple.new{1} == box.tuple.new{2}
box.tuple.new{1, 'a'} == box.tuple.new{1, 'a', 2}
(pcall(function() return box.tuple.new{1} == {1} end))
box.tuple.new{1} == 1
box.tuple.new{1} == nil
t == t, t ~= t
box.tuple.is(t), box.tuple.is({1}), box.tuple.is(nil), box.tuple.is('x'), box.tuple.is(1), box.tuple.is(box.NULL)
box.tuple.is()
box.tuple.new{print}
r = s:insert{1, 'one'}
r.id, r.name, r.opt, r.nosuch
r[1], r[2], r[3]
tostring(r)
s:get(1) == r
s:get(1) == s:get(1)
#r
tostring(box.tuple.new{}), tostring(box.tuple.new{{}}), tostring(box.tuple.new{setmetatable({}, {__serialize = 'map'})})
tostring(box.tuple.new{1, -1, 1.5, 1e300, 1e100, 18446744073709551615ULL, -5LL})
tostring(box.tuple.new{'a', "it's", 'say "x"', 'new\nline', 'zero\0', 'ü', '\xff\xfe', '', '1', 'true', 'null', '~', 'a: b', '- x'})
tostring(box.tuple.new{true, false, box.NULL})
tostring(box.tuple.new{{1, {2, {3, {4}}}}, {a = {b = {c = 1}}}})
tostring(box.tuple.new{{a = 1}, {[1] = 'x', [5] = 'y'}, {[10] = true}})
tostring(box.tuple.new{0/0, 1/0, -1/0})
tostring(box.tuple.new{('long '):rep(30)})
'x' .. tostring(r)
(pcall(function() return 'x' .. r end))
ids = {} for i, v in r:pairs() do table.insert(ids, {i, v}) end
ids
ids = {} for i, v in ipairs(r) do table.insert(ids, {i, v}) end
ids
]]
check.finish()
