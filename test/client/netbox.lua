-- SPDX-License-Identifier: BSD-2-Clause
-- The reference's own net.box as the client: tarantool netbox.lua ADDRESS...
-- The servers run server.lua. What it prints must not depend on who the server is.
package.path = os.getenv('COMPAT_LIB') .. '/?.lua;' .. package.path
local check = require('check')
netbox = require('net.box')
fiber = require('fiber')
address = arg[1]

function connect(user, password, opts)
    opts = opts or {}
    opts.user, opts.password = user, password
    return netbox.connect(address, opts)
end

c = connect('ann', 'secret')
check [[
c.state, c:is_connected(), c:ping(), c.error
c.peer_uuid ~= nil, c.peer_version_id >= 0x020000, c.protocol
type(c.schema_version)
c.space.test.id, c.space.test.name, c.space.test.field_count, c.space.test.engine
c.space.test:format()
c.space.nosuch
c.space.test.index.primary.id, c.space.test.index.name.type, c.space.test.index.n.unique
c.space.test.index.primary.parts[1].fieldno, c.space.test.index.name.parts[1].type, c.space.test.index.n.parts[1].is_nullable
]]
check [[
c.space.test:select{}
c.space.test:select{3}
c.space.test:select(3)
c.space.test:select({3}, {iterator = 'GE', limit = 2})
c.space.test:select({3}, {iterator = 'LE', limit = 2, offset = 1})
c.space.test:select({}, {limit = 0})
c.space.test:get(3)
c.space.test:get(99)
select(2, pcall(c.space.test.get, c.space.test, {})).code
c.space.test:get('x')
c.space.test.index.name:get('row3')
c.space.test.index.name:select('row3')
c.space.test.index.n:select{30}
select(2, pcall(c.space.test.index.n.get, c.space.test.index.n, {30})).code
c.space.test.index.primary:min()
c.space.test.index.primary:max()
c.space.test.index.primary:min{4}
c.space.test.index.primary:count()
c.space.test.index.primary:count{4}
c.space.test.index.primary:count({4}, {iterator = 'GT'})
c.space.test:get(3).name, c.space.test:get(3).n
c.space.test:get(3):tomap{names_only = true}
c.space.test:insert{20, 'twenty', 1}
c.space.test:insert{20, 'again'}
c.space.test:insert{21, 'twenty'}
c.space.test:insert{'x'}
c.space.test:insert{21}
c.space.test:replace{20, 'vingt', 2}
c.space.test:put{20, 'vingt', 3}
c.space.test:update(20, {{'+', 3, 5}, {'=', 'name', 'zwanzig'}})
c.space.test:update(99, {{'+', 3, 5}})
c.space.test:update(20, {{'?', 3, 5}})
c.space.test:update(20, {{'=', 'nosuch', 5}})
c.space.test.index.name:update('zwanzig', {{'-', 'n', 1}})
c.space.test:upsert({20, 'x'}, {{'+', 3, 1}})
c.space.test:upsert({22, 'new', 1}, {{'+', 3, 1}})
c.space.test:get(20), c.space.test:get(22)
c.space.test:delete(20)
c.space.test:delete(20)
c.space.test.index.name:delete('new')
c.space.test:insert{30, ('x'):rep(100000)}[2]:len()
c.space.test:delete(30)[2]:len()
c.space.test:insert{31, 'values', box.NULL, {1, {2}}, {a = {b = 1}}, 1.5, -1, 18446744073709551615ULL, true, 'ü\0', 0/0 ~= nil}
c.space.test:delete(31)
]]
check [[
c:call('empty'), 'nothing'
c:call('echo', {1, 'two', {3}, {four = 4}, box.NULL, true, 1.5, 18446744073709551615ULL})
c:call('returns_table')
c:call('returns_nil')
c:call('returns_tuple')
c:call('returns_rows')
c:call('stored', {2, 3})
c:call('stored', {2})
c:call('pkg.inner.f', {7})
c:call('pkg:method', {7})
c:call('box.space.test:get', {1})
c:call('pkg.nosuch')
c:call('nosuch')
c:call('nosuch.at.all')
c:call('fails')
c:call('fails_code')
c:call('echo', 'not a table')
c:call('who')
#c:call('big', {3000000})
c:eval('return 1, nil, {}, "x"')
c:eval('return ...', {1, 2})
c:eval('local x')
c:eval('return +')
c:eval('error("text")')
c:eval('error({code = 5})')
c:eval('box.error{code = 7, reason = "seven"}')
c:eval('return box.space.test:get(1)')
c:eval('return box.session.type(), box.session.peer() ~= nil, box.session.user()')
c:eval('box.session.storage.x = (box.session.storage.x or 0) + 1 return box.session.storage.x')
c:eval('box.session.storage.x = (box.session.storage.x or 0) + 1 return box.session.storage.x')
c:eval('box.begin() box.space.test:insert{40, "forty"} return box.is_in_txn()')
c:eval('return box.is_in_txn(), box.space.test:get(40)')
c:eval('return function() end')
]]
-- Asynchronous requests, timeouts, many at once.
check [[
f = c:call('sleeps', {0.05}, {is_async = true})
f:is_ready()
f:wait_result()
f:is_ready(), f:result()
c:call('sleeps', {5}, {timeout = 0.01})
c:ping{timeout = 1}
fs = {} for i = 1, 1000 do fs[i] = c:call('echo', {i}, {is_async = true}) end
n = 0 for i = 1, 1000 do local r = fs[i]:wait_result() if r[1] == i then n = n + 1 end end
n
]]
-- The old CALL.
c16 = connect('ann', 'secret', {call_16 = true})
check [[
c16:call('echo', 1, 'two', {3})
c16:call('returns_table')
c16:call('returns_nil')
c16:call('returns_rows')
c16:call('returns_tuple')
c16:call('empty')
c16:call('nosuch')
c16:eval('return 1, {2}')
c16:close()
]]
-- Users.
check [[
g = netbox.connect(address)
g.state, g:ping()
g.space.test
g:call('echo', {1})
g:eval('return 1')
g:call('who')
g:close()
g.state
connect('ann', 'wrong').state
connect('ann', 'wrong').error
connect('nobody', 'x').error
connect('ann', '').error
connect('nopass', '').state
connect('nopass', 'x').error
connect('guest', '').state
p = connect('poor', 'x')
p.state, p.space.test:get(1), p.space.private
p.space.test:insert{50, 'x'}
p:call('echo', {5})
p:call('stored', {1, 2})
p:call('empty')
p:eval('return 1')
p:close()
]]
-- The schema follows what is made meanwhile.
check [[
before = c.schema_version
c:call('add_space', {'fresh'})
c:ping()
c:reload_schema()
c.schema_version > before
c.space.fresh:select{}
c.space.fresh.index.pk:count()
c:eval('box.space.fresh:drop()')
c:reload_schema()
c.space.fresh
c:call('add_space', {'seen'}) return c.space.seen ~= nil, c.state
c:eval('box.space.seen:drop()') return c.space.seen == nil, c.state
c:call('add_space', {'test'}) return c.state
c:eval('box.schema.space.create("seen")') return c.space.seen ~= nil
c:eval('box.space.seen:drop() error("after a change")')
c:ping() return c.space.seen == nil, c.state
stale = c.space.test
c:eval('box.space.test:format({{"id", "unsigned"}, {"title", "string"}})')
c:ping(), c:reload_schema()
c.space.test:get(1).title
stale:get(1) ~= nil
c:eval('box.space.test.index.n:drop()')
c:reload_schema()
c.space.test.index.n
]]
-- Closing.
check [[
c:close()
c.state, c:is_connected()
c:ping()
c:call('echo', {1})
c.space.test:get(1)
netbox.connect('127.0.0.1:1').state
netbox.connect('unix/:/no/such/socket').state
]]
check.finish()
