-- SPDX-License-Identifier: BSD-2-Clause
--
-- What the Lua helpers of the module interface (module_lua.c) cannot do in C: C types
-- of FFI by their numbers.
local ffi = require('ffi')

-- C types by number: those that a module has asked for or has been told.
local types = {}

local function note(ctype)
    local id = tonumber(ctype)
    types[id] = ctype
    return id
end

return {
    -- Counted tuples (userdata) of small ones, which have none of their own.
    tuples = setmetatable({}, {__mode = 'k'}),
    ctypeid = function(name) return note(ffi.typeof(name)) end,
    typeid = function(cdata) return note(ffi.typeof(cdata)) end,
    new = function(id)
        local ctype = types[id] or error('unknown C type id ' .. id, 0)
        return ctype()
    end,
    cdef = ffi.cdef,
    gc = ffi.gc,
    tostring = tostring,
}
