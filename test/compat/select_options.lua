-- SPDX-License-Identifier: BSD-2-Clause
-- limit, offset and what else select takes.
local check = require('check')
box.cfg{}
s = box.schema.space.create('s')
s:create_index('pk')
for i = 1, 6 do s:insert{i} end
check [[
s:select()
s:select{}
s:select(nil)
s:select(box.NULL)
s:select(3)
s:select{3}
s:select({}, {limit = 2})
s:select({}, {limit = 0})
s:select({}, {limit = 100})
s:select({}, {offset = 4})
s:select({}, {offset = 100})
s:select({}, {offset = 2, limit = 2})
s:select(3, {iterator = 'GE', limit = 2})
s:select(3, {iterator = 'GE', limit = 2, offset = 1})
s:select(3, {iterator = 'LE', limit = 2, offset = 1})
s:select(nil, {iterator = 'REQ'})
s:select({}, {iterator = 'REQ', limit = 2})
s:select(3, 'GE')
s:select(3, {iterator = 'nonsense'})
s:select(3, {iterator = 100})
s:select(3, {iterator = -1})
s:select({}, {unknown = 1})
s:select('x')
s:select(-1)
s:select(1.0)
s:select({1, 2})
s:select({{1}})
s:select(3LL)
s:select(3ULL)
s.index.pk:select({}, {limit = 1})
s.index[0]:select(2)
s.index.nosuch
s.index.pk.select({1})
s.index.pk.select()
#s:select{}, type(s:select{}), type(s:select{}[1])
s:select({}, {limit = 1})[1]:totable()
]]
check.finish()
