-- SPDX-License-Identifier: BSD-2-Clause
-- space:create_index: ways to say the parts, what the index object shows.
local check = require('check')
box.cfg{}
box.schema.space.create('s', {format = {{'a', 'unsigned'}, {'b', 'string'}, {'c', 'integer', is_nullable = true}}})
s = box.space.s

local function shape(i)
    local parts = {}
    for n, p in ipairs(i.parts) do
        parts[n] = {p.fieldno, p.type, p.is_nullable, p.collation, p.path}
    end
    return i.name, i.id, i.type, i.unique, parts
end
shape_of = shape

check [[
shape_of(s:create_index('pk'))
shape_of(s:create_index('i1', {parts = {2}}))
shape_of(s:create_index('i2', {parts = {2, 'string'}}))
shape_of(s:create_index('i3', {parts = {{2, 'string'}, {1, 'unsigned'}}}))
shape_of(s:create_index('i4', {parts = {'b', 'a'}}))
shape_of(s:create_index('i5', {parts = {{'b'}, {'a'}}}))
shape_of(s:create_index('i6', {parts = {{field = 'b', type = 'string'}, {field = 1}}}))
shape_of(s:create_index('i7', {parts = {{'c', is_nullable = true}}, unique = false}))
shape_of(s:create_index('i8', {parts = {2, 'string', 1, 'unsigned'}}))
shape_of(s:create_index('i9', {type = 'hash', parts = {{2, 'string'}}}))
shape_of(s:create_index('i10', {type = 'HASH'}))
shape_of(s:create_index('i11', {type = 'TREE', parts = {{1}}, id = 40}))
shape_of(s:create_index('i12', {parts = {{'a'}}}))
shape_of(s:create_index('i13', {parts = {{5, 'scalar'}}, unique = false}))
shape_of(s:create_index('i14', {parts = {{'c', 'integer'}}}))
shape_of(s:create_index('i1', {if_not_exists = true}))
select(2, s:create_index('i1', {if_not_exists = true}))
s.index.i1.space_id == s.id
box.index.EQ, box.index.REQ, box.index.ALL, box.index.LT, box.index.LE, box.index.GE, box.index.GT
box.index.BITS_ALL_SET, box.index.BITS_ANY_SET, box.index.BITS_ALL_NOT_SET, box.index.OVERLAPS, box.index.NEIGHBOR
n = box.schema.space.create('n')
shape_of(n:create_index('pk', {parts = {1, 'str'}}))
shape_of(n:create_index('sk', {parts = {{2, 'num'}}}))
shape_of(n:create_index('all', {parts = {{3, 'uint'}, {4, 'int'}, {5, 'number'}, {6, 'double'}, {7, 'boolean'}, {8, 'scalar'}}, unique = false}))
shape_of(n:create_index('sparse', {parts = {{9, 'string', is_nullable = true}}}))
n.index.pk:drop()
n.index.all:drop()
n.index.all
n.index.sk:drop()
n.index.sparse:drop()
n.index.pk:drop()
n:insert{1}
]]
check.finish()
