-- SPDX-License-Identifier: BSD-2-Clause
-- The interface of net.box beyond requests: connecting, states, futures, messages, buffers,
-- triggers, wrong uses. Run as netbox.lua is: CLIENT netbox_more.lua ADDRESS
package.path = os.getenv('COMPAT_LIB') .. '/?.lua;' .. package.path
local check = require('check')
netbox = require('net.box')
fiber = require('fiber')
buffer = require('buffer')
msgpack = require('msgpack')
address = arg[1]
ann = {user = 'ann', password = 'secret'}

function connect(opts)
    opts = opts or {}
    opts.user, opts.password = 'ann', 'secret'
    return netbox.connect(address, opts)
end

-- What an error knows.
function unpacked(f, ...)
    local _, e = pcall(f, ...)
    local t = e:unpack()
    t.trace = nil
    -- What only tarn tells.
    for _, name in ipairs{'space', 'index', 'field', 'field_name', 'expected', 'new_tuple'} do
        t[name] = nil
    end
    return t
end

function field_names(t)
    local names = {}
    for k in pairs(t) do
        if type(k) == 'string' and k:sub(1, 1) ~= '_' then
            table.insert(names, k)
        end
    end
    table.sort(names)
    return table.concat(names, ' ')
end

-- Connecting.
check [[
netbox.connect()
netbox.connect('')
netbox.connect('a b')
netbox.connect('localhost')
netbox.connect({host = 'a'})
netbox.connect('127.0.0.1:1').error
netbox.connect('127.0.0.1', 1).error
netbox.connect('127.0.0.1', '1', {timeout = 1}).error
netbox.connect(1).port, netbox.connect(1).host
netbox.connect('/nonexistent').error
netbox.connect('127.0.0.1:1', {wait_connected = false}).state
netbox.connect(address, {password = 'x'})
netbox.connect(address, {user = 'ann'}).error
netbox.connect(address, {user = 'ann', password = 'wrong'}).state
netbox.connect(address, {user = 'nobody', password = 'wrong'}).error
c = netbox.connect(address, {wait_connected = false, user = 'ann', password = 'secret'})
c:call('echo', {1}), c.state
c = netbox.connect(address, {wait_connected = false})
c:ping()
c = netbox.connect(address, {wait_connected = false})
c.space
c:wait_connected(5), c:wait_state('active'), c:wait_state({active = true, closed = true})
c:wait_state('closed', 0.01), c:wait_state({'closed'}, 0.01)
c:close()
c = netbox.connect(address, {wait_connected = false, user = 'ann', password = 'bad'})
c:call('echo')
c.state, c.error
c:call('echo', {}, {is_async = true})
c:wait_connected(), c:ping()
c = netbox.connect('127.0.0.1:1', {reconnect_after = 0.01, wait_connected = 0.05})
c.state, c.error
c:ping{timeout = 0.05}
c:call('a', {}, {timeout = 0.05})
c:call('a', {}, {is_async = true})
c:close()
c.state, c.error
]]

-- Wrong uses.
c = connect()
check [[
getmetatable(c), getmetatable(c.space.test), getmetatable(c.space.test.index[0])
c.space.test == c.space[600], c.space.test.index[0] == c.space.test.index.primary
c.space.test.connection == c
field_names(c.space.test.index.primary)
c.space.test.temporary, c.space.test.is_sync, c.space.test.enabled
c.space.test.index.n.parts
c.call()
c.call(1)
c.ping()
c.eval('x')
c:call()
c:call(1)
c:call('echo', 1)
c:call('echo', {}, 1)
c:call('echo', nil)
c:call('echo', {1, 2, nil, 4})
c:call('echo', {[1] = 1, [20] = 2})
c:call('echo', {a = 1})
c:call('echo', {function() end})
c:eval()
c:eval('return 1', 5)
c.space.test.select()
c.space.test.index.primary.get()
c.space.test:insert()
c.space.test:insert(1)
c.space.test:insert{a = 1}
c.space.test:insert{[5] = 1}
c.space.test:insert{1, function() end}
c.space.test:update()
c.space.test:update(1)
c.space.test:update(1, 2)
c.space.test:delete()
c.space.test:upsert()
c.space.test:upsert({1}, 2)
c.space.test:select{a = 1}
c.space.test:select(function() end)
c.space.test:get('x')
c.space.test.index.primary:select({}, {iterator = 'XX'})
c.space.test.index.primary:select({}, {iterator = 77})
#c.space.test.index.primary:select({}, {limit = 'a'})
#c.space.test.index.primary:select({}, {limit = -1})
#c.space.test.index.primary:select({}, {limit = 2.7})
#c.space.test.index.primary:select({}, {offset = 8.5})
#c.space.test.index.primary:select({}, {iterator = 2.5, limit = 1})
c:prepare()
c:wait_state()
c:wait_state(5, 0.01)
c:wait_state({}, 0.01)
c:timeout('x')
c.space.test.index.primary:select({}, {offset = -1})
#c.space.test.index.primary:select(nil, {iterator = 'GT'})
c.space.test.index.primary:select(nil, {iterator = 'gt', limit = 1})
c.space.test.index.primary:select(box.NULL, {iterator = 2, limit = 1})
c.space.test.index.primary:count({1}, {iterator = 'GT'})
c.space.test.index.primary:count(nil, {iterator = 'ALL'})
c.space.test:select({1}, {timeout = -1})
c.space.test:select({1}, {timeout = 'a'})
c:ping({timeout = 0})
c:call('sleeps', {1}, {timeout = 0})
c:call('sleeps', {1}, {timeout = 0.01})
c.space.test:count()
c.space.test.index.primary.len
c.space.test:format()
c.space._vinyl_deferred_delete:select()
c:unprepare('x')
c:execute('select 1', {}, {timeout = 1})
]]

