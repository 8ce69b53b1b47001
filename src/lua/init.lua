-- SPDX-License-Identifier: BSD-2-Clause
--
-- Globals that need no C: pairs and ipairs for cdata, dostring.
local ffi = require('ffi')
local cdata = require('internal.cdata')

-- pairs() and ipairs() that honour a metatype's __pairs and __ipairs; tables go the
-- common way, and their loops are compiled as before. A cdata that has none raises.
local builtin_pairs, builtin_ipairs = pairs, ipairs
local type, next = type, next
local metatype_of = cdata.metatype_of

local function cdata_iterator(cd, name)
    local mt = metatype_of(cd)
    local make = mt and mt[name]
    if make == nil then
        local shown = tostring(ffi.typeof(cd)):match('^ctype<(.-)[ *&]*>$')
        error(("'%s' has no '%s' metamethod"):format(shown, name), 0)
    end
    return make(cd)
end

function _G.pairs(t)
    if type(t) == 'table' then
        return next, t, nil
    elseif type(t) == 'cdata' then
        return cdata_iterator(t, '__pairs')
    end
    return builtin_pairs(t)
end

function _G.ipairs(t)
    if type(t) == 'cdata' then
        return cdata_iterator(t, '__ipairs')
    end
    return builtin_ipairs(t)
end

function _G.dostring(text, ...)
    local chunk, err = loadstring(text)
    if chunk == nil then
        error(err, 2)
    end
    return chunk(...)
end
