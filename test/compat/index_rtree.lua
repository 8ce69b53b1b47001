-- SPDX-License-Identifier: BSD-2-Clause
-- RTREE indexes: what they take, find and refuse. Rows in the order of their numbers: the
-- order in the index is its own affair.
local check = require('check')
box.cfg{}

-- The rows that a select finds, by their numbers.
function find(index, ...)
    local rows = index:select(...)
    table.sort(rows, function(a, b) return a[1] < b[1] end)
    return rows
end
check [[
s = box.schema.space.create('s')
_ = s:create_index('pk')
r = s:create_index('r', {type='rtree'})
r.unique, r.type, r.parts, r.dimension
box.space._index:get{s.id, 1}
r2 = s:create_index('r2', {type='rtree', parts={2, 'unsigned'}})
r2 = s:create_index('r2', {type='rtree', parts={2, 'array', 3, 'array'}})
r2 = s:create_index('r2', {type='rtree', unique=true, parts={2, 'array'}})
r2 = s:create_index('r2', {type='rtree', unique=false, parts={{2, 'array', is_nullable=true}}})
r2 = s:create_index('r2', {type='rtree', parts={2, 'array'}, dimension=0})
r2 = s:create_index('r2', {type='rtree', parts={2, 'array'}, dimension=21})
r2 = s:create_index('r2', {type='rtree', parts={2, 'array'}, dimension=-1})
r2 = s:create_index('r2', {type='rtree', parts={2, 'array'}, dimension=2.5})
r2 = s:create_index('r2', {type='rtree', parts={2, 'array'}, dimension='2'})
r2 = s:create_index('r2', {type='rtree', parts={2, 'array'}, distance='foo'})
r2 = s:create_index('r2', {type='rtree', parts={2, 'array'}, distance='EUCLID'})
r2 = s:create_index('r2', {type='rtree', parts={2, 'array'}, distance='Manhattan'})
r2 = s:create_index('r2', {type='rtree', parts={2, 'array'}, distance=1})
r2 = s:create_index('r2', {type='rtree', parts={{2, 'array', collation='unicode'}}})
m = s:create_index('m', {type='rtree', parts={2, 'array'}, distance='manhattan'})
e = s:create_index('e', {type='rtree', parts={2, 'array'}, distance='euclid', dimension=2})
m.dimension, m.distance, e.distance
box.space._index:select{s.id}
s:insert{1, {1, 1}}
s:insert{2, {2, 2, 3, 3}}
s:insert{3, {3, 3, 2, 2}}
s:insert{4, {1}}
s:insert{4, {1, 2, 3}}
s:insert{4, {1, 2, 3, 4, 5}}
s:insert{4, {}}
s:insert{4, {'a', 1}}
s:insert{4, {1, 'a'}}
s:insert{4, {1, box.NULL}}
s:insert{4, {1, {2}}}
s:insert{4, {1, true}}
s:insert{4, 1}
s:insert{4}
s:insert{6, {1.5, -2.5}}
s:insert{7, {18446744073709551615ULL, -5}}
s:insert{9, {0, 0, 10, 10}}
s:insert{10, {10, 10, 0, 0}}
s:select()
s:delete(4) s:delete(5) s:delete(7)
find(r)
]]
for _, it in ipairs{'EQ','ALL','LT','LE','GE','GT','OVERLAPS','NEIGHBOR','REQ','BITS_ALL_SET','BITS_ANY_SET'} do
  for _, k in ipairs{{1,1},{2,2},{2,2,3,3},{3,3,2,2},{0,0,10,10},{0,0,5,5},{0,0},{10,10},{-100,-100,100,100},{1,1,1,1},{2,1},{2.5,2.5}} do
    check.call(it .. ' ' .. table.concat(k, ','), find, r, {k}, {iterator = it})
  end
