-- SPDX-License-Identifier: BSD-2-Clause
-- The module `varbinary`. Manual: module varbinary.
local ffi = require('ffi')

local istype = ffi.istype
local varbinary_t = ffi.typeof('struct varbinary')
local bytes_t = ffi.typeof('const char *')
local UINT32_MAX = 4294967295

local function is(value)
    return istype(varbinary_t, value)
end

local function make(pointer, size)
    local bin = varbinary_t(size, size)
    ffi.copy(ffi.cast('char *', bin.__data), pointer, size)
    return bin
end

-- A pointer or an array, but not NULL.
local function is_pointer(value)
    return type(value) == 'cdata' and tostring(ffi.typeof(value)):find('[%*%[]') ~= nil and value ~= nil
end

-- new(), new(string), new(varbinary), new(pointer, size)
local function new(value, size)
    if value == nil and size == nil then
        return make('', 0)
    elseif type(value) == 'string' then
        return make(value, #value)
    elseif is(value) then
        return make(value.__data, value.__size)
    end
    local is_size = type(size) == 'number' and size >= 0 and size <= UINT32_MAX
    if not is_size or not is_pointer(value) then
        error('Usage: varbinary.new(str) or varbinary.new(ptr, size)', 2)
    end
    return make(ffi.cast(bytes_t, value), math.floor(size))
end

local function to_string(bin)
    return ffi.string(bin.__data, bin.__size)
end

-- A varbinary or a string; nil for any other.
local function content(value)
    if type(value) == 'string' then
        return value
    end
    return is(value) and to_string(value) or nil
end

ffi.metatype(varbinary_t, {
    __tostring = to_string,
    __len = function(bin) return bin.__size end,
    __eq = function(a, b)
        local x = content(a)
        return x ~= nil and x == content(b)
    end,
})

return {new = new, is = is}