-- Errors of the server keep what they are.
check [[
unpacked(c.call, c, 'error', {'x'})
unpacked(c.call, c, 'fails_code')
unpacked(c.eval, c, 'box.error(1, 5)')
unpacked(c.eval, c, 'box.error{code = 77, reason = "five", type = "Own"}')
unpacked(c.space.test.insert, c.space.test, {'x'})
unpacked(c.eval, c, 'local e = box.error.new{code = 77, reason = "a"} e:set_prev(box.error.new{code = 2, reason = "b"}) e:raise()').prev
]]

-- Futures.
check [[
f = c:call('sleeps', {0.05}, {is_async = true})
f:is_ready(), f:result()
f:wait_result(0.001)
f:wait_result()
f:is_ready(), f:result()
f:result() == f:result()
f:wait_result(-1)
f:wait_result('a')
f:discard()
f:result()
f = c:call('sleeps', {0.05}, {is_async = true})
f:discard()
f:is_ready(), f:result()
f:wait_result(0)
f = c:call('nosuch', {}, {is_async = true})
f:wait_result()
f:result()
c.space.test:insert({100, 'hundred'}, {is_async = true}):wait_result()
c.space.test:insert({100, 'hundred'}, {is_async = true}):wait_result()
c.space.test:upsert({100, 'hundred'}, {}, {is_async = true}):wait_result()
c.space.test:update(100, {{'=', 'n', 5}}, {is_async = true}):wait_result().n
c.space.test:replace({100, 'cent'}, {is_async = true}):wait_result().name
c.space.test:get(100, {is_async = true}):wait_result()
c.space.test:get(101, {is_async = true}):wait_result()
c.space.test:select(100, {is_async = true}):wait_result()
c.space.test:select(100, {is_async = true}):wait_result()[1].name
c.space.test:delete(100, {is_async = true}):wait_result()
c.space.test:delete(100, {is_async = true}):wait_result()
c.space.test.index.primary:count({1}, {is_async = true}):wait_result()
c.space.test.index.primary:min({5}, {is_async = true}):wait_result()
c.space.test.index.primary:min({100}, {is_async = true}):wait_result()
c.space.test.index.primary:max({5}, {is_async = true}):wait_result()
c:call('echo', {}, {is_async = true}):wait_result()
c:call('echo', {box.NULL}, {is_async = true}):wait_result()
c:eval('return 1, {2}', {}, {is_async = true}):wait_result()
c:ping({is_async = true})
getmetatable(c.space.test:select({1}))
getmetatable(c.space.test:select({1}, {is_async = true}):wait_result())
getmetatable(c:call('echo', {{1}})).__serialize
getmetatable(c:call('echo', {{1}}, {is_async = true}):wait_result()).__serialize
f = c:call('sleeps', {10}, {is_async = true})
fiber.sleep(0.01) c:close()
f:wait_result()
f:is_ready()
]]

-- Messages.
c = connect()
function collect(f, timeout)
    local out = {}
    for i, m in f:pairs(timeout) do
        table.insert(out, {i, type(m) == 'cdata' and tostring(m) or m})
    end
    return out
end
function pushed(opts)
    local out = {}
    opts.on_push, opts.on_push_ctx = table.insert, out
    return c:call('pushes', {3}, opts), out
end
check [[
collect(c:call('pushes', {3}, {is_async = true}))
f = c:call('pushes', {2}, {is_async = true})
f:wait_result()
collect(f), collect(f)
f:pairs('a')
collect(c:call('sleeps', {0.2}, {is_async = true}), 0.01)
collect(c:call('nosuch', {}, {is_async = true}))
pushed({})
c:eval('return pcall(box.session.push, 1, 2)')
c:eval('local ok, err = box.session.push(print) return ok == nil, tostring(err):match("unsupported.*")')
c:call('pushes', {3})
c:call('pushes', {3}, {is_async = true, on_push = table.insert})
]]

-- Buffers.
b = buffer.ibuf()
function buffered(result, ...)
    local text = {}
    while b:size() > 0 do
        local value, rpos = msgpack.decode(b.rpos, b:size())
        table.insert(text, value)
        b.rpos = rpos
    end
    b:reset()
    return result, text
