-- SPDX-License-Identifier: BSD-2-Clause
-- The module `protobuf`: the bytes are those that the description of the format gives.
local tap = require('tap')
local pb = require('protobuf')

local test = tap.test('protobuf')
test:plan(6)

local types = {'int32', 'int64', 'uint32', 'uint64', 'sint32', 'sint64', 'bool', 'fixed32', 'sfixed32', 'float',
               'fixed64', 'sfixed64', 'double', 'bytes', 'string'}

local function one(kind, value)
    return pb.protocol{pb.message('M', {v = {kind, 1}})}:encode('M', {v = value}):hex()
end

test:test('values', function(t)
    local cases = {
        int32 = {[150] = '089601', [-1] = '08ffffffffffffffffff01', [0] = '0800', [2147483647] = '08ffffffff07'},
        int64 = {[-2] = '08feffffffffffffffff01', [1] = '0801'},
        uint32 = {[4294967295] = '08ffffffff0f', [127] = '087f'},
        uint64 = {[128] = '088001', [300] = '08ac02'},
        sint32 = {[0] = '0800', [-1] = '0801', [1] = '0802', [-2] = '0803', [2147483647] = '08feffffff0f',
                  [-2147483648] = '08ffffffff0f'},
        sint64 = {[-500] = '08e707', [500] = '08e807'},
        bool = {[true] = '0801', [false] = '0800'},
        fixed32 = {[1] = '0d01000000', [4294967295] = '0dffffffff'},
        sfixed32 = {[-1] = '0dffffffff', [2] = '0d02000000'},
        float = {[1] = '0d0000803f', [-0.5] = '0d000000bf'},
        fixed64 = {[1] = '090100000000000000', [255] = '09ff00000000000000'},
        sfixed64 = {[-1] = '09ffffffffffffffff', [1] = '090100000000000000'},
        double = {[1] = '09000000000000f03f', [-2] = '0900000000000000c0'},
        bytes = {[''] = '0a00', ['\255\0'] = '0a02ff00'},
        string = {testing = '0a0774657374696e67', ['é'] = '0a02c3a9'},
    }
    t:plan(43)
    for kind, values in pairs(cases) do
        for value, expected in pairs(values) do
            t:is(one(kind, value), expected, kind .. ' ' .. tostring(value))
        end
    end
    t:is(one('uint64', 18446744073709551615ULL), '08ffffffffffffffffff01', 'the greatest')
    t:is(one('sint64', -9223372036854775807LL - 1), '08ffffffffffffffffff01', 'the least')
    t:is(one('int64', 9007199254740993LL), '0881808080808080' .. '10', 'beyond a number')
    for _, kind in ipairs(types) do
        if not pcall(one, kind, box.NULL) or one(kind, box.NULL) ~= '' then
            t:fail(kind)
        end
    end
    t:is(one('string', nil), '', 'nil is left out')
    local long = ('x'):rep(300)
    t:is(one('bytes', long), '0aac02' .. long:hex(), 'a length of two bytes')
    t:is(one('repeated int32', {3, 270, 86942}), '0a06038e029ea705', 'packed')
    t:is(one('repeated string', {'a', 'b'}), '0a01610a0162', 'strings are not')
end)

local protocol = pb.protocol{
    pb.message('Node', {number = {'int64', 1}, data = {'bytes', 2}, next_node = {'Node', 3}, kind = {'Kind', 16},
                        kinds = {'repeated Kind', 17}, all = {'repeated Node', 18}}),
    pb.enum('Kind', {NONE = 0, SOME = 1, LAST = -1}),
}

test:test('messages', function(t)
    t:plan(7)
    local function hex(data)
        return protocol:encode('Node', data):hex()
    end
    t:is(hex{}, '', 'nothing')
    t:is(hex{data = 'a', number = 1}, '0801120161', 'in the order of ids')
    t:is(hex{next_node = {number = 1, next_node = {}}}, '1a0408011a00', 'in each other')
    t:is(hex{kind = 'SOME'} .. hex{kind = 1}, '800101' .. '800101', 'an enum, by name and number')
    t:is(hex{kind = 'LAST'}, '8001ffffffffffffffffff01', 'a negative one')
    t:is(hex{kinds = {'NONE', 'SOME', 5}}, '8a0103000105', 'several')
    t:is(hex{all = {{number = 1}, {}}}, '9201020801' .. '920100', 'several messages')
end)

local function err(f, ...)
    local ok, text = pcall(f, ...)
    return ok and 'no error' or (text:gsub('^[^:]+:%d+: ', ''))
end

