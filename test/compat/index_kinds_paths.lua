-- SPDX-License-Identifier: BSD-2-Clause
-- RTREE, BITSET and collated indexes over JSON paths, multikey and functional ones.
local check = require('check')
box.cfg{}
check [[
s = box.schema.space.create('s')
_ = s:create_index('pk')
r = s:create_index('r', {type='rtree', parts={{2,'array',path='a.b'}}})
r and r.parts
b = s:create_index('b', {type='bitset', parts={{2,'unsigned',path='n'}}})
b and b.parts
c = s:create_index('c', {parts={{2,'string',path='w', collation='unicode_ci'}}, unique=false})
c and c.parts
m = s:create_index('m', {type='rtree', parts={{3,'array',path='[*]'}}})
m = s:create_index('m', {type='bitset', parts={{3,'unsigned',path='[*]'}}})
m = s:create_index('m', {type='hash', parts={{3,'unsigned',path='[*]'}}})
m = s:create_index('m', {parts={{3,'string',path='[*]', collation='unicode_ci'}}, unique=false})
s:insert{1, {a={b={1,1}}, n=5, w='A'}, {'x', 'X', 'y'}}
s:insert{2, {a={b={2,2,3,3}}, n=6, w='b'}, {'Y', 'z'}}
s:insert{3, {a={b={2,2,3}}, n=6, w='b'}, {'Y', 'z'}}
s:insert{3, {a={b=5}, n=6, w='b'}, {'Y', 'z'}}
s:insert{3, {a={b={5,5}}, n=-6, w='b'}, {'Y', 'z'}}
s:insert{3, {a={b={5,5}}, n=7, w='a'}, {}}
r:select({0,0,2,2}, {iterator='LE'})
b:select(4, {iterator='BITS_ALL_SET'})
c:select('a')
m:select('X')
m:select('y')
m:select()
s:update(1, {{'=', '[2].a.b', {9,9}}, {'=', '[2].n', 8}, {'=', '[2].w', 'ZZ'}})
r:select({9,9})
b:select(8)
c:select('zz')
f = box.schema.func.create('f', {body='function(t) return {{t[2].w}} end', is_deterministic=true, is_sandboxed=true})
x = s:create_index('x', {func='f', parts={{1,'string',collation='unicode_ci'}}, unique=false})
x and x:select('zZ')
]]
check.finish()
