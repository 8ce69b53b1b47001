-- SPDX-License-Identifier: BSD-2-Clause
--
-- The module `strict`: once on, a global that was never declared can be neither
-- read nor, inside a function, assigned. The main chunk and C declare by assigning.
local mt = getmetatable(_G) or {}
setmetatable(_G, mt)

local declared = {}
local before -- what the metatable had before on()

-- What runs at the level that touches the global: 'main', 'C' or 'Lua'.
local function caller_kind()
    local info = debug.getinfo(3, 'S')
    return info and info.what or 'C'
end

local function newindex(t, name, value)
    if not declared[name] then
        local kind = caller_kind()
        if kind ~= 'main' and kind ~= 'C' then
            error(("assign to undeclared variable '%s'"):format(tostring(name)), 2)
        end
        declared[name] = true
    end
    rawset(t, name, value)
end

local function index(_, name)
    if not declared[name] and caller_kind() ~= 'C' then
        error(("variable '%s' is not declared"):format(tostring(name)), 2)
    end
end

local strict = {}

function strict.on()
    if before == nil then
        before = {__newindex = mt.__newindex, __index = mt.__index}
        mt.__newindex, mt.__index = newindex, index
    end
end

function strict.off()
    if before ~= nil then
        mt.__newindex, mt.__index = before.__newindex, before.__index
        before = nil
    end
end

return strict
