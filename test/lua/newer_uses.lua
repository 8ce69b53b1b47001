-- SPDX-License-Identifier: BSD-2-Clause
-- Functions of values that the reference lacks: what they refuse, beside what their own tests use them for.
local tap = require('tap')
local buffer, crypto, digest = require('buffer'), require('crypto'), require('digest')
local datetime, key_def, msgpack = require('datetime'), require('key_def'), require('msgpack')
local protobuf, uri, uuid, varbinary = require('protobuf'), require('uri'), require('uuid'), require('varbinary')

local refused = {
    {'uri.escape', uri.escape, {5}, {nil}, {'a', 5}, {'a', {unreserved = 5}}},
    {'uri.unescape', uri.unescape, {5}, {nil}, {'a', 5}},
    {'uri.parse_many', uri.parse_many, {5}, {true}},
    {'uri.unreserved', uri.unreserved, {5}, {nil}},
    {'digest.md4', digest.md4, {5}, {nil}},
    {'digest.md4_hex', digest.md4_hex, {5}, {nil}},
    {'digest.xxhash32.new', digest.xxhash32.new, {-1}, {'x'}},
    {'digest.xxhash64.new', digest.xxhash64.new, {-1}, {'x'}},
    {'crypto.hmac.md4_hex', crypto.hmac.md4_hex, {5, 'a'}, {'a', 5}},
    {'des', crypto.cipher.des.cbc.encrypt, {'a', 'short', ('i'):rep(8)}, {5, ('k'):rep(8), ('i'):rep(8)}},
    {'msgpack.object', msgpack.object, {print}, {}},
    {'msgpack.object_from_raw', msgpack.object_from_raw, {''}, {'\193'}, {5}, {}},
    {'protobuf.protocol', protobuf.protocol, {5}, {{5}}},
    {'protobuf.message', protobuf.message, {5}, {'m', 5}},
    {'protobuf.enum', protobuf.enum, {5}, {'e', 5}},
    {'varbinary.new', varbinary.new, {{}}, {true}},
    {'datetime.new', datetime.new, {5}, {{year = 'x'}}},
    {'datetime.parse', datetime.parse, {5}, {'x'}},
    {'interval.new', datetime.interval.new, {5}, {{year = 1.5}}},
    {'key_def.compare_keys', key_def.compare_keys, {}, {5, {1}, {2}}},
    {'key_def.validate_key', key_def.validate_key, {}, {5, {1}}},
    {'key_def.validate_full_key', key_def.validate_full_key, {}, {5, {1}}},
    {'key_def.validate_tuple', key_def.validate_tuple, {}, {5, {1}}},
    {'table.new', require('table.new'), {'x', 1}, {}},
}

local values = {nil, true, 0, -1, 0 / 0, 5LL, '', 'text', '\255', {}, print, box.NULL, uuid.new(), buffer.ibuf(),
                datetime.new(), n = 15}
local predicates = {
    ['uuid.is_uuid'] = uuid.is_uuid, ['varbinary.is'] = varbinary.is, ['datetime.is_datetime'] = datetime.is_datetime,
    ['interval.is_interval'] = datetime.interval.is_interval, ['msgpack.is_object'] = msgpack.is_object,
}

local test = tap.test('newer_uses')
test:plan(#refused + 5 + 1)
for _, case in ipairs(refused) do
    local taken
    for i = 3, #case do
        if pcall(case[2], unpack(case[i], 1, table.maxn(case[i]))) then
            taken = taken or i - 2
        end
    end
    test:is(taken, nil, case[1] .. ' refuses all of them')
end
for name, f in pairs(predicates) do
    local ok = f() == false
    for i = 1, values.n do
        local good, answer = pcall(f, values[i])
        ok = ok and good and type(answer) == 'boolean'
    end
    test:ok(ok, name .. ' answers for any value')
end

-- A size that no memory is there for is an error, not the end.
local kept, failed = {}, false
for i = 1, 8 do
    kept[i] = buffer.ibuf()
    failed = failed or not pcall(kept[i].reserve, kept[i], 2 ^ 45)
end
test:ok(failed, 'a buffer beyond the address space')
os.exit(test:check() and 0 or 1)
