-- SPDX-License-Identifier: BSD-2-Clause
-- net.box against servers of the test's own: what other versions have (ID, streams, watchers,
-- shutdown, pages), servers that send nonsense, reconnects, and connections nobody holds.
local tap = require('tap')
local fiber = require('fiber')
local fio = require('fio')
local compat = require('compat')
local msgpack = require('msgpack')
local netbox = require('net.box')
local socket = require('socket')
local test = tap.test('net.box')
test:plan(11)

local GREETING = ('%-63s\n%-63s\n'):format(
    'Tarantool 3.0.0 (Binary) 01234567-89ab-cdef-0123-456789abcdef', ('A'):rep(44))

local TYPE, SYNC, SCHEMA, STREAM = 0, 1, 5, 10
local DATA, ERROR_24, EVENT_KEY, EVENT_DATA = 0x30, 0x31, 0x57, 0x58

local function packet(header, body)
    local text = msgpack.encode(header) .. (body ~= nil and msgpack.encode(body) or '')
    return msgpack.encode(#text) .. text
end

local function map(t)
    return setmetatable(t, {__serialize = 'map'})
end

-- Calls on_request(s, header, body) for each packet of a client.
local function read_packets(s, on_request)
    while true do
        local head = s:read(5)
        if head == nil or #head < 5 then
            return
        end
        local size = msgpack.decode(head)
        local text = s:read(size)
        if text == nil or #text < size then
            return
        end
        local header, pos = msgpack.decode(text)
        local body = pos <= #text and msgpack.decode(text, pos) or {}
        if on_request(s, header, body) == false then
            return
        end
    end
end

local function reply(s, header, body, kind)
    s:write(packet(map{[TYPE] = kind or 0, [SYNC] = header[SYNC], [SCHEMA] = 5}, map(body or {})))
end

-- A server that answers what a connection asks by itself; `on_request` has the rest.
local function serve(on_request, version, features)
    local requests = {}
    local server = socket.tcp_server('127.0.0.1', 0, function(s)
        s:setsockopt('tcp', 'TCP_NODELAY', true)
        s:write(GREETING)
        read_packets(s, function(_, header, body)
            table.insert(requests, {header, body})
            if header[TYPE] == 73 then
                return reply(s, header, {[0x54] = version or 6,
                                         [0x55] = features or {0, 1, 2, 3, 4, 6}})
            elseif header[TYPE] == 1 and body[0x10] < 512 then
                local rows = {}
                if body[0x10] == 281 then
                    rows = {{512, 1, 't', 'memtx', 0, map{}, {{name = 'id', type = 'unsigned'}}}}
                elseif body[0x10] == 289 then
                    rows = {{512, 0, 'pk', 'tree', {unique = true}, {{0, 'unsigned'}}}}
                end
                return reply(s, header, {[DATA] = rows})
            end
            return on_request(s, header, body)
        end)
    end)
    return server, '127.0.0.1:' .. server:name().port, requests
end

local function descriptors()
    collectgarbage()
    collectgarbage()
    fiber.sleep(0.01)
    return #fio.listdir('/proc/self/fd')
end

local function wait_until(f)
    for _ = 1, 1000 do
        if f() then
            return true
        end
        fiber.sleep(0.005)
    end
    return false
end

test:test('ID', function(t)
    t:plan(9)
    t:ok(not pcall(netbox.connect, '127.0.0.1:1?transport=smtp'), 'a transport that there is not')
    t:is(netbox.connect('127.0.0.1:1?transport=plain').error, 'Connection refused', 'plain text')
    local server, address = serve(function() end)
    local c = netbox.connect(address)
    t:is(c.state, 'active', 'connected')
    t:is(c.peer_protocol_version, 6, 'version')
    t:ok(c.peer_protocol_features.streams and c.peer_protocol_features.watch_once
         and c.peer_protocol_features.insert_arrow == false, 'features')
    c:close()
    c = netbox.connect(address, {required_protocol_version = 9})
    t:is(c.error, 'Protocol version (6) < required (9)', 'a version that is not there')
    c = netbox.connect(address, {required_protocol_features = {'streams', 'is_sync', 'what'}})
    t:is(c.error, 'Protocol features missing: is_sync, what', 'features that are not there')
    c = netbox.connect(address, {required_protocol_features = {'streams'}})
    t:is(c.state, 'active', 'a feature that is there')
    c:close()
    c = netbox.connect(address, {fetch_schema = false})
    t:ok(c.state == 'active' and c.space == nil, 'no schema')
    c:close()
    server:close()
end)

test:test('streams', function(t)
    t:plan(8)
    local server, address, requests = serve(function(s, header)
        reply(s, header, {[DATA] = {{1}}})
    end)
    local c = netbox.connect(address)
    local s1, s2 = c:new_stream(), c:new_stream()
    t:isnt(s1.stream_id, s2.stream_id, 'numbers differ')
    local function last()
        return requests[#requests][1], requests[#requests][2]
    end
    s1:begin()
    t:is_deeply({last()[TYPE], last()[STREAM]}, {14, s1.stream_id}, 'begin')
    s1:begin({timeout = 3, txn_isolation = 'read-committed'})
    local _, body = last()
    t:ok(body[0x56] == 3 and body[0x59] == 1, 'begin with options')
    s2.space.t:select{}
    t:is_deeply({last()[TYPE], last()[STREAM]}, {1, s2.stream_id}, 'select')
    s1.space.t.index.pk:delete{1}
    t:is_deeply({last()[TYPE], last()[STREAM]}, {5, s1.stream_id}, 'delete by an index')
    s2:call('f')
    t:is_deeply({last()[TYPE], last()[STREAM]}, {10, s2.stream_id}, 'call')
    s1:commit()
    s2:rollback()
    t:is_deeply({last()[TYPE], last()[STREAM]}, {16, s2.stream_id}, 'rollback')
    c.space.t:select{}
    t:is(last()[STREAM], nil, 'the connection has no number')
    c:close()
    server:close()
end)

test:test('watchers', function(t)
    t:plan(11)
    local client
    local watched, unwatched = 0, 0
    local server, address = serve(function(s, header, body)
        client = s
        if header[TYPE] == 74 and body[EVENT_KEY] == 'key' then
            watched = watched + 1
        elseif header[TYPE] == 75 then
            unwatched = unwatched + 1
        elseif header[TYPE] == 77 then
            reply(s, header, {[DATA] = {'once', body[EVENT_KEY]}})
        end
    end)
    local c = netbox.connect(address, {reconnect_after = 0.01})
    local got = {}
    local w = c:watch('key', function(key, value) table.insert(got, {key, value}) end)
    t:ok(wait_until(function() return watched == 1 end), 'WATCH is sent')
    client:write(packet(map{[TYPE] = 76}, map{[EVENT_KEY] = 'key', [EVENT_DATA] = {1}}))
    t:ok(wait_until(function() return #got == 1 end), 'an event')
    t:is_deeply(got[1], {'key', {1}}, 'key and value')
    t:ok(wait_until(function() return watched == 2 end), 'it is acknowledged')
    client:write(packet(map{[TYPE] = 76}, map{[EVENT_KEY] = 'key'}))
    t:ok(wait_until(function() return #got == 2 end) and got[2][2] == nil, 'an event without a value')
    t:is_deeply({c:watch_once('other')}, {'once', 'other'}, 'watch_once')
    client:write(packet(map{[TYPE] = 76}, map{[EVENT_KEY] = 'key', [EVENT_DATA] = 'last'}))
    wait_until(function() return #got == 3 end)
    local late = {}
    local w2 = c:watch('key', function(_, value) table.insert(late, value) end)
    t:ok(wait_until(function() return late[1] == 'last' end), 'one that comes later is told')
    w2:unregister()
    t:is(unwatched, 0, 'the key is still watched')
    c:ping{timeout = 0} -- acknowledgements are sent in the meantime
    fiber.sleep(0.01)
    local watched_before = watched
    client:close()
    t:ok(wait_until(function() return watched > watched_before and c.state == 'active' end),
         'watched anew behind a reconnect')
    w:unregister()
    t:ok(wait_until(function() return unwatched == 1 end), 'UNWATCH is sent')
    t:ok(not pcall(w.unregister, w), 'once only')
    c:close()
    server:close()
end)

test:test('shutdown', function(t)
    t:plan(5)
    local client, pending
    local server, address = serve(function(s, header)
        client = s
        if header[TYPE] == 10 then
            pending = header
        end
    end)
    local c = netbox.connect(address)
    local log = {}
    c:on_shutdown(function(conn) table.insert(log, conn.state) end)
    local f = c:call('slow', {}, {is_async = true})
    wait_until(function() return pending ~= nil end)
    client:write(packet(map{[TYPE] = 76}, map{[EVENT_KEY] = 'box.shutdown', [EVENT_DATA] = true}))
    t:ok(wait_until(function() return c.state == 'graceful_shutdown' end), 'the state')
    t:is_deeply(log, {'active'}, 'the trigger came before')
    t:ok(not pcall(c.call, c, 'another', {}, {timeout = 0.01}), 'no new requests')
    reply(client, pending, {[DATA] = {'done'}})
    t:is_deeply(f:wait_result(), {'done'}, 'what was under way ends')
    t:ok(c:wait_state('error', 5) or c.state == 'error', 'then it is closed')
    server:close()
end)

test:test('pages and raw answers', function(t)
    t:plan(6)
    local server, address, requests = serve(function(s, header, body)
        if header[TYPE] == 1 then
            reply(s, header, {[DATA] = {{1}, {2}}, [0x35] = body[0x1f] and 'position' or nil})
        else
            reply(s, header, {[DATA] = {1, 'two'}})
        end
    end)
    local c = netbox.connect(address)
    local rows, position = c.space.t:select({}, {fetch_pos = true, limit = 2})
    t:ok(#rows == 2 and position == 'position', 'a position')
    c.space.t:select({}, {after = 'position'})
    t:is(requests[#requests][2][0x2e], 'position', 'after a position')
    c.space.t:select({}, {after = {5}})
    t:is_deeply(requests[#requests][2][0x2f], {5}, 'after a tuple')
    t:is_deeply(c.space.t:select({}, {fetch_pos = true, is_async = true}):wait_result()[2],
                'position', 'of a future')
    t:is_deeply(c:call('f', {}, {return_raw = true}):decode(), {1, 'two'}, 'a raw call')
    t:is_deeply(c.space.t:select({}, {return_raw = true}):decode(), {{1}, {2}}, 'a raw select')
    c:close()
    server:close()
end)

-- What a server sends instead of a greeting or an answer; the client reports and lives.
test:test('nonsense', function(t)
    local bad_answers = {
        [''] = 'nothing',
        ['\xc1'] = 'no length',
        ['\xcf\xff\xff\xff\xff\xff\xff\xff\xff'] = 'a length beyond all',
        ['\xce\x7f\xff\xff\xff'] = 'a length of 2 GB',
        ['\0'] = 'an empty packet',
        ['\x01\xc0'] = 'a header that is nil',
        ['\x03\x82\x00\x00'] = 'a cut header',
        ['\x05\x82\x00\x00\x01\x01\x01'] = 'a wrong length',
        [packet(map{[TYPE] = 0, [SYNC] = 99999})] = 'an answer to nobody',
        [packet(map{[TYPE] = 0, [SYNC] = 'x'})] = 'a sync that is text',
        [packet(map{[TYPE] = 76}, map{[EVENT_KEY] = 5})] = 'an event without a key',
        [packet(map{[TYPE] = 76})] = 'an event without a body',
        [packet(map{[TYPE] = 0, [SYNC] = 1}, {1, 2})] = 'a body that is no map',
    }
    local count = 0
    for _ in pairs(bad_answers) do
        count = count + 1
    end
    t:plan(count + 4)
    for _, greeting in ipairs{'', 'short', ('x'):rep(128), ('\0'):rep(200)} do
        local server = socket.tcp_server('127.0.0.1', 0, function(s) s:write(greeting) end)
        local c = netbox.connect('127.0.0.1', server:name().port, {connect_timeout = 5})
        t:ok(c.state == 'error' and #c.error > 0, 'greeting ' .. #greeting .. ': ' .. c.error)
        server:close()
    end
    for bytes, name in pairs(bad_answers) do
        local server, address = serve(function(s)
            s:write(bytes)
            return false
        end)
        local c = netbox.connect(address)
        local ok, err = pcall(c.call, c, 'f', {}, {timeout = 5})
        t:ok(not ok and (err.code == 77 or err.code == 20), name .. ': ' .. tostring(err))
        c:close()
        server:close()
    end
end)

-- Answers that are well-formed and mean nothing, and changed ones, from a seed.
test:test('answers of chance', function(t)
    t:plan(2)
    compat.box_tuple_extension = 'new'
    math.randomseed(11)
    local values = {0, -1, 'text', true, msgpack.NULL, {}, {{}}, map{}, map{a = 1}, {1, {2, {3}}}, 1.5,
                    map{[1] = map{}}, map{[1] = {}}, map{[1] = {map{name = 'a'}}}, map{[1] = {map{}}},
                    msgpack.object_from_raw('\xd5\x07\x01\x90'),
                    msgpack.object_from_raw('\xd6\x07\x01\x92\x01\x02'),
                    msgpack.object_from_raw('\xd4\x07\x01')}
    local function any()
        return values[math.random(#values)]
    end
    local function any_body()
        local body = {}
        for _ = 1, math.random(0, 4) do
            local keys = {DATA, DATA, ERROR_24, 0x60, 0x60, 0x52, 0x35, 0x32, 0x42, 0x33, 0x34, 0x43}
            body[keys[math.random(#keys)]] = math.random(2) == 1 and any() or {any(), any()}
        end
        return body
    end
    local kinds = {0, 0, 0, 128, 0x8000, 0x8001, 76, 5}
    local server, address = serve(function(s, header)
        reply(s, header, any_body(), kinds[math.random(#kinds)])
        reply(s, header, any_body())
    end, 9, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 11})
    local c = netbox.connect(address)
    local count = 0
    for i = 1, 2000 do
        if c.state ~= 'active' then
            c:close()
            c = netbox.connect(address)
        end
        local what = i % 8
        local opts = {timeout = 5, is_async = math.random(2) == 1, return_raw = math.random(3) == 1}
        local ok, result = pcall(function()
            if what == 0 then return c:call('f', {}, opts)
            elseif what == 1 then return c:eval('x', {}, opts)
            elseif what == 2 then return c.space.t:select({}, opts)
            elseif what == 3 then return c.space.t:get({}, opts)
            elseif what == 4 then return c:execute('x', {}, nil, opts)
            elseif what == 5 then return c:prepare('x', nil, nil, opts)
            elseif what == 6 then return c.space.t.index.pk:count({}, opts)
            else return c.space.t:insert({1}, opts)
            end
        end)
        if ok and type(result) == 'userdata' and opts.is_async then
            pcall(result.wait_result, result, 5)
            pcall(function() for _ in result:pairs(1) do end end)
        end
        count = count + 1
    end
    t:is(count, 2000, 'bodies')
    c:close()
    server:close()
    server = socket.tcp_server('127.0.0.1', 0, function(s)
        s:write(GREETING)
        local bytes = {}
        for i = 1, math.random(0, 60) do
            bytes[i] = string.char(math.random(4) == 1 and math.random(0, 255) or math.random(0, 4))
        end
        s:write(table.concat(bytes))
        s:readable(0.01)
    end)
    local errors = 0
    for _ = 1, 200 do
        c = netbox.connect('127.0.0.1', server:name().port, {wait_connected = 1})
        errors = errors + (c.state == 'error' and 1 or 0)
        c:close()
    end
    t:is(errors, 200, 'bytes')
    server:close()
    compat.box_tuple_extension = 'default'
end)

test:test('reconnects', function(t)
    t:plan(5)
    local clients = {}
    local server, address = serve(function(s, header)
        if header[TYPE] == 10 then
            table.insert(clients, s)
            reply(s, header, {[DATA] = {#clients}})
        end
    end)
    local c = netbox.connect(address, {reconnect_after = 0.01})
    local log = {}
    c:on_connect(function() table.insert(log, 'c') end)
    c:on_disconnect(function() table.insert(log, 'd') end)
    t:is(c:call('f'), 1, 'a call')
    for _ = 1, 3 do
        clients[#clients]:close()
        wait_until(function() return c.state ~= 'active' end)
        t:ok(c:call('f', {}, {timeout = 5}) ~= nil, 'a call behind a reconnect')
    end
    t:is(table.concat(log), 'dcdcdc', 'triggers')
    c:close()
    server:close()
end)

test:test('no leaks', function(t)
    t:plan(5)
    local server, address = serve(function(s, header)
        if header[TYPE] == 10 then
            reply(s, header, {[DATA] = {1}})
        end
    end)
    netbox.connect(address):close()
    local before = descriptors()
    for _ = 1, 30 do
        netbox.connect(address):call('f')
    end
    t:ok(wait_until(function() return descriptors() <= before end), 'connections nobody holds')
    for _ = 1, 30 do
        netbox.connect(address, {wait_connected = false})
        netbox.connect('127.0.0.1:1', {wait_connected = false, reconnect_after = 0.001})
    end
    t:ok(wait_until(function() return descriptors() <= before end), 'attempts nobody holds')
    local list = {}
    for i = 1, 100 do
        list[i] = netbox.connect(address)
    end
    for i = 1, 100 do
        list[i]:close()
    end
    t:ok(wait_until(function() return descriptors() <= before end), 'closed ones')
    local c = netbox.connect(address)
    local f = fiber.new(function() return c:ping{timeout = 100} end)
    f:set_joinable(true)
    fiber.sleep(0.01)
    f:cancel()
    local ok = f:join()
    t:ok(ok, 'a cancelled ping')
    f = fiber.new(function() return c:eval('never', {}) end)
    f:set_joinable(true)
    fiber.sleep(0.01)
    f:cancel()
    local _, err = f:join()
    t:is(tostring(err), 'fiber is cancelled', 'a cancelled request')
    c:close()
    server:close()
end)

-- Where the collector rests, nothing but the end of the call itself can close a socket.
test:test('a cancelled connect', function(t)
    t:plan(8)
    local open = 0
    local silent = socket.tcp_server('127.0.0.1', 0, function(s)
        open = open + 1
        s:read(1)
        open = open - 1
    end)
    local address = '127.0.0.1:' .. silent:name().port
    local before = descriptors()
    collectgarbage('stop')
    for _, opts in ipairs{{}, {reconnect_after = 0.01}, {wait_connected = 100}} do
        local f = fiber.new(netbox.connect, address, opts)
        f:set_joinable(true)
        t:ok(wait_until(function() return open > 0 end), 'connected')
        f:cancel()
        local ok, err = f:join()
        t:is(not ok and tostring(err), 'fiber is cancelled', 'raises')
        wait_until(function() return open == 0 end)
    end
    fiber.sleep(0.03)
    t:is(open, 0, 'nothing is left, or comes again')
    collectgarbage('restart')
    silent:close()
    t:ok(descriptors() <= before, 'descriptors')
end)

-- The program's own server.
test:test('streams, watchers and pages of a server', function(t)
    t:plan(12)
    local dir = fio.tempdir()
    box.cfg{listen = 'unix/:' .. dir .. '/s', work_dir = dir, log_level = 3}
    box.schema.user.grant('guest', 'super')
    local space = box.schema.space.create('t')
    space:create_index('pk')
    for i = 1, 5 do
        space:insert{i}
    end
    local c = netbox.connect(box.cfg.listen)
    t:ok(c.peer_protocol_features.streams and c.peer_protocol_features.watchers, 'features')
    local stream = c:new_stream()
    stream:begin()
    t:ok(not pcall(stream.begin, stream), 'a transaction in it')
    t:ok(pcall(stream.rollback, stream), 'rollback')
    stream:begin()
    stream.space.t:insert{100}
    t:is(c.space.t:get(100), nil, 'unseen by others')
    stream:rollback()
    t:is(c.space.t:get(100), nil, 'taken back')
    t:is_deeply({stream:eval('return box.is_in_txn()')}, {false}, 'and over')
    local got = {}
    local w = c:watch('key', function(_, value) table.insert(got, tostring(value)) end)
    wait_until(function() return #got == 1 end)
    box.broadcast('key', 'one')
    wait_until(function() return #got == 2 end)
    box.broadcast('key', 'two')
    t:ok(wait_until(function() return #got == 3 end), 'events')
    t:is(table.concat(got, ' '), 'nil one two', 'in order')
    t:is(c:watch_once('key'), 'two', 'watch_once')
    w:unregister()
    box.broadcast('key', 'three')
    c:ping()
    t:is(#got, 3, 'none behind unregister')
    local seen, position = {}, nil
    repeat
        local rows
        rows, position = c.space.t:select({}, {limit = 2, fetch_pos = true, after = position})
        for _, row in ipairs(rows) do
            table.insert(seen, row[1])
        end
    until position == nil
    t:is_deeply(seen, {1, 2, 3, 4, 5}, 'pages')
    c:close()
    t:is(c.state, 'closed', 'closed')
    box.cfg{listen = box.NULL}
end)

os.exit(test:check() and 0 or 1)
