-- SPDX-License-Identifier: BSD-2-Clause
-- insert, replace, put, get, delete: what they return and what they refuse.
local check = require('check')
box.cfg{}
s = box.schema.space.create('s')
s:create_index('pk')
s:create_index('name', {parts = {{2, 'string'}}})
s:create_index('age', {parts = {{3, 'unsigned'}}, unique = false})
u = box.schema.space.create('u')
check [[
s:insert{1, 'ann', 30}
s:insert{2, 'bob', 30, 'more', {1, 2}, {k = 'v'}, true, box.NULL, 1.5}
s:insert{1, 'carl', 30}
s:insert{3, 'ann', 30}
s:insert{3, 'carl'}
s:insert{3}
s:insert{}
s:insert()
s:insert(3)
s:insert('text')
s:insert{'3', 'carl', 30}
s:insert{3, 'carl', 'thirty'}
s:insert{3, 'carl', -30}
s:insert{3, 'carl', 30.5}
s:insert{3, 'carl', 30.0}
s:insert{4, 'dan', box.NULL}
s:insert{box.NULL, 'dan', 1}
s:insert(box.tuple.new{4, 'dan', 40})
s:insert{5, 'eve', 18446744073709551615ULL}
s:insert{18446744073709551615ULL, 'max', 0}
s:insert{-1, 'neg', 0}
s:insert{{1}, 'neg', 0}
s:insert{nil, 'neg', 0}
s:replace{1, 'anna', 31}
s:replace{6, 'fred', 1}
s:replace{6, 'bob', 1}
s:replace{1, 'bob', 1}
s:replace{}
s:replace{7}
s:put{7, 'gus', 7}
s:get(1)
s:get{1}
s:get{1, 2}
s:get{}
s:get()
s:get('1')
s:get(-1)
s:get(1.0)
s:get(1.5)
s:get(99)
s:get(box.NULL)
s:get{box.NULL}
s.index.name:get('anna')
s.index.name:get{'anna'}
s.index.name:get(5)
s.index.name:get('nobody')
s.index.age:get(30)
s.index.age:get()
s:delete(1)
s:delete(1)
s:delete{2}
s:delete{3, 4}
s:delete{}
s:delete()
s:delete('x')
s.index.name:delete('dan')
s.index.name:delete('dan')
s.index.age:delete(7)
s.index.name:delete{}
s:len()
s:select{}
u:insert{1}
u:replace{1}
u:delete(1)
u:update(1, {})
u:upsert({1}, {})
]]
check.finish()
