-- SPDX-License-Identifier: BSD-2-Clause
--
-- Where require() looks for modules: in the working directory (or the search root), in the
-- directories `.rocks` of it and of those that hold it, next to the script, in package.path.
-- A file `override/NAME.lua` there takes the place of the module NAME that comes with the server:
-- in it, require('internal.loaders').builtin.NAME is that one.
local getcwd = require('tarn.init').getcwd

local search_root -- set by package.setsearchroot()
local script_dir, script_file -- of the script that runs, nil where there is none

local function exists(path)
    local f = io.open(path, 'r')
    if f ~= nil then
        f:close()
    end
    return f ~= nil
end

-- A directory can be opened, too, but not read.
local function is_file(path)
    local f = io.open(path, 'r')
    if f == nil then
        return false
    end
    local _, err = f:read(1)
    f:close()
    return err == nil
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

local function add_templates(paths, dir, prefix, templates)
    for _, t in ipairs(templates) do
        paths[#paths + 1] = join(dir, prefix .. t)
    end
end

local function has_own_script_dir()
    return script_dir ~= nil and script_dir ~= working_dir()
end

local function path_in_cwd(templates)
    local paths = {}
    add_templates(paths, working_dir(), '', templates)
    if has_own_script_dir() then
        add_templates(paths, script_dir, '', templates)
    end
    return table.concat(paths, ';')
end

local function path_in_rocks(kind, templates)
    local prefix = '.rocks/' .. kind .. '/tarantool/'
    local paths = {}
    for _, dir in ipairs(dirs_upwards(working_dir())) do
        add_templates(paths, dir, prefix, templates)
    end
    if has_own_script_dir() then
        add_templates(paths, script_dir, prefix, templates)
    end
    return table.concat(paths, ';')
end

-- Like package.searchpath(), but its message lists the files as the reference's does.
local function find(name, path)
    local tail = name:gsub('%.', '/')
    local tried = {}
    for template in path:gmatch('[^;]+') do
        local file = template:gsub('%?', (tail:gsub('%%', '%%%%')))
        -- A script is not meant by a name that it shares with a module.
        if file ~= script_file and is_file(file) then
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

-- The modules that come with the server, by name; those that are Lua alone are made when asked for.
local preloaded = {}
local builtin = setmetatable({}, {__index = function(t, name)
    local make = preloaded[name]
    if make ~= nil then
        t[name] = make(name)
        return rawget(t, name)
    end
end})
local has_overrides = false

local loaders = {builtin = builtin}

local function override_path()
    return table.concat({path_in_cwd(lua_templates), path_in_rocks('share', lua_templates), package.path}, ';')
end

-- Whether there is a directory `override` where require() looks; found out once.
local function look_for_overrides()
    local seen = {}
    for base in override_path():gmatch('([^;?]*)%?[^;]*') do
        if not seen[base] and exists(base .. 'override') then
            return true
        end
        seen[base] = true
    end
    return false
end

-- The file that takes the place of a module of the server.
local function find_override(name)
    if not has_overrides or (rawget(builtin, name) == nil and preloaded[name] == nil) then
        return nil
    end
    return (find('override.' .. name, override_path()))
end

local function preload_loader(name)
    local file = find_override(name)
    if file ~= nil then
        return load_lua(file)
    end
    local func = package.preload[name]
    if func ~= nil and func ~= preloaded[name] then
        return func
    elseif rawget(builtin, name) ~= nil or preloaded[name] ~= nil then
        return function() return builtin[name] end
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

for i, func in ipairs(search_order) do
    package.loaders[i] = func
end
package.loaders[#search_order + 1] = all_in_one

-- The function that would load the module, nil where there is none.
function package.search(name)
    for _, func in ipairs(package.loaders) do
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
    for _, t in ipairs({...}) do
        list[#list + 1] = dir .. '/' .. t
    end
end
if home ~= '' then
    add(lua_dirs, home .. '/.luarocks/share/lua/5.1', '?.lua', '?/init.lua')
    add(lua_dirs, home .. '/.luarocks/share/lua', '?.lua', '?/init.lua')
    add(c_dirs, home .. '/.luarocks/lib/lua/5.1', '?.so')
    add(c_dirs, home .. '/.luarocks/lib/lua', '?.so')
end
for _, dir in ipairs({'tarantool', 'lua/5.1'}) do
    add(lua_dirs, '/usr/local/share/' .. dir, '?.lua', '?/init.lua')
    add(lua_dirs, '/usr/share/' .. dir, '?.lua', '?/init.lua')
end
for _, dir in ipairs({'tarantool', 'lua/5.1'}) do
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

-- What an application may not replace: Lua's own libraries, and what all else stands on.
local fixed = {}
for name in ('_G bit box coroutine debug ffi io jit math os package string table'):gmatch('%S+') do
    fixed[name] = true
end

local function is_inner(name)
    return fixed[name] or name:match('^internal%.') or name:match('^tarn%.')
end

-- Called once, when all modules are there and before the first line of an application's code runs.
-- `script` is the path of the program's script, nil where it has none.
function loaders.start(script)
    if script ~= nil then
        local dir = script:match('^(.*)/[^/]*$')
        dir = dir == nil and getcwd() or dir == '' and '/' or dir
        script_dir = dir:sub(1, 1) == '/' and dir or join(getcwd(), dir)
        if has_own_script_dir() then
            script_file = join(script_dir, script:match('[^/]*$'))
        end
    end
    for name, make in pairs(package.preload) do
        preloaded[name] = not is_inner(name) and make or nil
    end
    for name, module in pairs(package.loaded) do
        if not is_inner(name) then
            builtin[name] = module
        end
    end
    -- Those that are replaced are looked for by the next require(); all others stay as they are.
    has_overrides = look_for_overrides()
    for name in pairs(builtin) do
        if find_override(name) ~= nil then
            package.loaded[name] = nil
        end
    end
end

return loaders
