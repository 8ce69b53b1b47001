-- SPDX-License-Identifier: BSD-2-Clause
-- A sequence whose values go to a place inside of a field.
local check = require('check')
box.cfg{}
null = box.NULL
function shape()
    local i, row = s.index.pk, box.space._space_sequence:get(s.id)
    return i.sequence_fieldno, i.sequence_path, row and row[4], row and row[5]
end
check [[
s = box.schema.space.create('s')
s:create_index('pk', {sequence = {field = 1}, parts = {{1, 'unsigned', path = 'id'}}})
s:create_index('pk', {sequence = true, parts = {{1, 'unsigned', path = 'id'}}}) ~= nil
shape()
s:insert{{id = null}}
s:insert{{id = null, x = 1}, 5}
s:insert{{x = 1}}
s:insert{null}
s:insert{5}
s:insert{{id = 10}}
s:replace{{id = null}}
s:select()
s.index.pk:alter{sequence = false}
shape()
s:insert{{id = null}}
s:drop()
s = box.schema.space.create('s', {format = {{'a', 'unsigned'}, {'b', 'map'}}})
s:create_index('pk', {sequence = {field = 'b.c'}, parts = {{'a'}, {'b.c', 'unsigned'}}}) ~= nil
shape()
s:insert{1, {c = null}}
s:insert{1, {}}
s.index.pk:alter{sequence = {field = 'b.d'}}
s.index.pk:alter{sequence = {field = 1}}
shape()
s:insert{null, {c = 7}}
s.index.pk:alter{sequence = {field = 2}}
s:create_index('so', {parts = {{1, 'unsigned', sort_order = 'foo'}}})
]]
check.finish()
