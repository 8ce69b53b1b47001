-- SPDX-License-Identifier: BSD-2-Clause
--
-- Tuples (struct lua_tuple): making them, fields by number and name, methods.
local ffi = require('ffi')

ffi.cdef[[
/* These neither yield nor run Lua. */
void lua_tuple_fill(struct lua_tuple *t, struct tuple *tuple);
void lua_tuple_release(struct lua_tuple *t);
]]

local C = ffi.C
local gc = ffi.gc
local tuple_t = ffi.typeof('struct lua_tuple')
local release = C.lua_tuple_release

local internal = {}

function internal.new_small(size)
    return tuple_t(size)
end

function internal.new_large()
    return gc(tuple_t(0), release)
end

return internal
