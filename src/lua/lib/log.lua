-- SPDX-License-Identifier: BSD-2-Clause
--
-- The module `log`: lines of a level to the program's log. A text with arguments
-- is a format; a table is written as JSON; any other value as tostring has it.
local core = require('tarn.log')

local levels = {fatal = 0, syserror = 1, error = 2, crit = 3, warn = 4, info = 5,
                verbose = 6, debug = 7}

local function text_of(value, ...)
    if type(value) == 'table' then
        local ok, text = pcall(require('json').encode, value)
        return ok and text or tostring(value)
    elseif select('#', ...) > 0 then
        return tostring(value):format(...)
    end
    return tostring(value)
end

-- The level's function. Lines up to 'warn' say where they come from.
local function writer(level)
    return function(...)
        if level > core.level() then
            return
        end
        local file, line
        if level <= levels.warn then
            local info = debug.getinfo(2, 'Sl')
            file, line = info and info.short_src, info and info.currentline
        end
        core.write(level, text_of(...), file, line)
    end
end

local log = {
    error = writer(levels.error),
    warn = writer(levels.warn),
    info = writer(levels.info),
    verbose = writer(levels.verbose),
    debug = writer(levels.debug),
    rotate = core.reopen,
}

-- Sets the level by number or name, as box.cfg.log_level takes it. A number beyond the
-- scale is its end.
function log.level(level)
    local number = level
    if type(level) == 'string' then
        number = levels[level]
        if number == nil then
            error('expected crit,warn,info,debug,syserror,verbose,fatal,error', 2)
        end
    elseif type(level) ~= 'number' then
        error('must be a number or a string', 2)
    end
    core.level(number)
end

function log.log_format(format)
    if format ~= 'plain' and format ~= 'json' then
        error('expected json,plain', 2)
    end
    core.set_format(format)
end

-- The process of a log pipe; tarn writes to none.
function log.pid()
    return 0
end

return log
