-- SPDX-License-Identifier: BSD-2-Clause
--
-- The module `protobuf`: messages in the wire format of Protocol Buffers 3, made after a protocol
-- that is written in Lua. The format: protobuf.dev/programming-guides/encoding.
local ffi = require('ffi')
local bit = require('bit')
local utf8 = require('utf8')

local MAX_ID = 2 ^ 29 - 1
local RESERVED_FROM, RESERVED_TO = 19000, 19999 -- of the format's makers
local MAX_DEPTH = 100 -- of messages in messages, as decoders accept
local MAX_EXACT = 2 ^ 53 -- a number from here on may stand for several integers

-- Kinds of values on the wire.
local VARINT, FIXED64, LEN, FIXED32 = 0, 1, 2, 5

local function fail(format, ...)
    error(format:format(...), 0)
end

-- Values --------------------------------------------------------------------------

local function varint(value)
    value = ffi.cast('uint64_t', value)
    if value < 128 then
        return string.char(tonumber(value))
    end
    local out = {}
    while value >= 128 do
        out[#out + 1] = string.char(tonumber(bit.bor(bit.band(value, 127), 128)))
        value = bit.rshift(value, 7)
    end
    out[#out + 1] = string.char(tonumber(value))
    return table.concat(out)
end

local function is_int64(value)
    return ffi.istype('int64_t', value) or ffi.istype('uint64_t', value)
end

-- The value as an int64_t or uint64_t, nil where it is no integer.
local function to_integer(value)
    if is_int64(value) then
        return value
    elseif type(value) == 'number' and value % 1 == 0 and math.abs(value) <= MAX_EXACT then
        return ffi.cast('int64_t', value)
    end
end

-- A function that takes an integer between two bounds, an int64_t and a uint64_t, or says why not.
local function integer_between(min, max)
    return function(value)
        local integer = to_integer(value)
        if integer == nil then
            return nil, 'is no integer'
        end
        local is_negative = ffi.istype('int64_t', integer) and integer < 0
        if is_negative and integer < min or
           not is_negative and ffi.cast('uint64_t', integer) > max then
            return nil, 'is out of range'
        end
        return integer
    end
end

local int32 = integer_between(-2147483648LL, 2147483647ULL)
local uint32 = integer_between(0LL, 4294967295ULL)
local int64 = integer_between(ffi.cast('int64_t', 0x8000000000000000ULL), 9223372036854775807ULL)
local uint64 = integer_between(0LL, 18446744073709551615ULL)

local function to_number(value)
    if type(value) == 'number' then
        return value
    elseif is_int64(value) then
        return tonumber(value)
    end
    return nil, 'is no number'
end

local function to_bool(value)
    if type(value) == 'boolean' then
        return value
    end
    return nil, 'is no boolean'
end

local function to_bytes(value)
    if type(value) == 'string' then
        return value
    end
    return nil, 'is no string'
end

local function to_text(value)
    if type(value) ~= 'string' then
        return nil, 'is no string'
    elseif utf8.len(value) == nil then
        return nil, 'is not in UTF-8'
    end
    return value
end

local function zigzag(value)
    value = ffi.cast('int64_t', value)
    return varint(bit.bxor(bit.lshift(value, 1), bit.arshift(value, 63)))
end

-- The bytes of the value in memory: the format is little-endian, as our machines are.
local function packer(ctype)
    local place = ffi.typeof(ctype .. '[1]')
    local size = ffi.sizeof(ctype)
    return function(value)
        return ffi.string(place(value), size)
    end
end

local function with_length(text)
    return varint(#text) .. text
end

-- Type -> {kind on the wire, what takes a value, what writes it}.
local scalars = {
    int32 = {VARINT, int32, varint},
    int64 = {VARINT, int64, varint},
    uint32 = {VARINT, uint32, varint},
    uint64 = {VARINT, uint64, varint},
    sint32 = {VARINT, int32, zigzag},
    sint64 = {VARINT, int64, zigzag},
    bool = {VARINT, to_bool, function(value) return value and '\1' or '\0' end},
    fixed32 = {FIXED32, uint32, packer('uint32_t')},
    sfixed32 = {FIXED32, int32, packer('int32_t')},
    float = {FIXED32, to_number, packer('float')},
    fixed64 = {FIXED64, uint64, packer('uint64_t')},
    sfixed64 = {FIXED64, int64, packer('int64_t')},
    double = {FIXED64, to_number, packer('double')},
    bytes = {LEN, to_bytes, with_length},
    string = {LEN, to_text, with_length},
}

-- Definitions -----------------------------------------------------------------------

local function check_name(what, name)
    if type(name) ~= 'string' or not name:match('^[%a_][%w_.]*$') then
        fail('%s %q is no name', what, tostring(name))
    elseif scalars[name] ~= nil then
        fail('%s %q has the name of a built-in type', what, name)
    end
end

local function check_id(message, field, id, taken)
    if type(id) ~= 'number' or id % 1 ~= 0 or id < 1 or id > MAX_ID then
        fail('The id of the field %q of the message %q must be an integer from 1 to %d', field, message,
             MAX_ID)
    elseif id >= RESERVED_FROM and id <= RESERVED_TO then
        fail('The id %d of the field %q of the message %q is reserved', id, field, message)
    elseif taken[id] ~= nil then
        fail('The id %d of the field %q of the message %q is that of %q, too', id, field, message,
             taken[id])
    end
    taken[id] = field
end

local protobuf = {}

local function message(name, definition)
    check_name('The message', name)
    if type(definition) ~= 'table' then
        fail('The fields of the message %q must be a table', name)
    end
    local fields, taken = {}, {}
    for field, what in pairs(definition) do
        if type(field) ~= 'string' then
            fail('A field of the message %q has no name', name)
        elseif type(what) ~= 'table' or type(what[1]) ~= 'string' then
            fail('The field %q of the message %q must be {type, id}', field, name)
        end
        check_id(name, field, what[2], taken)
        local repeated = what[1]:match('^repeated%s+(%S+)$')
        table.insert(fields, {name = field, id = what[2], of = repeated or what[1],
                              is_repeated = repeated ~= nil})
    end
    table.sort(fields, function(a, b) return a.id < b.id end)
    return {kind = 'message', name = name, fields = fields}
end

local function enum(name, definition)
    check_name('The enum', name)
    if type(definition) ~= 'table' then
        fail('The values of the enum %q must be a table', name)
    end
    local values, taken = {}, {}
    for key, value in pairs(definition) do
        if type(key) ~= 'string' then
            fail('A value of the enum %q has no name', name)
        elseif type(value) ~= 'number' or int32(value) == nil then
            fail('The value %q of the enum %q must be an integer of 32 bits', key, name)
        elseif taken[value] ~= nil then
            local names = {taken[value], key}
            table.sort(names)
            fail('The values %q and %q of the enum %q are the same', names[1], names[2], name)
        end
        taken[value] = key
        values[key] = value
    end
    if taken[0] == nil then
        fail('The enum %q has no value that is 0', name)
    end
    return {kind = 'enum', name = name, values = values}
end

-- Encoding --------------------------------------------------------------------------

local write_message

local function bad_value(name, field, value, why)
    local shown = (type(value) == 'number' or type(value) == 'string') and ('%q'):format(value) or
                  'a ' .. type(value)
    fail('The field %q of the message %q is of the type %s: %s %s', field.name, name, field.of, shown,
         why)
end

-- The bytes of one value, without its tag.
local function write_value(protocol, name, field, value, depth)
    local scalar = scalars[field.of]
    if scalar ~= nil then
        local taken, why = scalar[2](value)
        if taken == nil then
            bad_value(name, field, value, why)
        end
        return scalar[3](taken)
    end
    local of = protocol.types[field.of]
    if of.kind == 'enum' then
        local number = value
        if type(value) == 'string' then
            number = of.values[value]
        end
        local taken = number ~= nil and int32(number) or nil
        if taken == nil then
            bad_value(name, field, value, 'is none of its values')
        end
        return varint(taken)
    elseif type(value) ~= 'table' then
        bad_value(name, field, value, 'is no table')
    end
    return with_length(write_message(protocol, of, value, depth + 1))
end

local function wire_kind(protocol, of)
    if scalars[of] ~= nil then
        return scalars[of][1]
    end
    return protocol.types[of].kind == 'enum' and VARINT or LEN
end

local function check_list(name, field, list)
    if type(list) ~= 'table' then
        bad_value(name, field, list, 'is no list')
    end
    local count = 0
    for key in pairs(list) do
        count = count + 1
        if type(key) ~= 'number' or key % 1 ~= 0 or key < 1 or key > #list then
            bad_value(name, field, list, 'is no list')
        end
    end
    if count ~= #list then
        bad_value(name, field, list, 'is no list')
    end
end

-- Numbers are packed: one tag, the length, the values.
local function write_repeated(protocol, name, field, list, depth, out)
    check_list(name, field, list)
    local kind = wire_kind(protocol, field.of)
    local values = {}
    for i, value in ipairs(list) do
        values[i] = write_value(protocol, name, field, value, depth)
    end
    if #values == 0 then
        return
    elseif kind ~= LEN then
        out[#out + 1] = varint(field.id * 8 + LEN)
        out[#out + 1] = with_length(table.concat(values))
        return
    end
    local tag = varint(field.id * 8 + LEN)
    for _, value in ipairs(values) do
        out[#out + 1] = tag
        out[#out + 1] = value
    end
end

-- Fields in the order of their ids; what is missing or null is left out.
function write_message(protocol, of, data, depth)
    if depth > MAX_DEPTH then
        fail('The message %q is too deep: %d messages in each other', of.name, depth)
    end
    local left, out = 0, {}
    for _ in pairs(data) do
        left = left + 1
    end
    for _, field in ipairs(of.fields) do
        local value = data[field.name]
        if type(value) ~= 'nil' then
            left = left - 1
        end
        if value == nil then
            -- Nothing to write.
        elseif field.is_repeated then
            write_repeated(protocol, of.name, field, value, depth, out)
        else
            out[#out + 1] = varint(field.id * 8 + wire_kind(protocol, field.of))
            out[#out + 1] = write_value(protocol, of.name, field, value, depth)
        end
    end
    if left > 0 then
        for key in pairs(data) do
            if of.by_name[key] == nil then
                fail('The message %q has no field %q', of.name, tostring(key))
            end
        end
    end
    return table.concat(out)
end

-- Protocols ---------------------------------------------------------------------------

local protocol_mt = {}
protocol_mt.__index = protocol_mt

local function encode(protocol, name, data)
    if getmetatable(protocol) ~= protocol_mt then
        fail('Usage: protocol:encode(name, data)')
    end
    local of = protocol.types[name]
    if of == nil or of.kind ~= 'message' then
        fail('The protocol has no message %q', tostring(name))
    elseif type(data) ~= 'table' then
        fail('The data of the message %q must be a table', name)
    end
    return write_message(protocol, of, data, 1)
end

-- Types may be named before they are defined.
local function new_protocol(definitions)
    if type(definitions) ~= 'table' then
        fail('Usage: protobuf.protocol({message or enum, ...})')
    end
    local types = {}
    for _, of in ipairs(definitions) do
        if type(of) ~= 'table' or (of.kind ~= 'message' and of.kind ~= 'enum') then
            fail('A protocol consists of messages and enums')
        elseif types[of.name] ~= nil then
            fail('The type %q is defined twice', of.name)
        end
        types[of.name] = of
    end
    for _, of in pairs(types) do
        of.by_name = {}
        for _, field in ipairs(of.fields or {}) do
            of.by_name[field.name] = field
            if scalars[field.of] == nil and types[field.of] == nil then
                fail('The type %q of the field %q of the message %q is not defined', field.of,
                     field.name, of.name)
            end
        end
    end
    return setmetatable({types = types}, protocol_mt)
end

-- Errors are those of the caller.
local function public(f)
    return function(...)
        local ok, result = pcall(f, ...)
        if not ok then
            error(result, 2)
        end
        return result
    end
end

protobuf.message = public(message)
protobuf.enum = public(enum)
protobuf.protocol = public(new_protocol)
protobuf.encode = public(encode)
protocol_mt.encode = protobuf.encode

return protobuf
