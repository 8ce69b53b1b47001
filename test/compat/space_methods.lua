-- SPDX-License-Identifier: BSD-2-Clause
-- What a space object has, how it is dropped and renamed, and what remains of a stale one.
local check = require('check')
box.cfg{}

check [[
s = box.schema.space.create('s')
s:insert{1}
s:select{}
s:get(1)
s:len()
s:count()
s.index
pk = s:create_index('pk')
s.index[0] == s.index.pk, s.index.pk.name, #s.index
s:insert{1}
s:auto_increment{'a'}
s:auto_increment{'b'}
s:rename('renamed')
box.space.s, box.space.renamed.name
s:rename('_space')
s:rename()
s:bsize()
s:put{7}
s:get{7}
s:delete{7}
s:drop()
box.space.renamed
s:insert{1}
s:select{}
s:len()
s:drop()
pk:select{}
pk:insert{1}
box.space._space:drop()
box.schema.space.drop(12345)
box.schema.space.drop(12345, 'named', {if_exists = true})
box.schema.space.drop(12345, 'named', {bad = true})
box.schema.space.drop()
a = box.schema.space.create('a')
b = box.schema.space.create('b')
a.id ~= b.id
a:drop()
box.schema.space.create('c').id == b.id + 1
s.insert{1}
s.insert()
box.space.b.insert(nil, {1})
box.space.b.get('text', 1)
]]
check.finish()
