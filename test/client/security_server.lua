-- SPDX-License-Identifier: BSD-2-Clause
-- The server of security.py: ann may all, poor nothing but log in, off not even that.
box.cfg{listen = arg[1], log_level = 4}

local s = box.schema.space.create('test', {id = 600})
s:create_index('primary')
s:insert{1, 'secret row'}
function secret() return 'secret result' end
box.schema.func.create('secret')
box.schema.sequence.create('numbers'):next()

box.schema.user.create('ann', {password = 'secret'})
box.schema.user.grant('ann', 'super')
box.schema.user.create('poor', {password = 'x'})
box.schema.user.create('off', {password = 'x'})
box.schema.user.disable('off')
box.schema.user.create('empty')

-- Who tried to log in, who was denied what.
logins, denials = {}, {}
box.session.on_auth(function(name, ok) table.insert(logins, {name, ok}) end)
function take_logins()
    local out = logins
    logins = {}
    return out
end

print('ready')
io.stdout:flush()
