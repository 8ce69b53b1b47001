-- SPDX-License-Identifier: BSD-2-Clause
-- The rows of the system spaces for what a user made.
local check = require('check')
box.cfg{}
s = box.schema.space.create('s', {format = {{'id', 'unsigned'}, {'name', 'string', is_nullable = true}}})
s:create_index('pk')
s:create_index('h', {type = 'hash', parts = {{1, 'unsigned'}}})
s:create_index('n', {parts = {{2, 'string', is_nullable = true}, {1}}, unique = false})
s:create_index('u', {parts = {{2, 'string', is_nullable = true}}})
t = box.schema.space.create('t', {temporary = true, field_count = 3})
t:create_index('pk', {parts = {1, 'string'}})
l = box.schema.space.create('l', {is_local = true, format = {'a', {name = 'b', type = 'map'}}})
box.schema.user.create('ann', {password = 'x'})
box.schema.user.grant('ann', 'read,write', 'space', 's')
box.schema.user.grant('ann', 'execute', 'universe')
box.schema.user.grant('guest', 'super')
box.schema.role.create('r')
box.schema.func.create('f', {body = 'function() end'})
s:truncate()
check [[
box.space._space:get(s.id)
box.space._space:get(t.id)
box.space._space:get(l.id)
box.space._index:select{s.id}
box.space._index:select{t.id}
box.space._vspace:get(s.id) == box.space._space:get(s.id)
box.space._vindex:get{s.id, 0}
box.space._user.index.name:select{'ann'}
box.space._user.index.name:select{'r'}
box.space._priv:select{32}
box.space._priv:select{0}
box.space._vpriv:select{32}
box.space._func.index.name:get('f'):slice(0, 17)
box.space._truncate:select{}
box.space._schema:get('max_id')
box.space._schema:get('version')
s:drop()
box.space._space:get(512)
box.space._index:select{512}
box.space._truncate:get(512)
box.space._priv:select{32}
t:drop()
box.space._schema:get('max_id')
box.schema.space.create('next').id
box.space._space:insert{900, 1, 'by hand', 'memtx', 0, setmetatable({}, {__serialize = 'map'}), {}}
box.space['by hand'].id
box.space._index:insert{900, 0, 'pk', 'tree', {unique = true}, {{0, 'unsigned'}}}
box.space['by hand']:insert{1}
box.space._space:insert{901, 1, 'bad', 'nosuch', 0, {}, {}}
box.space._space:insert{901, 1, 'bad'}
box.space._space:delete(900)
box.space._index:delete{900, 0}
box.space._space:delete(900)
box.space['by hand']
box.space._space:delete(280)
box.space._user:delete(1)
box.space._schema:get('nosuch')
]]
check.finish()
