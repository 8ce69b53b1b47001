-- SPDX-License-Identifier: BSD-2-Clause
--
-- The module `log`: lines of a level to the program's log. A text with arguments
-- is a format; a table is written as JSON; any other value as tostring has it.
-- Manual: module log.
local core = require('tarn.log')
local config = require('internal.log_cfg')

local levels = config.levels

local function is_plain_object(value)
    return getmetatable(value) == nil and next(value) ~= nil and #value == 0
end

-- What a line in JSON says of itself: a table's fields by these names give way.
local OWN_NAMES = {'level', 'pid', 'cord_name', 'fiber_id', 'fiber_name', 'file', 'line'}

local function without_own_names(object)
    local copy
    for _, name in ipairs(OWN_NAMES) do
        if object[name] ~= nil then
            copy = copy or table.copy(object)
            copy[name] = nil
        end
    end
    return copy or object
end

-- The text, and whether it is a JSON object.
local function text_of(value, ...)
    if value == nil and select('#', ...) > 0 then
        error("bad argument #1 to '?' (string expected, got nil)", 3)
    elseif type(value) == 'table' then
        local is_object = is_plain_object(value)
        if is_object then
            value = without_own_names(value)
        end
        local ok, text = pcall(require('json').encode, value)
        if not ok then
            return tostring(value), false
        end
        return text, is_object
    elseif select('#', ...) > 0 then
        return tostring(value):format(...), false
    end
    return tostring(value), false
end

-- The level's function. Lines up to 'warn', and all in JSON, say where they come from.
local function writer(level, module)
    return function(...)
        if level > config.level_of(module) then
            return
        end
        local file, line
        if level <= levels.warn or config.current.format == 'json' then
            local info = debug.getinfo(2, 'Sl')
            file, line = info and info.short_src, info and info.currentline
        end
        local text, is_object = text_of(...)
        core.write(level, text, file, line, module, is_object)
    end
end

local function add_writers(log, module)
    for _, name in ipairs({'error', 'warn', 'info', 'verbose', 'debug'}) do
        log[name] = writer(levels[name], module)
    end
    return log
end

local log = add_writers({rotate = core.reopen, pid = core.pid})

function log.logger_pid()
    log.warn('logger_pid() is deprecated, please use pid() instead')
    return log.pid()
end

-- Sets the level by number or name, as box.cfg.log_level takes it. A number beyond the
-- scale is its end.
function log.level(level)
    local problem = config.check_level(level)
    if problem ~= nil then
        error(problem, 2)
    end
    config.set('level', config.number_of(level))
end

function log.log_format(format)
    local problem = config.check_format(format)
    if problem ~= nil then
        error(problem, 2)
    end
    config.set('format', format)
end

-- A logger of a module, whose level log.cfg{modules = {name = level}} can set.
function log.new(name)
    if type(name) ~= 'string' then
        error('Illegal parameters, name should be a string', 2)
    end
    return setmetatable(add_writers({name = name}, name), {__index = log})
end

-- log.cfg -------------------------------------------------------------------

local function wrong(name, problem)
    error(("log.cfg: '%s' %s"):format(name, problem), 0)
end

local checks = {
    level = config.check_level, format = config.check_format, modules = config.check_modules,
    nonblock = function(value)
        return type(value) ~= 'boolean' and "option must be 'true' or 'false'" or nil
    end,
    log = function(value)
        return type(value) ~= 'string' and 'should be of type string' or nil
    end,
}

local function open(given)
    local target, is_nonblock = given.log, given.nonblock
    if is_nonblock and not config.can_be_nonblock(target) then
        wrong('nonblock', 'the option is incompatible with file/stderr logger')
    end
    config.open(target, is_nonblock)
end

local function check_static(given, name)
    if config.is_open() and given[name] ~= nil and given[name] ~= config.current[name] then
        wrong(name, "can't be set dynamically")
    end
end

local function configure(_, given)
    given = given or {}
    if type(given) ~= 'table' then
        error('log.cfg: a table expected', 2)
    end
    check_static(given, 'log')
    for name, check in pairs(checks) do
        local problem = given[name] ~= nil and check(given[name])
        if problem then
            wrong(name, problem)
        end
    end
    check_static(given, 'nonblock')
    if not config.is_open() then
        open(given)
    end
    for _, name in ipairs({'level', 'format', 'modules'}) do
        local value = given[name]
        if value ~= nil then
            config.set(name, name == 'level' and config.number_of(value) or value)
        end
    end
end

log.cfg = setmetatable({}, {
    __call = configure,
    __index = config.current,
    __newindex = function()
        error('Attempt to modify a read-only table', 2)
    end,
    __serialize = function() return config.current end,
})

return log
