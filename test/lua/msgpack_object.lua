#!/usr/bin/env tarn
-- SPDX-License-Identifier: BSD-2-Clause
-- msgpack.object and its iterator, which the reference has from 2.10 on.
local tap = require('tap')
local fio = require('fio')
local msgpack = require('msgpack')
local buffer = require('buffer')
local json = require('json')

local test = tap.test('msgpack_object')
test:plan(4)

local value = {1, 'two', {a = {4}}, box.NULL, {}}
local object = msgpack.object(value)

test:test('objects', function(t)
    t:plan(16)
    t:ok(msgpack.is_object(object) and not msgpack.is_object({}) and not msgpack.is_object(nil) and
         not msgpack.is_object(newproxy(true)), 'is_object')
    t:is(type(object), 'userdata', 'type')
    t:is(json.encode(object:decode()), json.encode(value), 'decode')
    t:is(msgpack.encode(object), msgpack.encode(value), 'encoded as it is')
    t:is(msgpack.encode({object, x = 1}), msgpack.encode({value, x = 1}), 'inside of others, too')
    t:is(json.encode({object}), json.encode({value}), 'json')
    t:is(object[1] .. object[2], '1two', 'fields by number')
    t:is(object[3].a[1], 4, 'and deeper')
    t:ok(object[0] == nil and object[6] == nil and object[1.5] == nil and object.x == nil, 'no such')
    t:is(msgpack.object({get = 1, [7] = 2}):get('get'), 1, 'get() of a method\'s name')
    t:is(msgpack.object({get = 1, [7] = 2})[7], 2, 'a map by number')
    t:is(msgpack.object(5)[1], nil, 'a scalar has no fields')
    t:is(tostring(object), 'msgpack.object', 'tostring')
    local raw = msgpack.encode(value)
    t:is(msgpack.encode(msgpack.object_from_raw(raw)), raw, 'from a string')
    local b = buffer.ibuf()
    msgpack.encode(value, b)
    local from_buffer = msgpack.object_from_raw(b.rpos, b:size())
    b:recycle()
    t:is(msgpack.encode(from_buffer), raw, 'from a buffer that is gone')
    local refused = 0
    for _, bad in ipairs({'', '\xc1', '\x91', '\x01\x01', raw .. '\0', raw:sub(1, -2), 5, {}}) do
        refused = refused + (pcall(msgpack.object_from_raw, bad) and 0 or 1)
    end
    t:is(refused, 8, 'bad input')
end)

test:test('iterators', function(t)
    t:plan(12)
    local it = object:iterator()
    t:ok(not pcall(it.decode_map_header, it), 'it is no map')
    t:is(it:decode_array_header(), 5, 'an array')
    t:is(it:decode(), 1, 'decode')
    it:skip()
    local part = it:take()
    t:is(it:decode(), nil, 'nil')
    t:is(it:decode_array_header(), 0, 'an empty array')
    for _, method in ipairs({'decode', 'skip', 'take', 'decode_array_header'}) do
        t:ok(not pcall(it[method], it), method .. ' at the end')
    end
    it = nil
    collectgarbage()
    collectgarbage()
    t:is(part.a[1], 4, 'a part lives on')
    t:is(part:decode().a[1], 4, 'and its parts')
    it = object:iterator()
    it:decode_array_header()
    t:is(msgpack.encode(it:take_array(2)), msgpack.encode({1, 'two'}), 'take_array')
end)

test:test('wrong use', function(t)
    t:plan(4)
    t:ok(not pcall(msgpack.object), 'no value')
    t:ok(not pcall(msgpack.object, print), 'no form')
    t:ok(not pcall(object.decode, 1) and not pcall(object.iterator, object:iterator()), 'wrong objects')
    t:ok(not pcall(object:iterator().take_array, object:iterator(), 2), 'too many')
end)

test:test('in the database', function(t)
    t:plan(4)
    box.cfg{work_dir = fio.tempdir(), log_level = 0, wal_mode = 'none'}
    local s = box.schema.space.create('test')
    s:create_index('primary')
    s:insert(msgpack.object({1, {x = 'y'}}))
    t:is(s:get(1)[2].x, 'y', 'insert')
    t:is(s:get(msgpack.object({1}))[1], 1, 'a key')
    t:is(s:get({msgpack.object(1)})[1], 1, 'a part of a key')
    t:ok(not pcall(s.insert, s, msgpack.object(5)), 'a scalar is no row')
end)

os.exit(test:check() and 0 or 1)
