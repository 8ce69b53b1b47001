-- SPDX-License-Identifier: BSD-2-Clause
--
-- The log's configuration, which log.cfg and box.cfg share: where lines go is set once,
-- by the first of the two; level, format and the levels of modules at any time.
local core = require('tarn.log')

local LEVELS = {
    fatal = 0, syserror = 1, error = 2, crit = 3, warn = 4, info = 5, verbose = 6, debug = 7,
}
local LEVEL_NAMES = 'crit,warn,info,debug,syserror,verbose,fatal,error'

local current = {level = 5, format = 'plain'}
local is_open = false
local listener -- of changes: (name, value)

local M = {levels = LEVELS, current = current}

-- What is wrong with a level, nil where nothing is.
function M.check_level(level)
    if type(level) == 'string' then
        return LEVELS[level] == nil and 'expected ' .. LEVEL_NAMES or nil
    end
    return type(level) ~= 'number' and 'must be a number or a string' or nil
end

function M.check_format(format)
    return format ~= 'plain' and format ~= 'json' and 'expected json,plain' or nil
end

function M.check_modules(modules)
    if type(modules) ~= 'table' then
        return 'should be of type table'
    end
    for name, level in pairs(modules) do
        if type(name) ~= 'string' then
            return 'a module has a name'
        end
        local problem = M.check_level(level)
        if problem ~= nil then
            return problem
        end
    end
    return nil
end

local function number_of(level)
    return LEVELS[level] or level
end
M.number_of = number_of

-- The level of a module, or of all.
function M.level_of(module)
    local own = module ~= nil and current.modules and current.modules[module]
    return own and number_of(own) or core.level()
end

local apply = {
    level = function(level) core.level(number_of(level)) end,
    format = core.set_format,
    modules = function() end,
}

-- Sets the level, the format or the levels of modules, which have been checked.
function M.set(name, value)
    apply[name](value)
    current[name] = name == 'level' and number_of(value) or value
    if listener ~= nil then
        listener(name, value)
    end
end

-- Opens the log, at the first call only; raises where that fails.
function M.open(target, is_nonblock)
    core.open(target, is_nonblock or false)
    current.log, current.nonblock = target, is_nonblock
    is_open = true
end

function M.is_open()
    return is_open
end

-- box.cfg says here what it wants to be told.
function M.listen(func)
    listener = func
end

-- Does the target take is_nonblock?
function M.can_be_nonblock(target)
    return type(target) == 'string' and
           (target:match('^|') or target:match('^pipe:') or target:match('^syslog:')) ~= nil
end

return M
