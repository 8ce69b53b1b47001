-- SPDX-License-Identifier: BSD-2-Clause
-- The module `uuid`. Manual: module uuid.
local ffi = require('ffi')

ffi.cdef[[
/* Neither yield nor run Lua. */
void tarn_uuid_swap(struct tt_uuid *u);
void tarn_uuid_create(struct tt_uuid *u);
int tarn_uuid_from_string(struct tt_uuid *u, const char *str, size_t len);
void tarn_uuid_to_string(const struct tt_uuid *u, char *out);
]]

local C = ffi.C
local uuid_t = ffi.typeof('struct tt_uuid')
local text_t = ffi.typeof('char[37]')
local SIZE, TEXT_SIZE = ffi.sizeof(uuid_t), 36

-- Is the byte order, of the machine or of the wire, the wire's?
local ORDERS = {
    l = false, b = true, h = ffi.abi('be'), n = true, host = ffi.abi('be'), network = true,
}

local function is_swapped(order)
    local is_wire = ORDERS[order or 'host']
    if is_wire == nil then
        error('invalid byteorder, valid is l, b, h, n', 3)
    end
    return is_wire ~= ffi.abi('be')
end

local function is_uuid(value)
    return ffi.istype(uuid_t, value)
end

local function check(value, usage)
    if not is_uuid(value) then
        error('Usage: ' .. usage, 3)
    end
end

local function new()
    local u = uuid_t()
    C.tarn_uuid_create(u)
    return u
end

local function fromstr(str)
    if type(str) ~= 'string' then
        error('fromstr(str)', 2)
    end
    local u = uuid_t()
    if C.tarn_uuid_from_string(u, str, #str) ~= 0 then
        return nil
    end
    return u
end

local function str(u)
    check(u, 'uuid:str()')
    local text = text_t()
    C.tarn_uuid_to_string(u, text)
    return ffi.string(text, TEXT_SIZE)
end

local function bin(u, order)
    check(u, 'uuid:bin([byteorder])')
    if not is_swapped(order) then
        return ffi.string(u, SIZE)
    end
    local copy = uuid_t(u)
    C.tarn_uuid_swap(copy)
    return ffi.string(copy, SIZE)
end

local function frombin(data, order)
    if type(data) ~= 'string' or #data ~= SIZE then
        error('frombin(bin, [byteorder])', 2)
    end
    local u = uuid_t()
    ffi.copy(u, data, SIZE)
    if is_swapped(order) then
        C.tarn_uuid_swap(u)
    end
    return u
end

local NULL = uuid_t()

local function equal(a, b)
    return is_uuid(a) and is_uuid(b) and bin(a) == bin(b)
end

local function isnil(u)
    check(u, 'uuid:isnil()')
    return equal(u, NULL)
end

-- Texts stand for UUIDs here, as in 2.11.
local function to_wire(value)
    local u = type(value) == 'string' and fromstr(value) or value
    if not is_uuid(u) then
        error('incorrect value to convert to uuid as 2 argument', 3)
    end
    return bin(u, 'network')
end

local methods = {isnil = isnil, str = str, bin = bin}

ffi.metatype(uuid_t, {
    __index = methods,
    __tostring = str,
    __eq = equal,
    __lt = function(a, b) return to_wire(a) < to_wire(b) end,
    __le = function(a, b) return to_wire(a) <= to_wire(b) end,
})

return setmetatable({
    NULL = NULL, new = new, fromstr = fromstr, frombin = frombin, is_uuid = is_uuid,
    str = function() return str(new()) end,
    bin = function(order) return bin(new(), order) end,
}, {__call = new})
