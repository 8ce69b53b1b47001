-- SPDX-License-Identifier: BSD-2-Clause
-- What a user without rights may not do, from inside: box.session.su.
local check = require('check')
box.cfg{}
s = box.schema.space.create('s')
s:create_index('pk')
s:insert{1}
box.schema.user.create('ann')
box.schema.func.create('f', {body = 'function() return 1 end'})
box.schema.func.create('asadmin', {body = 'function() return box.space.s:select{} end', setuid = true})
function as(user, f, ...) return box.session.su(user, f, ...) end
check [[
box.session.user(), box.session.effective_user(), box.session.uid(), box.session.euid()
as('ann', function() return box.session.user(), box.session.effective_user(), box.session.uid(), box.session.euid() end)
as('guest', function() return box.session.effective_user() end)
as('ann', s.select, s)
as('ann', s.insert, s, {2})
as('ann', s.len, s)
as('ann', s.get, s, 1)
as('ann', function() return box.func.f:call() end)
as('ann', function() return box.func.asadmin:call() end)
as('ann', box.schema.space.create, 'mine')
as('ann', box.schema.user.create, 'mine')
as('ann', box.schema.func.create, 'mine')
as('ann', function() return box.space._space:select(s.id) end)
as('ann', function() return #box.space._vspace:select{} > 0, box.space._vspace:get(s.id) end)
as('ann', function() s:drop() end)
as('ann', function() s:truncate() end)
as('guest', s.select, s)
box.schema.user.grant('ann', 'read', 'space', 's')
as('ann', s.select, s)
as('ann', s.insert, s, {2})
as('ann', function() return box.space._vspace:get(s.id) ~= nil end)
box.schema.user.grant('ann', 'write', 'space', 's')
as('ann', s.insert, s, {2})
as('ann', s.update, s, 2, {{'=', 2, 'x'}})
as('ann', s.delete, s, 2)
box.schema.user.grant('ann', 'execute', 'function', 'f')
as('ann', function() return box.func.f:call() end)
box.schema.user.grant('ann', 'execute', 'function', 'asadmin')
as('ann', function() return box.func.asadmin:call() end)
box.schema.user.revoke('ann', 'read', 'space', 's')
as('ann', s.select, s)
as('ann', function() return box.func.asadmin:call() end)
box.schema.user.grant('ann', 'read,write,create', 'universe')
as('ann', function() return box.schema.space.create('mine').name end)
box.space._space.index.name:get('mine')[2] == box.space._user.index.name:get('ann')[1]
as('ann', function() return box.space.mine:create_index('pk') ~= nil end)
as('ann', function() return box.space.mine:insert{1} end)
as('nobody', print)
box.session.su('nobody')
box.session.su('ann')
box.session.user()
box.session.effective_user()
box.session.su('admin')
box.session.su()
box.session.su(1)
box.session.su(99)
box.session.type(), box.session.exists(box.session.id()), type(box.session.id())
box.session.storage.x = 5
box.session.storage.x
box.session.peer()
box.session.sync()
box.session.fd()
]]

-- Without usage of the universe: a call needs to be allowed to execute, all else needs usage.
for _, rights in ipairs{{}, {'execute', 'universe'}, {'execute', 'function'}, {'usage,execute', 'function'},
                        {'read,usage', 'space'}} do
    box.schema.user.create('unused')
    box.schema.user.revoke('unused', 'usage', 'universe')
    if rights[1] ~= nil then
        box.schema.user.grant('unused', rights[1], rights[2])
    end
    local s = box.schema.space.create('unused')
    s:create_index('pk')
    box.schema.func.create('unused', {body = 'function() return 1 end'})
    box.session.su('unused', function()
        check.call('call', box.func.unused.call, box.func.unused)
        check.call('select', s.select, s)
        check.call('insert', s.insert, s, {1})
        check.call('create', box.schema.space.create, 'new')
    end)
    box.schema.user.drop('unused')
    box.schema.func.drop('unused')
    s:drop()
end
check.finish()
