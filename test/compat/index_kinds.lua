-- SPDX-License-Identifier: BSD-2-Clause
-- Kinds of indexes: their defaults, and what each refuses.
local check = require('check')
box.cfg{}
check [[
s = box.schema.space.create('s')
_ = s:create_index('pk', {type='TREE'})
box.space._index:get{s.id, 0}
a = s:create_index('a', {type='RTREE'})
box.space._index:get{s.id, 1}
b = s:create_index('b', {type='BitSet'})
a and a:drop()
b = s:create_index('b', {type='BitSet'})
box.space._index:get{s.id, 1}
box.space._index:get{s.id, 2}
b and b:drop()
h = s:create_index('h', {type='Hash'})
box.space._index:get{s.id, 3}
h and h.type
s = box.schema.space.create('s2', {format={{'a','unsigned'},{'b','array'},{'c','string'}}})
_ = s:create_index('pk', {type='hash'})
a = s:create_index('a', {type='rtree'})
a and a.parts
b = s:create_index('b', {type='bitset'})
b and b.parts
s:drop()
s = box.schema.space.create('s2', {format={{'a','unsigned'},{'b','unsigned'},{'c','string'}}})
_ = s:create_index('pk', {type='hash'})
b = s:create_index('b', {type='bitset'})
b and b.parts
s:drop()
s = box.schema.space.create('s2', {format={{'a','unsigned'},{'b','string'},{'c','string'}}})
_ = s:create_index('pk', {type='hash'})
b = s:create_index('b', {type='bitset'})
b and b.parts
b:alter{type='tree'}
b:alter{type='BITSET'}
b:alter{type='rtree'}
b:alter{type='hash'}
b:alter{unique=true}
b:alter{type='tree', unique=true}
b.unique
]]
check [[
s = box.schema.space.create('s2', {format={{'a','unsigned'},{'b','unsigned'},{'c','string'}}})
_ = s:create_index('pk', {type='hash'})
a = s:create_index('a', {type='rtree'})
s:drop()
s = box.schema.space.create('s2', {format={{'a','unsigned'},{'b','any'},{'c','string'}}})
_ = s:create_index('pk', {type='hash'})
a = s:create_index('a', {type='rtree'})
b = s:create_index('b', {type='bitset'})
s:drop()
s = box.schema.space.create('s2', {format={{'a','unsigned'},{'b','array',is_nullable=true},{'c','string'}}})
_ = s:create_index('pk', {type='hash'})
a = s:create_index('a', {type='rtree'})
s:drop()
s = box.schema.space.create('s2', {format={{'a','unsigned'},{'b','unsigned',is_nullable=true},{'c','string'}}})
_ = s:create_index('pk', {type='hash'})
a = s:create_index('a', {type='bitset'})
a = s:create_index('a', {type='bitset', parts={{2,'unsigned',is_nullable=true},{3,'string'}}})
a = s:create_index('a', {type='bitset', parts={{3,'string'}}, unique=true})
a = s:create_index('a', {type='bitset', parts={{2,'integer',is_nullable=true}}, unique=true})
a = s:create_index('a', {type='bitset', parts={{4,'integer'}}, unique=true})
a = s:create_index('a', {type='bitset', parts={{4,'integer'},{5,'unsigned'}}, unique=true})
a = s:create_index('a', {type='rtree', parts={{2,'integer',is_nullable=true}}, unique=true})
a = s:create_index('a', {type='rtree', parts={{4,'integer'}}, unique=true})
a = s:create_index('a', {type='rtree', parts={{4,'integer'},{5,'unsigned'}}, unique=true})
a = s:create_index('a', {type='rtree', parts={{4,'integer'},{5,'unsigned'}}, dimension=100})
a = s:create_index('a', {type='rtree', parts={{4,'integer'}}, dimension=100})
a = s:create_index('a', {type='rtree', parts={{4,'array'}}, dimension=100, distance='x'})
a = s:create_index('a', {type='rtree', parts={{4,'array', is_nullable=true}}, dimension=100})
a = s:create_index('a', {type='rtree', parts={{4,'array', is_nullable=false}}, dimension=1})
a.parts
a = s:create_index('a1', {type='tree', parts={{5,'unsigned'}}, dimension=100, distance='x'})
a = s:create_index('a1', {type='tree', parts={{5,'unsigned'}}, dimension=100, distance='euclid'})
a = s:create_index('a2', {type='hash', parts={{5,'array'}}})
a = s:create_index('a3', {type='tree', parts={{5,'map'}}})
a = s:create_index('a4', {type='tree', parts={{5,'any'}}})
]]
check [[
a = s:create_index('h4', {type='hash', unique=false, parts={{7,'unsigned',is_nullable=true}}})
a = s:create_index('h4', {type='hash', unique=false, parts={{7,'any',is_nullable=true},{8,'unsigned'}}})
a = s:create_index('h4', {type='bitset', parts={{7,'unsigned'},{8,'unsigned', is_nullable=true}}})
]]
check.finish()
