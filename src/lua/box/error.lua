-- SPDX-License-Identifier: BSD-2-Clause
--
-- Error objects (references to a struct error) and the module box.error. The work is
-- done in error.c.
local ffi = require('ffi')
local internal = require('tarn.error')

ffi.cdef[[
/* Neither yields nor runs Lua. */
void lua_error_release(struct error *e);
]]

local error_t = ffi.typeof('struct error &')
local gc, release = ffi.gc, ffi.C.lua_error_release

function internal.new_error()
    return gc(error_t(), release)
end

local methods = {
    raise = internal.raise,
    unpack = internal.unpack,
    set_prev = internal.set_prev,
    __serialize = internal.tostring,
}

function methods.match(e, ...)
    return internal.tostring(e):match(...)
end

local attribute = internal.attribute

ffi.metatype('struct error', {
    __index = function(e, key)
        local value = methods[key]
        if value ~= nil then
            return value
        end
        return attribute(e, key)
    end,
    __tostring = internal.tostring,
    __concat = function(a, b) return tostring(a) .. tostring(b) end,
    __eq = internal.is_same,
    __serialize = internal.tostring,
})

-- The codes by name, as those who go through them with pairs() expect.
box.error = setmetatable(internal.codes, {
    __index = {
        new = internal.new,
        last = internal.last,
        clear = internal.clear,
        set = internal.set,
        is = internal.is,
    },
    __call = internal.call,
})
