-- SPDX-License-Identifier: BSD-2-Clause
--
-- Globals that need no C: pairs and ipairs for cdata, dostring, tonumber64, and
-- where require() looks for modules.
local ffi = require('ffi')
local cdata = require('internal.cdata')
local getcwd = require('tarn.init').getcwd

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

-- Modules ---------------------------------------------------------------------

local search_root -- set by package.setsearchroot()

local function is_file(path)
    local f = io.open(path, 'r')
    if f ~= nil then
        f:close()
        return true
    end
    return false
end

local function working_dir()
    return search_root or getcwd()
end

-- The directory itself and all that hold it, innermost first.
local function dirs_upwards(dir)
    local dirs = {dir}
    while dir ~= '/' and dir ~= '' do
        dir = dir:match('^(.*)/[^/]*$') or ''
        dirs[#dirs + 1] = dir == '' and '/' or dir
        if dir == '' then
            break
        end
    end
    return dirs
end

local lua_templates = {'?.lua', '?/init.lua'}
local c_templates = {'?.so'}

local function join(dir, tail)
    return dir == '/' and '/' .. tail or dir .. '/' .. tail
end

local function path_in_cwd(templates)
    local paths = {}
    for _, t in builtin_ipairs(templates) do
        paths[#paths + 1] = join(working_dir(), t)
    end
    return table.concat(paths, ';')
end

local function path_in_rocks(kind, templates)
    local paths = {}
    for _, dir in builtin_ipairs(dirs_upwards(working_dir())) do
        for _, t in builtin_ipairs(templates) do
            paths[#paths + 1] = join(dir, '.rocks/' .. kind .. '/tarantool/' .. t)
        end
    end
    return table.concat(paths, ';')
end

-- Like package.searchpath(), but its message lists the files as the reference's does.
local function find(name, path)
    local tail = name:gsub('%.', '/')
    local tried = {}
    for template in path:gmatch('[^;]+') do
        local file = template:gsub('%?', (tail:gsub('%%', '%%%%')))
        if is_file(file) then
            return file
        end
        tried[#tried + 1] = ("\n\tno file '%s'"):format(file)
    end
    return nil, table.concat(tried)
end

local function load_lua(file)
    local chunk, err = loadfile(file)
    if chunk == nil then
        error(err)
    end
    return chunk
end

local function load_c(file, name)
    local symbol = name:gsub('^.*%-', ''):gsub('%.', '_')
    local func, err = package.loadlib(file, 'luaopen_' .. symbol)
    if func == nil then
        error(("error loading module '%s' from file '%s':\n\t%s"):format(name, file, err))
    end
    return func
end

local function loader(path, load)
    return function(name)
        local file, err = find(name, path())
        if file == nil then
            return err
        end
        return load(file, name)
    end
end

-- The reference's own modules: where one is not there, require() says so before it lists
-- the places where it looked.
local known = {}
for name in ([[
    jit.bc
    jit.dis_x64
    jit.dis_x86
    jit.dump
    jit.p
    jit.v
    jit.vmdef
    jit.zone
    serpent
    swim
    xlog
]]):gmatch('%S+') do
    known[name] = true
end

local function preload_loader(name)
    local func = package.preload[name]
    if func ~= nil then
        return func
    end
    local hint = ''
    if known[name] then
        hint = ("\n\ttarn does not have the module '%s' yet, see docs/compatibility.md")
               :format(name)
    end
    return ("%s\n\tno field package.preload['%s']"):format(hint, name)
end

local search_order = {
    preload_loader,
    loader(function() return path_in_cwd(lua_templates) end, load_lua),
    loader(function() return path_in_cwd(c_templates) end, load_c),
    loader(function() return path_in_rocks('share', lua_templates) end, load_lua),
    loader(function() return path_in_rocks('lib', c_templates) end, load_c),
    loader(function() return package.path end, load_lua),
    loader(function() return package.cpath end, load_c),
}
local all_in_one = package.loaders[4] -- a C module of several Lua modules

for i, func in builtin_ipairs(search_order) do
    package.loaders[i] = func
end
package.loaders[#search_order + 1] = all_in_one

-- The function that would load the module, nil where there is none.
function package.search(name)
    for _, func in builtin_ipairs(package.loaders) do
        local found = func(name)
        if type(found) == 'function' then
            return found
        end
    end
    return nil
end

function package.searchroot()
    return working_dir()
end

function package.setsearchroot(dir)
    if dir ~= nil and type(dir) ~= 'string' then
        error('Search root must be a string', 2)
    end
    if dir == nil then
        -- The directory of the script that asks.
        local source = debug.getinfo(2, 'S').source
        dir = source:match('^@(.*)/[^/]*$') or getcwd()
    end
    search_root = dir:sub(1, 1) == '/' and dir or join(getcwd(), dir)
end

local home = os.getenv('HOME') or ''
local lua_dirs, c_dirs = {}, {}
local function add(list, dir, ...)
    for _, t in builtin_ipairs({...}) do
        list[#list + 1] = dir .. '/' .. t
    end
end
if home ~= '' then
    add(lua_dirs, home .. '/.luarocks/share/lua/5.1', '?.lua', '?/init.lua')
    add(lua_dirs, home .. '/.luarocks/share/lua', '?.lua', '?/init.lua')
    add(c_dirs, home .. '/.luarocks/lib/lua/5.1', '?.so')
    add(c_dirs, home .. '/.luarocks/lib/lua', '?.so')
end
for _, dir in builtin_ipairs({'tarantool', 'lua/5.1'}) do
    add(lua_dirs, '/usr/local/share/' .. dir, '?.lua', '?/init.lua')
    add(lua_dirs, '/usr/share/' .. dir, '?.lua', '?/init.lua')
end
for _, dir in builtin_ipairs({'tarantool', 'lua/5.1'}) do
    add(c_dirs, '/usr/local/lib/x86_64-linux-gnu/' .. dir, '?.so')
    add(c_dirs, '/usr/lib/x86_64-linux-gnu/' .. dir, '?.so')
    add(c_dirs, '/usr/local/lib/' .. dir, '?.so')
end

-- A path from the environment, in which ";;" stands for ours.
local function path_of(variable, dirs)
    local default = table.concat(dirs, ';') .. ';'
    local path = os.getenv(variable)
    if path == nil then
        return default
    end
    return (path:gsub(';;', function() return ';' .. default end))
end
package.path = path_of('LUA_PATH', lua_dirs)
package.cpath = path_of('LUA_CPATH', c_dirs)
