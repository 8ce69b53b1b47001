-- SPDX-License-Identifier: BSD-2-Clause
-- Sessions, rights and what requests leave behind, as the reference's net.box sees
-- them: tarantool sessions.lua ADDRESS. The server runs sessions_server.lua. What this
-- prints must not depend on who the server is.
package.path = os.getenv('COMPAT_LIB') .. '/?.lua;' .. package.path
local check = require('check')
local netbox = require('net.box')
local fiber = require('fiber')
local address = arg[1]

function connect(user, password)
    return netbox.connect(address, {user = user, password = password})
end
-- One connection from its beginning to its end.
function visit(user, password)
    local c = connect(user, password)
    local state, err = c.state, c.error
    c:close()
    return state, err
end
function admin(text) return adm:call('as_admin', {text}) end

adm = connect('adm', 'secret')
check [[
adm.state, adm:ping()
visit()
visit('bob', 'secret')
visit('bob', 'wrong')
visit('nobody', 'x')
visit('guest', '')
adm:eval('refuse_user = true')
visit('bob', 'secret')
visit()
adm:eval('refuse_session = true')
visit('bob', 'secret')
adm:eval('refuse_session, refuse_user = false, false')
]]
-- Rights that change while the session lives.
bob = connect('bob', 'secret')
check [[
bob:eval('return 1')
bob:call('whoami')
admin "box.schema.user.grant('bob', 'execute', 'function', 'whoami')"
bob:call('whoami')
bob:call('values')
admin "box.schema.user.grant('bob', 'execute', 'function', 'values')"
bob:call('values')
admin "box.schema.user.grant('bob', 'read', 'space', 'test')"
bob:call('values')
bob.space.test
bob:close()
]]
bob = connect('bob', 'secret')
check [[
bob.space.test:get(1)
bob.space.test:insert{9, 'x'}
admin "box.schema.user.grant('bob', 'write', 'space', 'test')"
bob.space.test:insert{9, 'x'}
admin "box.schema.user.revoke('bob', 'read', 'space', 'test')"
bob.space.test:select{}
bob.space.test:delete(9)
admin "box.schema.user.drop('bob')"
bob.space.test:select{}
bob:call('whoami')
bob:ping()
bob:close()
]]
-- Each request begins with a clean fiber; the session keeps its own.
check [[
adm:eval "return box.session.id() > 0, box.session.sync() > 0, require('fiber').name()"
adm:eval "require('fiber').self().storage.a = 1"
adm:eval "return require('fiber').self().storage.a"
adm:eval "box.session.storage.a = 1"
adm:eval "return box.session.storage.a"
adm:eval "require('fiber').self():cancel() require('fiber').testcancel()"
adm:eval "require('fiber').sleep(0) return 'alive'"
adm:eval "box.begin() box.space.test:replace{7, 'x'}"
adm:eval "return box.space.test:get(7), box.is_in_txn()"
adm:eval "return box.session.exists(box.session.id()), box.session.exists(1000000)"
adm:eval "return box.session.type(1000000)"
]]
check [[
got = {}
adm:call('box.session.push', {{1, 'x'}}, {on_push = function(x) table.insert(got, x) end})
got
#adm:eval('return ...', {string.rep('x', 3000000)})
]]
futures = {}
for i = 1, 100 do futures[i] = adm:call('values', {}, {is_async = true}) end
for i = 1, 100 do assert(futures[i]:wait_result(10)) end
-- A client that goes away while its request is at work.
other = connect('adm', 'secret')
fiber.create(function() pcall(other.call, other, 'slow') end)
fiber.sleep(0)
check [[
other:ping()
other:close()
adm:call('wait_events', {32})
]]
check.finish()
os.exit(0)
