-- SPDX-License-Identifier: BSD-2-Clause
-- box.iproto: constants, packets of one's own, handlers in place of the server's.
local tap = require('tap')
local fio = require('fio')
local msgpack = require('msgpack')
local netbox = require('net.box')
local socket = require('socket')
local iproto = box.iproto

local dir = fio.tempdir()
box.cfg{work_dir = dir, listen = 'unix/:./sock', log_level = 4}
box.schema.space.create('test', {id = 512}):create_index('pk')
box.space.test:insert{1, 'one'}
box.schema.user.grant('guest', 'super')
local test = tap.test('iproto')
test:plan(5)

test:test('constants', function(t)
    t:plan(7)
    t:is(iproto.key.SYNC, 1, 'a key')
    t:is(iproto.type.SELECT, 1, 'a type')
    t:is(iproto.flag.COMMIT, 1, 'a flag')
    t:is(iproto.ballot_key.VCLOCK, 2, 'a key of ballots')
    t:is(iproto.metadata_key.SPAN, 5, 'a key of metadata')
    t:is(iproto.raft_key.TERM, 0, 'a key of raft')
    t:is(iproto.protocol_features.streams and iproto.feature.watchers, 3, 'a feature')
end)

test:test('greetings and packets', function(t)
    t:plan(12)
    local greeting = iproto.decode_greeting(iproto.encode_greeting{salt = ('x'):rep(32)})
    t:is(greeting.salt, ('x'):rep(32), 'salt')
    t:is(greeting.protocol, 'Binary', 'protocol')
    t:ok(not pcall(iproto.decode_greeting, ('x'):rep(128)), 'no greeting')
    local packet = iproto.encode_packet({request_type = 64, SYNC = 5}, {data = {1}})
    local header, body, pos = iproto.decode_packet(packet)
    t:is(header.sync, 5, 'a key of the header')
    t:is(header.REQUEST_TYPE, 64, 'in capitals')
    t:is(body:decode()[iproto.key.DATA][1], 1, 'the body')
    t:is(pos, #packet + 1, 'where it ends')
    t:is(select(2, iproto.decode_packet(packet:sub(1, 3))), 2, 'the length is cut')
    t:is(select(2, iproto.decode_packet(packet:sub(1, -3))), 2, 'the packet is cut')
    t:is(select(2, iproto.decode_packet('')), 1, 'nothing')
    t:is(select(2, iproto.decode_packet(iproto.encode_packet{sync = 1})), nil, 'no body')
    t:ok(not pcall(iproto.decode_packet, '\xc0'), 'no packet')
end)

test:test('send', function(t)
    t:plan(8)
    local s = socket.tcp_connect('unix/', dir .. '/sock')
    local server = iproto.decode_greeting(s:read(128))
    t:is(server.version, '2.6.0', 'the greeting of the server')
    s:write(iproto.encode_packet({request_type = iproto.type.EVAL, sync = 9}, {expr = [[
        box.iproto.send(box.session.id(), {request_type = 77, sync = 3}, {data = {'own'}})
        box.iproto.send(box.session.id(), {request_type = 78})
        box.iproto.send(box.session.id(), '\x81\x00\x01', '\x80')
        return box.session.id()]], tuple = {}}))
    local data, packets = '', {}
    local from = 1
    while #packets < 4 do
        local header, body, pos = iproto.decode_packet(data, from)
        if header ~= nil then
            table.insert(packets, {header, body})
            from = pos
        else
            s:readable(5)
            data = data .. (s:sysread(4096) or '')
        end
    end
    t:is(packets[1][1].request_type, 77, 'its type')
    t:is(packets[1][2].data[1], 'own', 'its body')
    t:is(packets[2][2], nil, 'no body')
    t:is(packets[3][1].request_type, 1, 'raw MessagePack')
    local sid = packets[4][2].data[1]
    s:close()
    require('fiber').sleep(0.05)
    t:ok(not pcall(iproto.send, sid, {sync = 1}), 'the session is over')
    t:like(select(2, pcall(iproto.send, box.session.id(), {sync = 1})).message, 'not binary', 'no client')
    t:ok(not pcall(iproto.send, sid, '\xc0'), 'no map')
end)

test:test('override', function(t)
    t:plan(9)
    local c = netbox.connect('unix/:' .. dir .. '/sock')
    local seen
    iproto.override(iproto.type.SELECT, function(sid, header, body)
        seen = {sid, header.SYNC, body.space_id}
        if body.space_id ~= 512 then
            return false
        elseif body.limit == 7 then
            error('own error')
        elseif body.limit == 8 then
            box.error(box.error.ACCESS_DENIED, 'Read', 'space', 'test', 'you')
        end
        require('fiber').sleep(0)
        box.iproto.send(sid, {request_type = 0, sync = header.SYNC, schema_version = box.info.schema_version},
                        {data = {{1, 2, 3}}})
        return true
    end)
    t:is_deeply(c.space.test:select({}, {limit = 5})[1]:totable(), {1, 2, 3}, 'the answer of the handler')
    t:is(seen[3], 512, 'what it was given')
    t:ok(#c.space._vspace:select() > 0, 'the server does what it leaves')
    t:like(tostring(select(2, pcall(c.space.test.select, c.space.test, {}, {limit = 7}))), 'own error', 'an error')
    t:is(select(2, pcall(c.space.test.select, c.space.test, {}, {limit = 8})).code, box.error.ACCESS_DENIED,
         'an error with a code')
    iproto.override(iproto.type.SELECT, nil)
    t:is(c.space.test:get(1)[2], 'one', 'the server again')
    iproto.override(iproto.type.UNKNOWN, function(sid, header)
        box.iproto.send(sid, {request_type = 0, sync = header.sync}, {data = {header.request_type}})
        return true
    end)
    local s = socket.tcp_connect('unix/', dir .. '/sock')
    s:read(128)
    s:write(iproto.encode_packet({request_type = 200, sync = 9}))
    local data = ''
    while iproto.decode_packet(data) == nil do
        s:readable(5)
        data = data .. (s:sysread(4096) or '')
    end
    local _, body = iproto.decode_packet(data)
    t:is(body.data[1], 200, 'a type that is not known')
    iproto.override(iproto.type.UNKNOWN, nil)
    t:ok(c:ping(), 'others as ever')
    t:ok(not pcall(iproto.override, 999, print), 'no such type')
    s:close()
    c:close()
end)

test:test('wrong uses', function(t)
    t:plan(4)
    t:ok(not pcall(iproto.send), 'nothing')
    t:ok(not pcall(iproto.send, 1, 5), 'a header that is no map')
    t:ok(not pcall(iproto.override, iproto.type.OK, print), 'a type that is no request')
    t:ok(not pcall(iproto.override, 1, 5), 'a handler that is none')
end)

fio.rmtree(dir)
os.exit(test:check() and 0 or 1)
