-- SPDX-License-Identifier: BSD-2-Clause
-- UUIDs in fields and keys: TREE and HASH, order, wrong types.
local check = require('check')
box.cfg{}
uuid = require('uuid')
u = {}
for i, text in ipairs({
    '64d22e4d-ac92-4a23-899a-e59f34af5479', '00000000-0000-0000-0000-000000000000', '64d22e4d-ac92-4a23-899a-e59f34af5478',
    'ffffffff-ffff-1fff-dfff-ffffffffffff', '54d22e4d-ac92-4a23-899a-e59f34af5479', '64d22e4d-ac92-4a23-999a-e59f34af5479',
    '64d22e4e-0000-4a23-899a-e59f34af5479', '00000001-0000-0000-0000-000000000000', '64d22e4d-ac92-4a22-ffff-e59f34af5479',
}) do
    u[i] = uuid.fromstr(text)
end
s = box.schema.space.create('s', {format = {{'u', 'uuid'}, {'v', 'uuid', is_nullable = true}}})
check [[
s:create_index('pk') ~= nil
s:create_index('h', {type = 'HASH'}) ~= nil
s:create_index('v', {parts = {{2, 'uuid', is_nullable = true}}, unique = false}) ~= nil
]]
for i in ipairs(u) do
    check(('s:insert{u[%d], u[%d]}'):format(i, #u + 1 - i))
end
check [[
s:insert{u[1]}
s:insert{'64d22e4d-ac92-4a23-899a-e59f34af5479'}
s:insert{1}
s:insert{u[1], 1}
s:insert{uuid.fromstr('11111111-1111-1111-1111-111111111111'), box.NULL}
s:select()
s:select(u[1], {iterator = 'GE'})
s:select(u[1], {iterator = 'LT'})
s.index.h:get(u[6])
s.index.h:get('x')
s.index.v:select()
s.index.v:select(u[3])
s.index.v:count(u[1], {iterator = 'LE'})
s:get{'64d22e4d-ac92-4a23-899a-e59f34af5479'}
s:update(u[1], {{'=', 2, u[2]}})
s:update(u[1], {{'+', 2, 1}})
s:delete(u[1])
s.index.pk:min(), s.index.pk:max()
]]
check.finish()
