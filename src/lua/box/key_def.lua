-- SPDX-License-Identifier: BSD-2-Clause
-- The module `key_def`: what a key is, for tuples outside of a space.
local ffi = require('ffi')
local internal = require('tarn.key_def')

ffi.cdef[[
struct tarn_key_def { void *__def; };
struct tarn_key_format;
/* Neither yield nor run Lua. */
void tarn_key_def_release(struct tarn_key_def *key);
]]

local key_def_t = ffi.typeof('struct tarn_key_def')
local istype, gc, release = ffi.istype, ffi.gc, ffi.C.tarn_key_def_release
local is_tuple, new_tuple = box.tuple.is, box.tuple.new

local USAGE = 'Bad params, use: key_def.new({' ..
    '{fieldno = fieldno, type = type[, is_nullable = <boolean>][, path = <string>]' ..
    '[, collation_id = <number>][, collation = <string>]}, ...}'

local function empty()
    return gc(key_def_t(), release)
end

-- A tuple, or one made from a table.
local function to_tuple(value)
    if is_tuple(value) then
        return value
    elseif type(value) ~= 'table' then
        internal.raise_illegal('A tuple or a table expected, got ' .. type(value))
    end
    return new_tuple(value)
end
-- The merger's, too.
internal.to_tuple = to_tuple

local function to_key(value)
    if not is_tuple(value) and type(value) ~= 'table' then
        box.error(box.error.TUPLE_NOT_ARRAY)
    end
    return to_tuple(value)
end

-- The part with `collation_id` for the name of a collation.
local function with_collation_id(part)
    local name = part.collation
    if name == nil then
        return part
    elseif part.collation_id ~= nil then
        internal.raise_illegal('Conflicting options: collation_id and collation')
    end
    local copy = {}
    for k, v in pairs(part) do
        copy[k] = v
    end
    if type(name) == 'number' then
        name = tostring(name)
    elseif type(name) ~= 'string' then
        name = '(null)'
    end
    local is_configured = type(box.cfg) == 'table'
    copy.collation_id = is_configured and require('tarn.box.util').collation_id(name) or nil
    if copy.collation_id == nil then
        internal.raise_illegal(('Unknown collation: "%s"'):format(name))
    end
    return copy
end

local function new(...)
    local parts = ...
    if select('#', ...) ~= 1 or type(parts) ~= 'table' then
        error(USAGE, 0)
    end
    local list = {}
    for i, part in ipairs(parts) do
        if type(part) ~= 'table' then
            error(USAGE, 0)
        end
        list[i] = with_collation_id(part)
    end
    local key = empty()
    internal.make(key, list)
    return key
end

-- A method of so many arguments.
local function method(name, count, usage, run)
    usage = ('Usage: key_def:%s(%s)'):format(name, usage)
    return function(...)
        if select('#', ...) ~= count + 1 or not istype(key_def_t, (...)) then
            error(usage, 0)
        end
        return run(...)
    end
end

local methods = {
    extract_key = method('extract_key', 1, 'tuple', function(self, tuple)
        return internal.extract_key(self, to_tuple(tuple))
    end),
    compare = method('compare', 2, 'tuple_a, tuple_b', function(self, a, b)
        return internal.compare(self, to_tuple(a), to_tuple(b))
    end),
    compare_with_key = method('compare_with_key', 2, 'tuple, key', function(self, tuple, key)
        return internal.compare_with_key(self, to_tuple(tuple), to_key(key))
    end),
    compare_keys = method('compare_keys', 2, 'key_a, key_b', function(self, a, b)
        return internal.compare_keys(self, to_key(a), to_key(b))
    end),
    validate_key = method('validate_key', 1, 'key', function(self, key)
        return internal.validate_key(self, to_key(key))
    end),
    validate_full_key = method('validate_full_key', 1, 'key', function(self, key)
        return internal.validate_full_key(self, to_key(key))
    end),
    validate_tuple = method('validate_tuple', 1, 'tuple', function(self, tuple)
        return internal.validate_tuple(self, to_tuple(tuple))
    end),
    totable = method('totable', 0, '', internal.totable),
}

local MERGE_USAGE = 'Usage: key_def:merge(second_key_def)'

function methods.merge(...)
    local first, second = ...
    if select('#', ...) ~= 2 or not istype(key_def_t, first) or not istype(key_def_t, second) then
        error(MERGE_USAGE, 0)
    end
    local key = empty()
    internal.merge(key, first, second)
    return key
end

ffi.metatype(key_def_t, {
    __index = function(_, name)
        return methods[name]
    end,
    __serialize = methods.totable,
    __tostring = function()
        return '<struct key_def &>'
    end,
})

local M = {new = new}
for name, f in pairs(methods) do
    M[name] = f
end
return M
