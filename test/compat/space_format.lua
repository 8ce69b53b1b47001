-- SPDX-License-Identifier: BSD-2-Clause
-- Formats: every way to write one, what it refuses, and what it lets in.
local check = require('check')
box.cfg{}

check [[
s = box.schema.space.create('s', {format = {{'id', 'unsigned'}, {name = 'name', type = 'string'}, {'note', is_nullable = true}}})
s:format()
pk = s:create_index('pk')
s:insert{1, 'one'}
s:insert{2, 'two', 'note'}
s:insert{3, 'three', box.NULL, 'more', 5}
s:insert{4}
s:insert{4, 5}
s:insert{'x', 'four'}
s:insert{-1, 'four'}
s:insert{1.5, 'four'}
s:insert{4, box.NULL}
s:get(1).name, s:get(1).id, s:get(1).note, s:get(2).note
s:frommap({id = 5, name = 'five'})
s:frommap({id = 5, name = 'five', note = 'n'}, {table = true})
s:frommap({id = 5, nonsense = 1})
s:frommap({id = 5})
s:format({{'id', 'unsigned'}, {'name', 'unsigned'}})
s:format({{'id', 'string'}})
s:format({{'id', 'unsigned'}, {'name', 'string'}, {'note', 'string', is_nullable = true}, {'fourth', 'string', is_nullable = true}})
s:format()
s:format({{'key', 'unsigned'}, {'name', 'scalar'}})
s:get(1).key
s:get(1).id
s:format({})
s:format()
s:get(1).name
]]
check [[
box.schema.space.create('f1', {format = {{'a', 'nonsense'}}})
box.schema.space.create('f2', {format = {{'a'}, {'a'}}})
box.schema.space.create('f3', {format = {{}}})
box.schema.space.create('f4', {format = {{type = 'string'}}})
box.schema.space.create('f5', {format = {{'a', 5}}})
box.schema.space.create('f6', {format = {'a', 'b'}}):format()
box.schema.space.create('f7', {format = {{'a', is_nullable = 'yes'}}})
box.schema.space.create('f8', {format = {{'a', unknown_key = 1}}}):format()
box.schema.space.create('f9', {format = {5}})
box.schema.space.create('f10', {format = {{name = 'a', type = 'unsigned', is_nullable = false}}}):format()
box.schema.space.create('f11', {field_count = 1, format = {{'a'}, {'b'}}})
box.schema.space.create('f12', {format = {{''}}})
]]
check [[
n = box.schema.space.create('n', {field_count = 2})
npk = n:create_index('pk')
n:insert{1}
n:insert{1, 2}
n:insert{1, 2, 3}
n:replace{2, 3, 4}
n:update(1, {{'!', 3, 5}})
n:update(1, {{'#', 2, 1}})
]]
local values = {0, 1, -1, 1.5, 1e300, 'text', '', true, box.NULL, {1}, {a = 1}, 18446744073709551615ULL,
                -9223372036854775808LL}
for _, kind in ipairs{'any', 'unsigned', 'string', 'number', 'double', 'integer', 'boolean', 'scalar',
                      'array', 'map', 'varbinary', 'uuid', 'decimal'} do
    local s = box.schema.space.create('type_' .. kind, {format = {{'id', 'unsigned'}, {'v', kind}}})
    s:create_index('pk')
    for i, v in ipairs(values) do
        check.call(kind .. ' takes ' .. check.show(v), s.insert, s, {i, v})
    end
end
check.finish()
