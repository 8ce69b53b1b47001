-- SPDX-License-Identifier: BSD-2-Clause
--
-- box.func: stored functions by name and by id, and what sandboxed ones may see.
local internal = require('tarn.func')
local call = internal.call

box.func = {}

local methods = {}

function methods.call(func, args)
    if type(func) ~= 'table' or func.name == nil then
        error('Use func:call(...) instead of func.call(...)', 2)
    end
    if args ~= nil and type(args) ~= 'table' then
        error('Use func:call(table)', 2)
    end
    return call(func.name, args)
end

function methods.drop(func, opts)
    if type(func) ~= 'table' or func.name == nil then
        error('Use func:drop(...) instead of func.drop(...)', 2)
    end
    return box.schema.func.drop(func.name, opts)
end

local func_mt = {__index = methods}

-- Functions that Lua may not call, such as those of SQL, are not shown.
function internal.on_create(description)
    if not description.exports.lua then
        return
    end
    local func = setmetatable(description, func_mt)
    box.func[func.id] = func
    box.func[func.name] = func
end

function internal.on_drop(description)
    box.func[description.id] = nil
    box.func[description.name] = nil
end

-- Copies of the named functions of a library.
local function part(library, names)
    local t = {}
    for name in names:gmatch('%S+') do
        t[name] = library[name]
    end
    return t
end

local function all(library)
    local t = {}
    for k, v in pairs(library) do
        t[k] = v
    end
    return t
end

local sandbox = part(_G, 'assert error ipairs math next pairs pcall print select string ' ..
    'table tonumber tostring type unpack xpcall utf8')
for _, name in ipairs({'math', 'string', 'table', 'utf8'}) do
    if sandbox[name] ~= nil then
        sandbox[name] = all(sandbox[name])
    end
end
internal.sandbox = sandbox
