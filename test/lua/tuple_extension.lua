-- SPDX-License-Identifier: BSD-2-Clause
-- Tuples with the names of their fields over the wire: their bytes, and net.box with them.
local tap = require('tap')
local fio = require('fio')
local buffer = require('buffer')
local compat = require('compat')
local msgpack = require('msgpack')
local netbox = require('net.box')
local socket = require('socket')
local iproto = box.iproto
local key, kind = iproto.key, iproto.type

local dir = fio.tempdir()
box.cfg{work_dir = dir, listen = 'unix/:./sock', log_level = 3}
local address = 'unix/:' .. dir .. '/sock'
local s = box.schema.space.create('s', {format = {
    {'id', 'unsigned'}, {'name', 'string', is_nullable = true},
}})
s:create_index('pk')
s:create_index('by_name', {parts = {{'name', is_nullable = true}}, unique = false})
s:insert{1, 'a'}
s:insert{2, 'b'}
box.schema.user.grant('guest', 'super')

rawset(_G, 'give', function(...)
    return s:get(1), {t = s:get(2), plain = box.tuple.new{5, 6}}, ...
end)
rawset(_G, 'name_of', function(t, more)
    return box.tuple.is(t) and t.name, more and more.inner.name
end)

local test = tap.test('tuple extension')
test:plan(7)

