#!/usr/bin/env tarn
-- SPDX-License-Identifier: BSD-2-Clause
-- Error objects: their life, chains, what is thrown by C. The forms that both programs
-- have are in test/compat/error_*.lua.
local tap = require('tap')
local fiber = require('fiber')

local test = tap.test('error')
test:plan(10)

test:test('a long custom type', function(t)
    t:plan(1)
    local kept = ('x'):rep(63)
    local bad = 0
    for i = 1, 200 do
        -- Errors before it leave other bytes in the memory.
        box.error.new{code = 5, reason = ('y'):rep(i)}
        if box.error.new(('x'):rep(70), 'text').type ~= kept then bad = bad + 1 end
        if i % 20 == 0 then collectgarbage() end
    end
    t:is(bad, 0, 'is cut')
end)

test:test('the life of an object', function(t)
    t:plan(3)
    local e = box.error.new{code = 5, reason = 'kept'}
    for _ = 1, 1000 do
        pcall(box.error, box.error.UNKNOWN)
        box.error.clear()
    end
    collectgarbage()
    collectgarbage()
    t:is(e.message, 'kept', 'kept by a script')
    local chain = e
    for i = 1, 1000 do
        local top = box.error.new{code = i, reason = tostring(i)}
        top:set_prev(chain)
        chain = top
    end
    e, chain = nil, chain
    collectgarbage()
    local count = 0
    local link = chain
    while link ~= nil do link, count = link.prev, count + 1 end
    t:is(count, 1001, 'a long chain')
    chain, link = nil, nil
    collectgarbage()
    collectgarbage()
    t:is(box.error.last(), nil, 'none is left')
end)

test:test('each fiber has its own last error', function(t)
    t:plan(2)
    pcall(box.error, box.error.UNKNOWN)
    local other
    local fb = fiber.new(function() other = box.error.last() end)
    fb:set_joinable(true)
    fb:join()
    t:is(other, nil, 'none in a new fiber')
    t:is(box.error.last().code, box.error.UNKNOWN, 'ours is still there')
end)

test:test('where it was raised', function(t)
    t:plan(2)
    local ok, e = pcall(function()
        box.error(box.error.UNKNOWN)
    end)
    local place = not ok and e.trace[1]
    t:ok(place.file:find('error.lua$'), 'the file')
    t:is(place.line, debug.getinfo(1, 'S').linedefined + 3, 'the line')
end)

test:test('what goes with an error', function(t)
    t:plan(8)
    local e = box.error.new({code = 5, reason = 'A', type = 'B', list = {1, {a = 2}}, name = 'x', prev = 'no', 7})
    t:is_deeply({e.code, e.message, e.name, e.list}, {5, 'A', 'x', {1, {a = 2}}}, 'fields of the table')
    t:is(e:unpack().name, 'x', 'unpack() has them')
    t:is(e.prev, nil, 'but no names of an error itself')
    local msgpack = require('msgpack')
    msgpack.cfg{encode_error_as_ext = true}
    t:is(msgpack.decode(msgpack.encode(e)).list[2].a, 2, 'they go along in MessagePack')
    msgpack.cfg{encode_error_as_ext = false}
    local ok, thrown = pcall(box.error, {reason = 'A', name = 'y'})
    t:is(not ok and thrown.name, 'y', 'of one that is thrown')
    t:ok(not pcall(box.error.new, {reason = 'A', f = print}), 'a value that has no MessagePack')
    ok, thrown = pcall(box.error.new, {reason = 'A', f = print, g = 'x'})
    t:is(tostring(thrown):match("unsupported Lua type 'function'") ~= nil, true, 'says so')
    box.cfg{work_dir = require('fio').tempdir(), wal_mode = 'none', log_level = 0}
    box.cfg{read_only = true}
    ok, thrown = pcall(box.schema.space.create, 'test')
    box.cfg{read_only = false}
    t:is(not ok and thrown.reason, 'config', 'why the instance is read-only')
end)

