-- SPDX-License-Identifier: BSD-2-Clause
-- truncate, and what it does to indexes, transactions and access.
local check = require('check')
box.cfg{}
s = box.schema.space.create('s')
s:create_index('pk')
s:create_index('sk', {type = 'hash', parts = {{2, 'string'}}})
for i = 1, 10 do s:insert{i, 'k' .. i} end
check [[
s:truncate()
s:len(), s.index.sk:len(), s:select{}
s:insert{1, 'k1'}
s:truncate()
s:truncate()
s:insert{1, 'k1'}
box.space._truncate:get(s.id)[2] > 0
box.space._space:truncate()
e = box.schema.space.create('e')
e:truncate()
s.truncate()
s:select{}
]]
check.finish()