-- A client that has said in ID what it can do.
local function connect(features)
    local peer = socket.tcp_connect('unix/', dir .. '/sock')
    peer:read(128)
    local self = {}
    function self.ask(header, body)
        peer:write(iproto.encode_packet(header, body))
        local data, head, answer, pos = peer:read(5)
        data = data .. peer:read((msgpack.decode(data)))
        head, answer, pos = iproto.decode_packet(data)
        assert(pos == #data + 1)
        -- The body's bytes are at its end.
        return head, answer, data
    end
    function self.close() peer:close() end
    self.id = select(2, self.ask({request_type = kind.ID}, {version = 9, features = features}))
    return self
end

local function has(data, bytes)
    return data:find(bytes, 1, true) ~= nil
end

-- {name = 'id', type = 'unsigned'}, {name = 'name', type = 'string', is_nullable = true}, in any
-- order of keys: what follows a format's number.
local function formats_of(data)
    local from = data:find('\x60\x81', 1, true)
    return from ~= nil and msgpack.decode(data, from + 1)
end

test:test('bytes of rows', function(t)
    t:plan(13)
    local plain = connect{0, 1}
    local _, _, data = plain.ask({request_type = kind.SELECT, sync = 1},
                                 {space_id = s.id, limit = 1, key = {}})
    t:ok(has(data, '\x81\x30\xdd\0\0\0\x01\x92\x01\xa1a'), 'an array for who does not ask')
    plain.close()
    local c = connect{7}
    local list = {}
    for _, feature in ipairs(c.id:decode()[key.FEATURES]) do
        list[feature] = true
    end
    t:is(c.id:decode()[key.VERSION], 9, 'the version')
    t:ok(list[7] and list[8] and list[9] and list[11] and not list[10] and not list[12],
         'features')
    local function row(what, body, fields)
        local _, _, bytes = c.ask({request_type = what}, body)
        local formats = formats_of(bytes)
        local id, format = next(formats)
        t:is_deeply(format, {{name = 'id', type = 'unsigned'},
                             {name = 'name', type = 'string', is_nullable = true}}, 'the format')
        local content = msgpack.encode(id) .. fields
        t:ok(has(bytes, '\xc7' .. string.char(#content) .. '\x07' .. content) or
             has(bytes, ({[4] = '\xd6', [8] = '\xd7'})[#content] .. '\x07' .. content), 'the tuple')
    end
    row(kind.SELECT, {space_id = s.id, limit = 1, key = {}}, '\x92\x01\xa1a')
    row(kind.REPLACE, {space_id = s.id, tuple = {3, 'ccccc'}}, '\x92\x03\xa5ccccc')
    row(kind.UPDATE, {space_id = s.id, key = {3}, tuple = {{'=', 1, 'd'}}}, '\x92\x03\xa1d')
    row(kind.DELETE, {space_id = s.id, key = {3}}, '\x92\x03\xa1d')
    _, _, data = c.ask({request_type = kind.DELETE}, {space_id = s.id, key = {3}})
    t:ok(has(data, '\x82\x30\xdd\0\0\0\0\x60\x80'), 'no row, no format')
    _, _, data = c.ask({request_type = kind.EVAL}, {expr = 'return box.space.s:get(1)', tuple = {}})
    t:ok(has(data, '\x81\x30\xdd\0\0\0\x01\x92\x01\xa1a'), 'calls were not asked for')
    c.close()
end)

test:test('bytes of calls', function(t)
    t:plan(8)
    local c = connect{8, 9}
    local _, _, data = c.ask({request_type = kind.CALL}, {function_name = 'give', tuple = {}})
    t:ok(has(data, '\x82\x30\xdd\0\0\0\x02'), 'the count of values')
    t:ok(not has(data, '\x92\x05\x06') or has(data, '\x07') , 'one without a format, too')
    t:ok(has(data, '\x07'), 'extensions')
    _, _, data = c.ask({request_type = kind.CALL_16}, {function_name = 'give', tuple = {}})
    t:ok(not has(data, '\x60'), 'the old call has none')
    local function arguments(args, formats)
        local body = '\x83\x22\xa7name_of\x21' .. args .. '\x60' .. formats
        local head, answer = c.ask({request_type = kind.CALL}, body)
        return head.request_type == 0 and answer:decode()[key.DATA][1] or
               answer:decode()[key.ERROR_24]
    end
    local formats = msgpack.encode(setmetatable({[300] = {{name = 'id'}, {name = 'name'}}},
                                                {__serialize = 'map'}))
    t:is(arguments('\x91\xc7\x07\x07\xcd\x01\x2c\x92\x01\xa1z', formats), 'z', 'an argument')
    t:is(arguments('\x91\xd6\x07\x01\x92\x01\x02', formats), 'Can not parse a tuple from MsgPack',
         'a format that was not told')
    t:is(arguments('\x91\xc7\x03\x07\xcd\x01\x2c', formats), 'Can not parse a tuple from MsgPack',
         'no array')
    t:is(arguments('\x91\x01', '\x81\x01\x91\x80'), 'Invalid MsgPack - tuple format',
         'a field without a name')
    c.close()
end)

test:test('broken formats', function(t)
    local bad = {
        '\x01', '\x91\x01', '\x81\xa1a\x90', '\x81\x01\x01', '\x81\x01\x91\x01', '\x81\x01\x91\x81\xa4name\x01',
        '\x81\x01\x91\x81\xa4name\xa0', '\x81\x01\x91\x81\xa4name\xa3a\0b', '\x81\x01\x91\x81\x01\x02',
        '\x81\x01\x92\x81\xa4name\xa1a\x81\xa4type\xa3any',
    }
    t:plan(#bad + 1)
    local c = connect{9}
    for _, formats in ipairs(bad) do
        local head = c.ask({request_type = kind.EVAL}, '\x83\x27\xa8return 1\x21\x90\x60' .. formats)
        t:is(head.request_type, 0x8000 + box.error.INVALID_MSGPACK,
             formats:gsub('[^%g]', function(ch) return ('\\x%02x'):format(ch:byte()) end))
    end
    local head = c.ask({request_type = kind.EVAL}, '\x83\x27\xa8return 1\x21\x90\x60\x80')
    t:is(head.request_type, 0, 'none at all')
    c.close()
end)

test:test('net.box without a schema', function(t)
    t:plan(17)
    local c = netbox.connect(address, {fetch_schema = false})
    t:is(c.space.s:get(1).name, 'a', 'get')
    t:is(c.space.s:select(nil, {limit = 1})[1].name, 'a', 'select')
    t:is(c.space[s.id]:get(2).name, 'b', 'by number')
    t:is(c.space.s.index.by_name:select('b')[1].id, 2, 'an index')
    t:is(c.space.s.index.by_name:max().name, 'b', 'max')
    t:is(c.space.s.index.pk:count(), 2, 'count')
    t:is(c.space.s:insert{3, 'c'}.name, 'c', 'insert')
    t:is(c.space.s:update(3, {{'=', 'name', 'd'}}).name, 'd', 'update')
    t:is(c.space.s:upsert({3}, {{'=', 2, 'e'}}), nil, 'upsert')
    t:is(c.space.s:delete(3).name, 'e', 'delete')
    t:is(c.space.s:get(3), nil, 'nothing')
    t:is(c.space.s:get(1, {is_async = true}):wait_result().name, 'a', 'a future')
    local _, err = pcall(c.space.none.get, c.space.none, 1)
    t:is(tostring(err), "Space 'none' does not exist", 'no such space')
    _, err = pcall(function() return c.space.s.index.none:get(1) end)
    t:is(tostring(err), "No index 'none' is defined in space 's'", 'no such index')
    local ibuf = buffer.ibuf()
    local size = c.space.s:select(nil, {buffer = ibuf, skip_header = true, limit = 1})
    t:is_deeply(msgpack.decode(ibuf.rpos, size), {{1, 'a'}}, 'a buffer has arrays')
    t:is_deeply(c.space.s:select(nil, {return_raw = true, limit = 1}):decode(), {{1, 'a'}},
                'raw data has arrays')
    t:is(type(c:call('give')), 'table', 'calls as ever')
    c:close()
end)

test:test('net.box with tuples in calls', function(t)
    t:plan(12)
    compat.box_tuple_extension = 'new'
    local c = netbox.connect(address)
    local first, second, third = c:call('give', {s:get(2)})
    t:is(first.name, 'a', 'a result')
    t:is(second.t.name, 'b', 'inside of a table')
    t:ok(box.tuple.is(second.plain) and #second.plain == 2, 'without names')
    t:is(third.name, 'b', 'an argument that comes back')
    t:is_deeply({c:call('name_of', {s:get(1), {inner = s:get(2)}})}, {'a', 'b'}, 'arguments')
    t:is(c:eval('return ...', {s:get(1)}).name, 'a', 'eval')
    t:is(c:call('give', {}, {is_async = true}):wait_result()[1].name, 'a', 'a future')
    t:is(c:call('give', {}, {return_raw = true}):decode()[2].t[2], 'b', 'raw')
    t:ok(not pcall(c.call, c, 'give', {s:get(1), print}), 'an argument that has no form')
    local big = box.tuple.new{1, ('x'):rep(5000)}
    t:is(#c:eval('return ...', {big})[2], 5000, 'a large one')
    t:is(c.space.s:get(1).name, 'a', 'rows')
    compat.box_tuple_extension = 'old'
    local old = netbox.connect(address)
    t:ok(not old.peer_protocol_features.call_ret_tuple_extension and
         old.peer_protocol_features.dml_tuple_extension, 'not offered')
    old:close()
    c:close()
    compat.box_tuple_extension = 'default'
end)

test:test('a format that goes', function(t)
    t:plan(2)
    compat.box_tuple_extension = 'new'
    local c = netbox.connect(address)
    local kept = s:get(1)
    s:format{{'id'}, {'renamed', type = 'string', is_nullable = true}}
    rawset(_G, 'kept', function() return kept, s:get(1) end)
    local old, new = c:call('kept')
    t:is(old.name, 'a', 'the tuple keeps its names')
    t:is(new.renamed, 'a', 'the new names')
    c:close()
    compat.box_tuple_extension = 'default'
end)

test:test('is_sync', function(t)
    t:plan(4)
    local c = netbox.connect(address)
    local stream = c:new_stream()
    stream:begin{is_sync = true}
    t:ok(pcall(stream.commit, stream, {is_sync = true}), 'accepted')
    local _, err = pcall(stream.begin, stream, {is_sync = false})
    t:is(tostring(err), 'Illegal parameters, is_sync can only be true', 'false')
    c:close()
    local raw = connect{11}
    local head = raw.ask({request_type = kind.BEGIN, stream_id = 1}, {is_sync = false})
    t:is(head.request_type, 0x8000 + box.error.ILLEGAL_PARAMS, 'false from others')
    head = raw.ask({request_type = kind.BEGIN, stream_id = 1}, {is_sync = 1})
    t:is(head.request_type, 0x8000 + box.error.INVALID_MSGPACK, 'no boolean')
    raw.close()
end)

fio.rmtree(dir)
os.exit(test:check() and 0 or 1)
