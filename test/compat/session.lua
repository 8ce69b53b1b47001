-- SPDX-License-Identifier: BSD-2-Clause
-- box.session and box.ctl.
local check = require('check')
box.cfg{log_level = 4}
fiber = require('fiber')
check [[
ss=box.session
ss.id() > 0, ss.uid(), ss.user(), ss.euid(), ss.effective_user(), ss.type(), ss.sync(), ss.fd(), ss.peer()
ss.exists(ss.id()), ss.exists(12345)
ss.exists()
ss.exists(1,2)
ss.peer(12345)
ss.fd(12345)
ss.peer('x')
ss.su()
ss.su('guest', function(...) return ss.uid(), ss.euid(), ss.user(), ss.effective_user(), ... end, 1, 2)
ss.su('nosuch')
ss.su('guest', error, 'x')
ss.uid()
ss.su('guest')
ss.uid(), ss.euid(), ss.user(), ss.effective_user()
box.space._space:select()
box.schema.space.create('z')
ss.su('admin')
ss.su(0, function() return ss.uid() end)
ss.storage.x
(function() ss.storage.x=1 return ss.storage.x end)()
ss.storage
ss.on_connect()
fz=function() end
type(ss.on_connect(fz))
ss.on_connect()
ss.on_connect(nil,fz)
ss.on_connect(1)
ss.on_connect(1,2)
ss.on_connect(nil,fz)
ss.push(1)
ss.push()
ss.settings.error_marshaling_enabled
ss.settings.nosuch
ss.settings.error_marshaling_enabled:set(true)
ss.settings.error_marshaling_enabled
box.space._session_settings:select()
box.ctl.wait_rw(0.01)
box.ctl.wait_ro(0.01)
box.ctl.wait_ro('x')
box.ctl.on_schema_init()
]]

-- Only who may have a session can be become.
check [[
box.schema.user.create('without_session') box.schema.user.revoke('without_session', 'session', 'universe')
box.schema.user.create('without_usage') box.schema.user.revoke('without_usage', 'usage', 'universe')
box.schema.role.create('some_role')
box.session.su('without_session')
box.session.su('without_session', function() return box.session.effective_user() end)
box.session.su('without_usage') box.session.user() box.session.su('admin')
box.session.su('without_usage', function() return box.session.effective_user() end)
box.session.su('some_role')
box.session.su('public')
box.session.su(2), box.session.user()
box.session.su(3)
box.session.su(31, function() return box.session.effective_user() end)
box.session.user()
box.schema.user.drop('without_session') box.schema.user.drop('without_usage') box.schema.role.drop('some_role')
]]
check.finish()
