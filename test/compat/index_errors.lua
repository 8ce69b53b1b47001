-- SPDX-License-Identifier: BSD-2-Clause
-- What space:create_index refuses.
local check = require('check')
box.cfg{}
s = box.schema.space.create('s', {format = {{'a', 'unsigned'}, {'b', 'string'}, {'c', 'integer', is_nullable = true}, {'m', 'map'}}})
check [[
s:create_index('sk', {parts = {2, 'string'}, unique = false})
s:create_index('sk', {parts = {{'c', is_nullable = true}}})
s:create_index()
s:create_index('pk', {type = 'nonsense'})
s:create_index('pk', {type = 5})
s:create_index('pk', {unknown = 1})
s:create_index('pk', {parts = 'text'})
s:create_index('pk', {parts = {}})
s:create_index('pk', {parts = {{}}})
s:create_index('pk', {parts = {{0, 'unsigned'}}})
s:create_index('pk', {parts = {0}})
s:create_index('pk', {parts = {{-1, 'unsigned'}}})
s:create_index('pk', {parts = {{1, 'nonsense'}}})
s:create_index('pk', {parts = {{'nosuch'}}})
s:create_index('pk', {parts = {{1, 'unsigned'}, {1, 'unsigned'}}})
s:create_index('pk', {parts = {{1, 'string'}}})
s:create_index('pk', {parts = {{'m'}}})
s:create_index('pk', {parts = {{1, 'unsigned', collation = 'unicode'}}})
s:create_index('pk', {parts = {{2, 'string', collation = 'nosuch'}}})
s:create_index('pk', {parts = {{field = 1, unknown = 2}}})
s:create_index('pk', {parts = {{1.5, 'unsigned'}}})
s:create_index('pk', {parts = {{1, 'unsigned', is_nullable = 'x'}}})
s:create_index('pk', {unique = false})
s:create_index('pk', {unique = 'x'})
s:create_index('pk', {id = 1})
s:create_index('pk', {id = 'x'})
s:create_index('pk', {type = 'bitset'})
s:create_index('pk', {if_not_exists = 'x'})
s:create_index('pk', {parts = {{1000000, 'unsigned'}}})
s:create_index(5)
s:create_index('')
s:create_index('pk', 'opts')
s:create_index('pk') ~= nil
s:create_index('pk')
s:create_index('pk2', {id = 0})
s:create_index('h', {type = 'hash', unique = false, parts = {{2}}})
s:create_index('h', {type = 'hash', parts = {{'c', is_nullable = true}}})
s:create_index('n', {parts = {{'a', is_nullable = true}}})
s:create_index('id', {id = 128})
s:create_index('id', {id = 127}) ~= nil
s:create_index('next', {parts = {2}}) ~= nil
s:create_index(('x'):rep(65001))
s.index.pk:drop()
]]
-- An index over rows that are there already.
check [[
d = box.schema.space.create('d')
dpk = d:create_index('pk')
d:insert{1, 'a', 5}
d:insert{2, 'b', 5}
d:insert{3, 'c'}
d:create_index('sk', {parts = {{2, 'unsigned'}}})
d:create_index('sk', {parts = {{4, 'unsigned'}}, unique = false})
d:delete(3)
d:create_index('sk', {parts = {{3, 'unsigned'}}})
d:create_index('sk', {parts = {{3, 'unsigned'}}, unique = false}) ~= nil
d.index.sk:select{5}
d:create_index('sk', {parts = {{2, 'string'}}})
#d.index, d.index[1].name, d.index[2]
]]
check.finish()
