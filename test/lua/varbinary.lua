#!/usr/bin/env tarn
-- SPDX-License-Identifier: BSD-2-Clause
-- The modules varbinary and compat, and options for one call of msgpack and yaml.
local tap = require('tap')
local ffi = require('ffi')
local fio = require('fio')
local json = require('json')
local yaml = require('yaml')
local msgpack = require('msgpack')
local compat = require('compat')
local varbinary = require('varbinary')

local test = tap.test('varbinary')
test:plan(5)

test:test('objects', function(t)
    t:plan(17)
    local bin = varbinary.new('\xff\xfe')
    t:ok(varbinary.is(bin) and not varbinary.is('x') and not varbinary.is(nil), 'is')
    t:is(#bin, 2, 'length')
    t:is(tostring(bin), '\xff\xfe', 'text')
    t:ok(bin == varbinary.new('\xff\xfe') and bin == '\xff\xfe', 'equal')
    t:ok(bin ~= varbinary.new('\xff') and bin ~= 'x' and bin ~= nil and bin ~= 1 and bin ~= box.NULL, 'not equal')
    t:is(tostring(varbinary.new(ffi.cast('const char *', 'abc'), 2)), 'ab', 'from a pointer')
    t:is(tostring(varbinary.new(ffi.new('char[3]', 'xyz'), 3)), 'xyz', 'from an array')
    t:ok(varbinary.new(bin) == bin and #varbinary.new() == 0, 'from another, from nothing')
    t:is(#varbinary.new(('x'):rep(1e6)), 1e6, 'a large one')
    for _, args in ipairs({{1}, {{}}, {ffi.cast('const char *', 'abc')}, {5LL, 1}, {box.NULL, 1}, {bin.__data, -1},
                           {bin.__data, 0 / 0}, {print}}) do
        t:ok(not pcall(varbinary.new, unpack(args, 1, 2)), 'refused')
    end
end)

test:test('codecs', function(t)
    t:plan(11)
    local bin = varbinary.new('\xff\xfe')
    t:is(msgpack.encode(bin), '\xc4\x02\xff\xfe', 'MessagePack')
    t:is(yaml.encode(bin), '--- !!binary //4=\n...\n', 'YAML')
    t:is(json.encode(varbinary.new('ab')), '"ab"', 'JSON')
    t:is(tostring(box.tuple.new{bin}), '[!!binary //4=]', 'a tuple')
    t:is(type(msgpack.decode('\xc4\x02\xff\xfe')), 'string', 'decoded as a string')
    compat.binary_data_decoding = 'new'
    t:ok(varbinary.is(msgpack.decode('\xc4\x02\xff\xfe')), 'or as it was')
    t:ok(varbinary.is(yaml.decode('!!binary //4=')), 'from YAML')
    t:ok(box.tuple.new{bin}[1] == bin and box.tuple.new{bin}:totable()[1] == bin, 'from a tuple')
    t:is(msgpack.encode((msgpack.decode('\x91\xc4\x01\xff'))), '\x91\xc4\x01\xff', 'there and back')
    compat.binary_data_decoding = 'default'
    t:is(type(box.tuple.new{bin}[1]), 'string', 'and back')
    t:is(type(msgpack.decode('\xc5\0\x01x')), 'string', 'of another length')
end)

test:test('index', function(t)
    t:plan(4)
    local dir = fio.tempdir()
    box.cfg{work_dir = dir, log = 'x.log'}
    local s = box.schema.space.create('s')
    s:create_index('pk', {parts = {1, 'varbinary'}})
    s:create_index('hash', {type = 'HASH', parts = {1, 'varbinary'}})
    for i = 5, 1, -1 do
        s:insert{varbinary.new(string.char(i, 255)), i}
    end
    t:is(s:select(varbinary.new('\3'), {iterator = 'GE'})[1][2], 3, 'tree')
    t:is(s.index.hash:get(varbinary.new('\2\255'))[2], 2, 'hash')
    t:is(select(2, pcall(s.get, s, 'a')).code, box.error.KEY_PART_TYPE, 'a string is none')
    t:is(select(2, pcall(s.insert, s, {varbinary.new('\2\255')})).code, box.error.TUPLE_FOUND, 'twice')
    fio.rmtree(dir)
end)

test:test('compat', function(t)
    t:plan(17)
    t:is(json.encode('a/b'), '"a\\/b"', 'a slash')
    compat{json_escape_forward_slash = 'new'}
    t:is(json.encode('a/b') .. json.new().encode('a/b'), '"a/b""a/b"', 'as it is')
    t:is(compat.json_escape_forward_slash.current, 'new', 'current')
    t:is(compat.json_escape_forward_slash.default, 'old', 'default')
    compat.yaml_pretty_multiline = 'new'
    t:is(yaml.encode('a: x\n- b\n'), '--- |\n  a: x\n  - b\n...\n', 'lines')
    t:is_deeply(getmetatable(compat).__serialize(), {
        {json_escape_forward_slash = 'new'}, {yaml_pretty_multiline = 'new'}, {binary_data_decoding = 'default (old)'},
        {box_tuple_extension = 'default (old)'}, {box_session_push_deprecation = 'default (old)'},
    }, 'in the console')
    t:is(loadstring(compat.dump()) ~= nil, true, 'dump')
    local dumped = compat.dump('old')
    t:ok(dumped:find("yaml_pretty_multiline        = 'old'", 1, true), 'of old ones')
    loadstring(dumped)()
    t:is(json.encode('/'), '"\\/"', 'loaded')
    compat{json_escape_forward_slash = 'default', yaml_pretty_multiline = 'default'}
    t:is(compat.json_escape_forward_slash.current, 'default', 'back')
    local calls = {}
    compat.add_option{name = 'mine', default = 'new', brief = 'b', action = function(is_new)
        table.insert(calls, is_new)
    end, run_action_now = true}
    compat.mine = 'old'
    compat.mine = 'default'
    t:is_deeply(calls, {true, false, true}, 'an option of the user')
    t:is(select(2, pcall(function() compat.x = 'new' end)):match('Invalid.*'), 'Invalid option x', 'unknown')
    t:ok(not pcall(function() return compat.x end) and not pcall(compat, 1) and not pcall(compat.dump, 'x'), 'refused')
    t:ok(not pcall(function() compat.mine = 1 end), 'no such value')
    t:ok(not pcall(compat.add_option, {name = 'y'}) and not pcall(compat.add_option, 1), 'no option')
    t:is(require('tarantool').compat, compat, 'by the module tarantool')
    t:ok(#compat.help() > 0, 'help')
end)

test:test('options of a call', function(t)
    t:plan(8)
    t:ok(not pcall(msgpack.encode, 0 / 0, {encode_invalid_numbers = false}), 'msgpack: numbers')
    t:is(msgpack.encode(print, {encode_invalid_as_nil = true}), '\xc0', 'msgpack: functions')
    t:is(msgpack.encode({{{}}}, {encode_max_depth = 1, encode_deep_as_nil = true}), '\x91\xc0', 'msgpack: depth')
    t:ok(msgpack.cfg.encode_invalid_numbers and not pcall(msgpack.encode, print), 'the instance stays')
    t:ok(not pcall(yaml.encode, 0 / 0, {encode_invalid_numbers = false}), 'yaml: numbers')
    t:is(yaml.encode(print, {encode_invalid_as_nil = true}), '--- null\n...\n', 'yaml: functions')
    t:is(yaml.encode(print, {encode_invalid_as_nil = true, tag_handle = '!x!', tag_prefix = 'y'}),
         '%TAG !x! y\n--- null\n...\n', 'yaml: with a tag')
    t:ok(not pcall(yaml.decode, '[nan]', {decode_invalid_numbers = false}), 'yaml.decode')
end)

os.exit(test:check() and 0 or 1)