test:test('wrong use', function(t)
    local e = box.error.new(0)
    local cases = {
        function() box.error('only a type') end,
        function() box.error.new() end,
        function() box.error(true) end,
        function() e.code = 1 end,
        function() e.raise() end,
        function() e.unpack('x') end,
        function() e:set_prev(5) end,
        function() e:set_prev(e) end,
        function() box.error.set({}) end,
        function() return e .. {} end,
        function() return e + 1 end,
        function() return #e end,
        function() return e() end,
    }
    t:plan(#cases + 2)
    for i, f in ipairs(cases) do
        t:ok(i == 10 or not pcall(f), 'case ' .. i)
    end
    t:is(e[1], nil, 'a number')
    t:is(e[{}], nil, 'a table')
end)

test:test('errors as an extension of MessagePack', function(t)
    t:plan(9)
    local msgpack = require('msgpack').new()
    local e = box.error.new{code = 5, reason = 'top'}
    t:is(msgpack.decode(msgpack.encode(e)), 'top', 'a text, unless asked for')
    msgpack.cfg{encode_error_as_ext = true}
    local chain = box.error.new('Own', 'cause')
    local _, root = pcall(box.error, box.error.NO_SUCH_SPACE, 'here')
    chain:set_prev(root)
    e:set_prev(chain)
    local got = msgpack.decode(msgpack.encode({e}))[1]
    t:is(type(got), 'cdata', 'an object')
    t:ok(box.error.is(got) and got ~= e, 'a new one')
    t:is(got.message .. got.code .. got.type, 'top5ClientError', 'its attributes')
    t:is(got.prev.message .. got.prev.type .. got.prev.base_type, 'causeOwnCustomError', 'its cause')
    t:is(got.prev.prev.message .. got.prev.prev.code, root.message .. root.code, 'the cause of that')
    t:is(got.prev.prev.prev, nil, 'and no more')
    t:is(got.trace[1].line, e.trace[1].line, 'where it was made')
    t:is(msgpack.encode(got), msgpack.encode(e), 'there and back')
end)

test:test('extensions that are no errors', function(t)
    t:plan(2)
    local msgpack = require('msgpack').new()
    msgpack.cfg{encode_error_as_ext = true}
    local e = box.error.new('Own', 'text')
    e:set_prev(box.error.new{code = 5, reason = 'why'})
    local whole = msgpack.encode(e)
    local head, body = whole:sub(1, 3), whole:sub(4)
    local errors, others = 0, 0
    local function try(s)
        local ok, value = pcall(msgpack.decode, s)
        if ok and box.error.is(value) then
            -- Whatever it is, it can be looked at.
            assert(value:unpack().message == value.message and tostring(value) ~= nil)
            errors = errors + 1
        else
            others = others + 1
        end
    end
    for i = 0, #body - 1 do
        try(string.char(0xc7, i, 3) .. body:sub(1, i))
    end
    t:is(errors, 0, 'cut short')
    for i = 1, #body do
        for _, byte in ipairs({0, 0x80, 0x90, 0xa0, 0xc0, 0xc1, 0xdf, 0xff}) do
            try(head .. body:sub(1, i - 1) .. string.char(byte) .. body:sub(i + 1))
        end
    end
    t:ok(errors > 0 and others > 0, 'every byte changed')
end)

test:test('box.error.is', function(t)
    t:plan(1)
    t:ok(box.error.is(box.error.new('A', 'b')) and not box.error.is('A') and not box.error.is(nil) and
         not box.error.is({}) and not box.error.is(1ULL), 'tells errors from the rest')
end)

test:test('fields of errors of the database', function(t)
    t:plan(15)
    local s = box.schema.space.create('t', {format = {{'id', 'unsigned'}, {'name', 'string'}}})
    s:create_index('pk')
    s:create_index('name', {parts = {'name'}})
    s:insert{1, 'a'}
    local function failed(f, ...)
        local ok, e = pcall(f, ...)
        return not ok and e:unpack() or {}
    end
    local function has(e, expected, name)
        local found = {}
        for k in pairs(expected) do
            local v = e[k]
            found[k] = box.tuple.is(v) and v:totable() or v
        end
        t:is_deeply(found, expected, name)
    end
    has(failed(s.insert, s, {2, 'a'}), {space = 't', index = 'name', old_tuple = {1, 'a'},
                                        new_tuple = {2, 'a'}}, 'a duplicate')
    s:insert{2, 'b'}
    has(failed(s.update, s, 2, {{'=', 1, 1}}), {space = 't', index = 'pk', old_tuple = {1, 'a'},
                                                new_tuple = {1, 'b'}}, 'of an update')
    has(failed(s.insert, s, {3, 4}), {space = 't', field = '2', field_name = 'name',
                                      expected = 'string', new_tuple = {3, 4}}, 'a wrong type')
    has(failed(s.insert, s, {3}), {space = 't', field = '2', field_name = 'name'}, 'a missing field')
    for _, f in ipairs{s.get, s.delete, s.select, s.update} do
        has(failed(f, s, 'x', {}), {space = 't', index = 'pk', key = {'x'}, expected = 'unsigned'},
            'a wrong key')
    end
    has(failed(s.index.name.min, s.index.name, {1}), {space = 't', index = 'name', key = {1}}, 'min()')
    has(failed(s.update, s, 1, {{'+', 2, 1}}), {space = 't', operation = '+', field = '2',
                                                field_name = 'name', key = {1}}, 'an update')
    box.schema.user.create('joe')
    box.schema.user.grant('joe', 'write', 'space', 't')
    box.session.su('joe', function()
        has(failed(s.select, s), {access_type = 'Read', object_type = 'space', object_name = 't',
                                  user = 'joe'}, 'a grant that is missing')
        local e = failed(s.insert, s, {1, 'x'})
        has(e, {index = 'pk', new_tuple = {1, 'x'}}, 'a duplicate')
        t:is(e.old_tuple, nil, 'what he may not read is not told')
    end)
    t:is(failed(box.error, box.error.NO_SUCH_USER, 'ann').user, 'ann', 'of an error made by code')
    local text = require('console').eval("box.space.t:insert{1, 'b'}")
    t:is(text, [[
---
- error: Duplicate key exists in unique index 'pk' in space 't'
  fields:
    index: pk
    new_tuple: [1, 'b']
    old_tuple: [1, 'a']
    space: t
...
]], 'in the console')
end)

os.exit(test:check() and 0 or 1)