end
for _, it in ipairs{'EQ','OVERLAPS','NEIGHBOR','ALL','GE'} do
 check.call(it..' nested', find, r, {{1,1}}, {iterator=it})
 check.call(it..' flat', find, r, {1,1}, {iterator=it})
 check.call(it..' flat4', find, r, {1,1,2,2}, {iterator=it})
 check.call(it..' flat3', find, r, {1,1,2}, {iterator=it})
 check.call(it..' 3', find, r, {{1,1,2}}, {iterator=it})
 check.call(it..' 1', find, r, {{1}}, {iterator=it})
 check.call(it..' n', find, r, 1, {iterator=it})
 check.call(it..' {1}', find, r, {1}, {iterator=it})
 check.call(it..' s', find, r, 'a', {iterator=it})
 check.call(it..' {s,s}', find, r, {'a','b'}, {iterator=it})
 check.call(it..' {{s,s}}', find, r, {{'a','b'}}, {iterator=it})
 check.call(it..' {}', find, r, {}, {iterator=it})
 check.call(it..' nil', find, r, nil, {iterator=it})
 check.call(it..' NULL', find, r, box.NULL, {iterator=it})
 check.call(it..' {{}}', find, r, {{}}, {iterator=it})
 check.call(it..' {NULL}', find, r, {box.NULL}, {iterator=it})
 check.call(it..' {{1,1},{2,2}}', find, r, {{1,1},{2,2}}, {iterator=it})
end
check [[
r:get{{1,1}}
r:min()
r:max()
r:random(1)
r:count()
r:count({{2,2,3,3}})
r:count({{2,2,3,3}}, {iterator='OVERLAPS'})
r:count({2,2,3,3}, {iterator='OVERLAPS'})
r:count({}, {iterator='OVERLAPS'})
r:count({{2,2,3,3}}, {iterator='NEIGHBOR'})
r:count({{2,2,3,3}}, {iterator='REQ'})
r:count({}, {iterator='ALL'})
r:len()
r:bsize() > 0
r:stat()
r:compact()
r:update({{1,1}}, {{'=', 3, 5}})
r:delete({{1,1}})
s:update(1, {{'=', 2, {7,7}}})
s:update(1, {{'=', 2, {7}}})
s:upsert({1, {1,1}}, {{'=', 2, {8,8}}})
s:replace{1, {9,9}}
find(r, {{9,9}})
box.begin() s:replace{1, {1,1}} s:delete(2) s:insert{40, {4,4}} box.rollback()
find(r, {{9,9}})
r:count({{1,1}}) 
r:count({{2,2,3,3}})
r:alter{dimension=3}
r:alter{distance='manhattan'}
r:alter{parts={3,'array'}}
r:rename('rr')
s.index.rr:alter{type='tree'}
s.index.rr:drop()
s:truncate()
find(m)
s.index.pk:drop()
q = box.schema.space.create('q')
_ = q:create_index('pk')
d3 = q:create_index('d3', {type='rtree', dimension=3, parts={2,'array'}})
q:insert{1, {1,2,3}}
q:insert{2, {1,2}}
q:insert{2, {1,2,3,4}}
q:insert{2, {1,2,3,4,5,6}}
find(d3, {1,2,3})
find(d3, {1,2,3,4,5,6})
find(d3, {{1,2,3,4,5,6}}, {iterator='OVERLAPS'})
d1 = q:create_index('d1', {type='rtree', dimension=1, parts={3,'array'}})
d1 = q:create_index('d1', {type='rtree', dimension=1, parts={2,'array'}})
q:truncate()
d1 = q:create_index('d1', {type='rtree', dimension=1, parts={3,'array'}})
q:insert{1, {1,2,3}, {1}}
q:insert{2, {1,2,3}, {3,2}}
q:insert{3, {1,2,3}, {1, 5}}
find(d1, {{1}}, {iterator='OVERLAPS'})
find(d1, {1}, {iterator='OVERLAPS'})
find(d1, 1, {iterator='OVERLAPS'})
find(d1, {{2,3}}, {iterator='LE'})
d20 = q:create_index('d20', {type='rtree', dimension=20, parts={4,'array'}})
]]
check.finish()