end
check [[
buffered(c.space.test:select({1}, {buffer = b}))
buffered(c.space.test:select({1}, {buffer = b, skip_header = true}))
buffered(c:call('echo', {1, 2}, {buffer = b}))
buffered(c:call('echo', {1, 2}, {buffer = b, skip_header = true}))
buffered(c:call('echo', {1, 2}, {buffer = b, is_async = true}):wait_result())
buffered(c:eval('return', {}, {buffer = b}))
buffered(c:ping{buffer = b})
buffered(pcall(c.call, c, 'nosuch', {}, {buffer = b}))
buffered(c.space.test:replace({200, 'b'}, {buffer = b}))
buffered(c.space.test:update({200}, {}, {buffer = b}))
buffered(c.space.test:upsert({200, 'b'}, {}, {buffer = b}))
buffered(c.space.test:delete({200}, {buffer = b}))
c.space.test:get(1, {buffer = b})
c.space.test.index.primary:min(1, {buffer = b})
c.space.test.index.primary:count(1, {buffer = b})
buffered(c:call('pushes', {2}, {buffer = b, is_async = true}):wait_result())
buffered(pushed{buffer = b})
]]

-- Triggers.
log = {}
function note(name)
    return function(conn, ...)
        table.insert(log, name)
        table.insert(log, conn.state)
        table.insert(log, tostring(conn.error))
        table.insert(log, select('#', ...))
    end
end
function taken()
    local out = table.concat(log, ' ')
    log = {}
    return out
end
t1, t2, t3 = note('t1'), note('t2'), note('t3')
check [[
c:on_connect()
c:on_connect(1)
c:on_connect({})
c:on_connect(nil, print)
c:on_disconnect(print, print)
c:on_connect(t1)
c:on_connect(t2) == nil, #c:on_connect()
c:on_connect()[1] == t1, c:on_connect()[2] == t2
c:on_connect(t3, t1) == t1, c:on_connect()[1] == t3
c:on_connect(nil, t3) == t3, #c:on_connect()
c:on_disconnect(t1)
c:on_disconnect(t2)
c:on_schema_reload(t3)
c:call('add_space', {'more'})
fiber.sleep(0.05)
taken()
c:close() return taken()
c:close() return taken()
c = netbox.connect(address, {wait_connected = false, user = 'ann', password = 'secret'})
c:on_connect(t1) c:on_connect(t2) c:on_schema_reload(t3)
c:wait_connected(), taken()
c:close()
c = netbox.connect(address, {wait_connected = false})
c:on_connect(function() error('refused', 0) end)
c:on_disconnect(t1)
c:wait_connected(), c.state, c.error
taken()
]]

-- What triggers may do, and users.
c = connect()
check [[
c:on_disconnect(function(conn) conn:close() end)
c:close() return c.state
c = connect{reconnect_after = 0.05, wait_connected = 5}
c.state
c:on_connect(function() error('refused', 0) end)
c:on_disconnect(t1)
fd = c:eval('return box.session.fd()')
c:eval('local ffi = require("ffi") ffi.cdef("int shutdown(int, int);") ffi.C.shutdown(..., 2)', {fd}, {timeout = 5})
c:wait_state('error'), c.state, c.error
taken()
c = netbox.connect(address, {user = 'ann', password = 'bad', reconnect_after = 0.05, wait_connected = 0.01})
c:wait_state('error_reconnect', 10), c.error
c:close() return c.state
c = connect()
c:on_schema_reload(function() error('refused', 0) end)
c:call('add_space', {'again'})
c:wait_state('error'), c.state, c.error
]]

-- The old CALL, timeouts by fiber, and what is not documented but used.
c = connect()
check [[
c:timeout(0):ping()
c:ping()
c:timeout(1):ping()
c:call_16('echo', 1, {2})
c:eval_16('return 1, ...', 2)
c:_request('ping') == nil
c:reload_schema()
c:close()
]]

-- This server itself.
function own(...)
    return ...
end
obj = {method = function(self, x) return self == obj, x end}
check [[
netbox.self:ping(), netbox.self.ping(), netbox.self:is_connected(), netbox.self:wait_connected(1)
netbox.self:close(), netbox.self:reload_schema()
netbox.self:timeout(1) == netbox.self
netbox.self.state, netbox.self.nosuch
netbox.self:call('own', {1, box.NULL, 3})
netbox.self:call('own')
netbox.self:call('obj:method', {5})
netbox.self:call('obj.method', {5, 6})
netbox.self:call('nosuch')
netbox.self:call('no.such')
netbox.self:call('box.NULL')
netbox.self:call('os')
netbox.self:call()
netbox.self:call('own', 5)
netbox.self.call('own')
netbox.self:call('error', {'x'})
netbox.self:call('math.max', {1, 5})
netbox.self:eval('return 1, ...', {2, 3}, {is_async = true})
netbox.self:eval('return 1', 5)
netbox.self.eval('x')
netbox.self:eval('error("x", 0)')
]]
check.finish()
