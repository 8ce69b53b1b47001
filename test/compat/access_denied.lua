-- SPDX-License-Identifier: BSD-2-Clause
-- Triggers on denials, wherever these happen; errors in MessagePack by a session's setting.
local check = require('check')
box.cfg{log_level = 4, listen = '127.0.0.1:0'}
msgpack = require('msgpack')
seen = {}
function trigger(...) table.insert(seen, {box.session.user(), box.session.effective_user(), ...}) end
function as_guest(f) return box.session.su('guest', f) end
box.schema.space.create('t'):create_index('pk')
box.schema.func.create('f', {body = 'function() return 1 end'})
box.schema.sequence.create('s')
c = require('net.box').connect(box.info.listen)
check [[
type(box.session.on_access_denied(trigger))
#box.session.on_access_denied()
as_guest(function() return box.space.t:insert{1} end)
as_guest(function() return box.space.t:select() end)
as_guest(function() return box.space.t:get(1) end)
as_guest(function() return box.space.t:len() end)
as_guest(function() return box.space.t.index.pk:min() end)
as_guest(function() return box.schema.space.create('x') end)
as_guest(function() return box.schema.user.create('x') end)
as_guest(function() return box.sequence.s:next() end)
as_guest(function() return box.func.f:call() end)
c:call('f')
c:call('nosuch')
c:eval('return 1')
c:ping()
seen
box.session.on_access_denied(1)
box.session.on_access_denied(nil, trigger)
as_guest(function() return box.space.t:select() end)
#seen
box.session.settings.error_marshaling_enabled = true
box.session.settings.error_marshaling_enabled
box.session.settings.error_marshaling_enabled = 1
box.session.settings.error_marshaling_enabled = false
box.session.settings.error_marshaling_enabled
]]
check.finish()
