-- SPDX-License-Identifier: BSD-2-Clause
-- For tools/module-uses: notes which functions of some modules a script calls, and whether they
-- succeed or fail. Loaded with -l, before the script.
--
-- TARN_USES_MODULES names the modules, TARN_USES_FILE the file that gets a line for
-- each of the first few different calls: "MODULE NAME good", "... bad", "... nil" or "... known".
-- Functions of a module and methods of what they return are replaced by ones that
-- note the call; calls from the server's own Lua code are not counted.
local getenv, open, concat, sort = os.getenv, io.open, table.concat, table.sort
local getinfo, select, type, tostring, pcall, error = debug.getinfo, select, type, tostring, pcall, error
local getmetatable, pairs, rawget, rawset, setmetatable = getmetatable, pairs, rawget, rawset, setmetatable
local sub, find = string.sub, string.find
local DIFFERENT_MAX = 8
local path = getenv('TARN_USES_FILE')
local seen, count = {}, {}

-- They look at the stack, or at who calls.
local by_level = {}
for name in ([[debug.getinfo debug.traceback debug.getlocal debug.setlocal debug.getfenv debug.setfenv debug.sethook
        debug.gethook debug.sourcefile debug.sourcedir debug.debug]]):gmatch('%S+') do
    by_level[name:gsub('^debug%.', 'debug ')] = true
end
for _, name in ipairs{'strict on', 'strict off'} do
    by_level[name] = true
end

local function note(name, what, arguments)
    local key = name .. ' ' .. what
    local different = count[key] or 0
    if different >= DIFFERENT_MAX or seen[key .. arguments] then
        return
    end
    seen[key .. arguments], count[key] = true, different + 1
    local f = open(path, 'a')
    if f ~= nil then
        f:write(key .. '\n')
        f:close()
    end
end

local function text_of(...)
    local out = {}
    for i = 1, select('#', ...) do
        local v = (select(i, ...))
        local kind = type(v)
        if kind == 'table' then
            local keys = {}
            for k in pairs(v) do
                keys[#keys + 1] = tostring(k)
            end
            sort(keys)
            out[i] = 'table' .. concat(keys, ' ', 1, #keys < 20 and #keys or 20)
        elseif kind == 'string' then
            out[i] = sub(v, 1, 40) .. #v
        else
            out[i] = kind == 'function' and kind or sub(tostring(v), 1, 40)
        end
    end
    return concat(out, '\1')
end

local wrap_methods

local function result(name, arguments, ok, ...)
    if not ok then
        note(name, 'bad', arguments)
        error((...), 0)
    end
    local first, second = ...
    if first == nil then
        note(name, second == nil and 'nil' or 'bad', arguments)
    else
        note(name, first == false and second ~= nil and 'bad' or 'good', arguments)
    end
    wrap_methods(name, first)
    return ...
end

local wrapped = setmetatable({}, {__mode = 'k'})

local function wrap(name, f)
    note(name, 'known', '')
    local function traced(...)
        local caller = getinfo(2, 'S')
        if caller ~= nil and find(caller.source, '^@builtin') then
            return f(...)
        end
        local arguments = text_of(...)
        if by_level[name] then
            note(name, 'good', arguments)
            return f(...)
        end
        return result(name, arguments, pcall(f, ...))
    end
    wrapped[traced] = true
    return traced
end

local function wrap_table(module, prefix, t, depth)
    local functions = {}
    for k, v in pairs(t) do
        if type(k) == 'string' and not find(k, '^_') and k ~= 'internal' then
            functions[k] = v
        end
    end
    for k, v in pairs(functions) do
        if type(v) == 'function' and not wrapped[v] then
            rawset(t, k, wrap(module .. ' ' .. prefix .. k, v))
        elseif type(v) == 'table' and depth > 0 and v ~= t and not find(k, '^%u') then
            wrap_table(module, prefix .. k .. '.', v, depth - 1)
        end
    end
end

-- The methods of an object, once for each class; those of all classes are told as ":NAME".
local done = {}
function wrap_methods(name, object)
    local kind = type(object)
    if kind ~= 'table' and kind ~= 'userdata' then
        return
    end
    local mt = getmetatable(object)
    local methods = type(mt) == 'table' and rawget(mt, '__index')
    if type(methods) == 'table' and not done[methods] then
        done[methods] = true
        wrap_table(name:match('^%S+'), ':', methods, 0)
    end
end

for module in getenv('TARN_USES_MODULES'):gmatch('%S+') do
    local ok, t = pcall(require, module)
    if ok and type(t) == 'table' then
        done[t] = true
        wrap_table(module, '', t, 1)
        local mt = getmetatable(t)
        if type(mt) == 'table' and type(mt.__index) == 'table' and mt.__index ~= t then
            wrap_table(module, '', mt.__index, 0)
        end
        if type(mt) == 'table' and type(mt.__call) == 'function' then
            mt.__call = wrap(module .. ' ()', mt.__call)
        end
    end
end
return true