test:test('wrong data', function(t)
    local cases = {
        {'int32', 1.5, '"1.5" is no integer'}, {'int32', 2 ^ 31, 'is out of range'},
        {'int32', '1', '"1" is no integer'}, {'int64', 9223372036854775808ULL, 'is out of range'},
        {'int64', 2 ^ 60, 'is no integer'}, {'uint32', -1, 'is out of range'},
        {'uint64', -1LL, 'is out of range'}, {'sint32', -2147483649, 'is out of range'},
        {'fixed32', 2 ^ 32, 'is out of range'}, {'int32', 0 / 0, 'is no integer'},
        {'double', 'x', '"x" is no number'}, {'float', {}, 'a table is no number'},
        {'bool', 1, 'is no boolean'}, {'bytes', 5, 'is no string'}, {'string', '\255', 'is not in UTF%-8'},
        {'repeated int32', {1, nil, 3}, 'is no list'}, {'repeated int32', {x = 1}, 'is no list'},
        {'repeated int32', 5, 'is no list'}, {'repeated int32', {1, 'x'}, '"x" is no integer'},
        {'repeated int32', {1, box.NULL}, 'is no integer'},
    }
    t:plan(#cases + 8)
    for _, case in ipairs(cases) do
        t:like(err(one, case[1], case[2]), 'The field "v" of the message "M" is of the type .*' .. case[3],
               case[1])
    end
    local encode = protocol.encode
    t:is(err(encode, protocol, 'Node', {nosuch = 1}), 'The message "Node" has no field "nosuch"', 'no field')
    t:is(err(encode, protocol, 'Node', {kind = 'X'}),
         'The field "kind" of the message "Node" is of the type Kind: "X" is none of its values', 'no value')
    t:is(err(encode, protocol, 'Kind', {}), 'The protocol has no message "Kind"', 'an enum')
    t:is(err(encode, protocol, nil, {}), 'The protocol has no message "nil"', 'no name')
    t:is(err(encode, protocol, 'Node', 1), 'The data of the message "Node" must be a table', 'no table')
    t:like(err(encode, protocol, 'Node', {next_node = 1}), '"1" is no table', 'no message')
    t:is(err(encode, {}, 'Node', {}), 'Usage: protocol:encode(name, data)', 'no protocol')
    local cycle = {}
    cycle.next_node = cycle
    t:like(err(encode, protocol, 'Node', cycle), 'is too deep', 'a message in itself')
end)

test:test('wrong definitions', function(t)
    t:plan(14)
    t:like(err(pb.message, 5, {}), 'is no name', 'name')
    t:like(err(pb.message, 'int32', {}), 'has the name of a built%-in type', 'name of a type')
    t:like(err(pb.message, 'M'), 'must be a table', 'no fields')
    t:like(err(pb.message, 'M', {a = 'int32'}), 'must be {type, id}', 'no pair')
    t:like(err(pb.message, 'M', {{'int32', 1}}), 'has no name', 'no name')
    t:like(err(pb.message, 'M', {a = {'int32', 0}}), 'must be an integer from 1', 'id 0')
    t:like(err(pb.message, 'M', {a = {'int32', 19500}}), 'is reserved', 'id of the format')
    t:like(err(pb.message, 'M', {a = {'int32', 1}, b = {'int32', 1}}), 'is that of "[ab]", too', 'id twice')
    t:like(err(pb.enum, 'E', {A = 1}), 'has no value that is 0', 'no zero')
    t:like(err(pb.enum, 'E', {A = 0, B = 0}), '"A" and "B" of the enum "E" are the same', 'twice')
    t:like(err(pb.enum, 'E', {A = 0, B = 2 ^ 31}), 'an integer of 32 bits', 'too big')
    t:like(err(pb.protocol, {pb.message('M', {a = {'X', 1}})}), 'is not defined', 'unknown type')
    t:like(err(pb.protocol, {pb.message('M', {}), pb.message('M', {})}), 'is defined twice', 'twice')
    t:like(err(pb.protocol, {{}}), 'consists of messages and enums', 'something else')
end)

-- A reader of the format: fields as {id, kind, value}, to see that what was written can be read.
local function read_varint(text, at)
    local value, shift = 0ULL, 0
    while true do
        local byte = text:byte(at)
        value = bit.bor(value, bit.lshift(0ULL + byte % 128, shift))
        at, shift = at + 1, shift + 7
        if byte < 128 then
            return value, at
        end
    end
end

test:test('round trips', function(t)
    t:plan(1)
    local x = 17
    local function random()
        x = bit.bxor(x * 1103515245ULL + 12345ULL, bit.rshift(x + 0ULL, 13))
        return x
    end
    local p = pb.protocol{pb.message('M', {u = {'uint64', 1}, s = {'sint64', 5}, l = {'repeated uint64', 2000}})}
    local same = true
    for _ = 1, 2000 do
        local value = bit.rshift(random(), tonumber(random() % 64))
        local signed = require('ffi').cast('int64_t', value)
        local text = p:encode('M', {u = value, s = signed, l = {value, 1}})
        local tag, got, zigzag, size, at
        tag, at = read_varint(text, 1)
        got, at = read_varint(text, at)
        same = same and tag == 8 and got == value
        tag, at = read_varint(text, at)
        zigzag, at = read_varint(text, at)
        local back = bit.bxor(bit.rshift(zigzag, 1), -bit.band(require('ffi').cast('int64_t', zigzag), 1LL))
        same = same and tag == 40 and back == value
        tag, at = read_varint(text, at)
        size, at = read_varint(text, at)
        same = same and tag == 2000 * 8 + 2 and at + tonumber(size) == #text + 1
        got, at = read_varint(text, at)
        same = same and got == value and text:sub(at) == '\1'
    end
    t:ok(same, 'numbers of all sizes')
end)

test:is(pb.encode(protocol, 'Node', {number = 1}), '\8\1', 'the function')

os.exit(test:check() and 0 or 1)
