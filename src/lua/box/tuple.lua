-- SPDX-License-Identifier: BSD-2-Clause
--
-- Tuples (struct lua_tuple): making them, fields by number and by name, methods that
-- call back, and the module box.tuple. The rest is in tuple.c and tuple_methods.c.
local ffi = require('ffi')
local internal = require('tarn.tuple')

ffi.cdef[[
struct lua_field {
	double number;
	const char *data;
	uint32_t size;
};
/* These neither yield nor run Lua. A pointer to a struct tuple is a void * here. */
int lua_tuple_field(const struct lua_tuple *t, double number, struct lua_field *field);
void lua_tuple_fill(struct lua_tuple *t, void *tuple);
void lua_tuple_release(struct lua_tuple *t);
uint32_t lua_tuple_size(const void *tuple);
uint32_t lua_tuple_bsize(const struct lua_tuple *t);
bool lua_tuple_is_due(void);
bool lua_tuple_is_same(const struct lua_tuple *a, const struct lua_tuple *b);
]]

local C = ffi.C
local gc, istype, ffi_string = ffi.gc, ffi.istype, ffi.string
local type = type
local tuple_t = ffi.typeof('struct lua_tuple')
local release = C.lua_tuple_release
local COPY_MAX = 1024 -- LUA_TUPLE_COPY_MAX
local IS_LARGE = 0xffff -- LUA_TUPLE_IS_LARGE
local NULL = box.NULL

-- Making ----------------------------------------------------------------------

function internal.new_small(size)
    return tuple_t(size)
end

-- Puts empty tuples into a table from an index on, with room for as many bytes as the list
-- at an address (a number, lest finalizers that run here change a shared place) says; where
-- that is 0, false.
local rooms_t = ffi.typeof('const uint16_t *')
function internal.new_row(t, first, count, address)
    local rooms = ffi.cast(rooms_t, address)
    for i = 0, count - 1 do
        local size = rooms[i]
        t[first + i] = size > 0 and tuple_t(size)
    end
end

local LARGE_BODY = 3 -- LUA_TUPLE_LARGE_BODY
local function new_large()
    return tuple_t(LARGE_BODY)
end
if not internal.is_watched then
    new_large = function() return gc(tuple_t(LARGE_BODY), release) end
end
internal.new_large = new_large

-- The tuple of a pointer (void *, borrowed) that C returned through FFI; not NULL.
function internal.from_pointer(pointer)
    local size = C.lua_tuple_size(pointer)
    local t
    if size > COPY_MAX then
        t = new_large()
    else
        t = tuple_t(size)
    end
    C.lua_tuple_fill(t, pointer)
    if size > COPY_MAX and C.lua_tuple_is_due() then
        internal.pay()
    end
    return t
end

-- Fields ------------------------------------------------------------------------

-- Field numbers by name, by dictionary.
local numbers = setmetatable({}, {__index = function(cache, dict)
    local names = internal.names(dict)
    cache[dict] = names
    return names
end})

local found = ffi.new('struct lua_field')
local decode = internal.decode
-- As in tuple.h.
local NUMBER, STRING, IS_NULL, IS_TRUE, IS_FALSE, OTHER = 1, 2, 3, 4, 5, 6

local function field(t, number)
    local kind = C.lua_tuple_field(t, number, found)
    if kind == NUMBER then
        local value = found.number
        -- LuaJIT may put the load off to the value's first use, past another call that
        -- writes here, as in `t[1] == t[2]`: only a store in between keeps it in place.
        found.number = 0
        return value
    elseif kind == STRING then
        -- First: where a pointer is read, a finalizer may run, which may write here.
        local size = found.size
        return ffi_string(found.data, size)
    elseif kind == OTHER then
        return decode(t, number)
    elseif kind == IS_NULL then
        return NULL
    elseif kind == IS_TRUE then
        return true
    elseif kind == IS_FALSE then
        return false
    end
    return nil
end

local function check(t, usage)
    if not istype(tuple_t, t) then
        error('Usage: ' .. usage, 3)
    end
end

local methods = {
    totable = internal.totable,
    unpack = internal.unpack,
    slice = internal.slice,
    tomap = internal.tomap,
    transform = internal.transform,
    update = internal.update,
    upsert = internal.upsert,
    __serialize = internal.totable,
}

function methods.bsize(t)
    check(t, 'tuple:bsize()')
    local size = t.__size
    return size ~= IS_LARGE and size or C.lua_tuple_bsize(t)
end

local function next_field(t, number)
    check(t, 'tuple:next(tuple[, pos])')
    number = (number or 0) + 1
    if C.lua_tuple_field(t, number, found) == 0 then
        return nil
    end
    return number, field(t, number)
end
methods.next = next_field

-- An iterator of the module fun: for `for`, and with methods.
local wrap
local function iterate(t)
    check(t, 'tuple:pairs(tuple[, pos])')
    wrap = wrap or require('fun').wrap
    return wrap(next_field, t, nil)
end
methods.pairs = iterate
methods.ipairs = iterate

-- find([offset, ]value): the first place; from the field `offset` on.
local function find_args(t, offset, ...)
    if select('#', ...) == 0 then
        return 0, offset
    end
    offset = offset - 1
    if offset > internal.count(t) then
        error("error: invalid key to 'next'", 3)
    end
    return offset < 0 and 0 or offset, (...)
end

function methods.find(t, ...)
    check(t, 'tuple:find([offset, ]val)')
    local number, value = find_args(t, ...)
    for n, v in next_field, t, number do
        if v == value then
            return n
        end
    end
    return nil
end

function methods.findall(t, ...)
    check(t, 'tuple:findall([offset, ]val)')
    local number, value = find_args(t, ...)
    local places = {}
    for n, v in next_field, t, number do
        if v == value then
            places[#places + 1] = n
        end
    end
    return places
end

local path = internal.path

local function index(t, key)
    local kind = type(key)
    if kind == 'number' then
        return field(t, key)
    elseif kind ~= 'string' then
        return nil
    end
    local number = numbers[t.__dict][key]
    if number ~= nil then
        return field(t, number)
    end
    local method = methods[key]
    if method ~= nil then
        return method
    end
    return path(t, key)
end

-- Two objects are equal where they stand for one and the same tuple.
local function equal(a, b)
    if istype(tuple_t, a) and istype(tuple_t, b) then
        return C.lua_tuple_is_same(a, b)
    end
    local other = istype(tuple_t, a) and b or a
    local kind = type(other)
    if kind == 'table' or kind == 'function' or kind == 'boolean' then
        error(("cannot convert '%s' to 'void *'"):format(kind == 'boolean' and 'bool' or kind))
    end
    return false
end

ffi.metatype(tuple_t, {
    __index = index,
    __len = internal.count,
    __eq = equal,
    __tostring = internal.tostring,
    __pairs = iterate,
    __ipairs = iterate,
    __serialize = internal.totable,
})

box.tuple = {
    new = internal.new,
    is = internal.is,
}
for name, method in pairs(methods) do
    box.tuple[name] = method
end

return internal
