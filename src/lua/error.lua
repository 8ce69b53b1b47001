-- SPDX-License-Identifier: BSD-2-Clause
--
-- Error objects (struct error *) and the module box.error. The work is done in error.c.
local ffi = require('ffi')
local internal = require('tarn.error')

ffi.cdef[[
/* Neither yields nor runs Lua. */
void lua_error_release(struct error *e);
]]

local error_t = ffi.typeof('struct error *')
local gc, release = ffi.gc, ffi.C.lua_error_release

function internal.new_error()
    return gc(error_t(), release)
end

ffi.metatype('struct error', {
    __tostring = internal.tostring,
})
