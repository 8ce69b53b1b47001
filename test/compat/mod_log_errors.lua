-- SPDX-License-Identifier: BSD-2-Clause
-- log: levels, formats and log.cfg() with bad input; what goes to the file.
local check = require('check')
log = require('log')
fio = require('fio')
json = require('json')
path = fio.pathjoin(fio.cwd(), 'test.log')
function get()
    local f = fio.open(path, 'O_RDONLY')
    local text = f:read(1e6)
    f:close()
    return text
end
-- The messages of the lines since the last call.
local seen = 0
function lines()
    local text = get()
    local out = {}
    for line in text:sub(seen + 1):gmatch('[^\n]+') do
        local level, message = line:match(' ([A-Z])> (.*)$')
        if level ~= nil and message:find('mark', 1, true) then
            table.insert(out, level .. ' ' .. message)
        elseif line:sub(1, 1) == '{' then
            local t = json.decode(line)
            if tostring(t.message):find('mark', 1, true) or t.mark ~= nil then
                t.time, t.pid, t.fiber_id, t.fiber_name = nil
                table.insert(out, t)
            end
        end
    end
    seen = #text
    return out
end
check [[
log.cfg.level, log.cfg.format, log.cfg.log, log.cfg.nonblock
log.cfg{log = path, level = 5}
log.cfg.level, log.cfg.format, log.cfg.log == path, log.cfg.nonblock
log.cfg()
log.cfg{level = 'nonsense'}
log.cfg{level = {}}
log.cfg{level = true}
log.cfg{format = 'nonsense'}
log.cfg{format = 5}
log.cfg{nonblock = 'x'}
log.cfg{nonsense = 1}
log.cfg{log = 5}
log.cfg{log = {}}
log.cfg{log = '/another'}
log.cfg{log = path}
log.cfg{level = 'verbose'}, log.cfg.level
log.cfg{level = 6}, log.cfg.level
log.cfg.nosuch
log.level('info'), log.cfg.level
log.error('mark %s', 1), log.warn('mark %d', 2), log.info('mark'), log.verbose('mark unseen'), log.debug('mark unseen')
lines()
log.error(), log.warn(nil), log.info(true), log.info(box.NULL)
log.info(nil, 'mark')
log.warn(nil, nil)
log.info('mark %'), log.info('mark %%'), log.info('%s mark')
log.info('mark %s', nil), log.info('mark %s', {}), log.info('mark %s', box.NULL)
#lines()
log.info({mark = 1}), log.info({'mark', 2}), log.info(setmetatable({}, {__tostring = function() return 'mark' end}))
lines()
log.info('mark\nof two lines'), log.info('mark\0zero'), log.info('mark \255'), log.info(('mark'):rep(10))
#lines()
log.info(print)
log.log_format('json'), log.cfg.format
log.info({mark = 1, level = 'l', pid = 'p', cord_name = 'c', fiber_id = 'f', fiber_name = 'n', file = 'i', line = 'l', message = 'm'})
log.info('mark'), log.info({mark = 'of a table', level = 'x', message = 'y'}), log.info({mark = {1, 2}}), log.warn('mark "quoted" \n \1 \255')
lines()
log.log_format('plain'), log.cfg.format
log.log_format()
log.log_format(5)
log.log_format('JSON')
log.cfg{format = 'json'}, log.cfg.format
log.cfg{format = 'plain'}, log.cfg.format
log.level('nonsense')
log.level(true)
log.level(100), log.cfg.level, log.level(0), log.cfg.level
log.level('debug'), log.cfg.level
log.debug('mark seen'), log.verbose('mark seen')
lines()
log.level(nil)
log.level(2.7), log.cfg.level
log.pid(), log.logger_pid and log.logger_pid()
log.pid(5)
(pcall(log.nosuch))
box.cfg{log_level = 3}
log.cfg.level, box.cfg.log_level, log.cfg.log == path
log.cfg{level = 5}, box.cfg.log_level
box.cfg{log_format = 'json'}
log.cfg.format, box.cfg.log_format
box.cfg{log_format = 'nonsense'}
box.cfg{log_level = 'nonsense'}
box.cfg{log_nonblock = 5}
box.cfg{log_format = 'plain'}
log.error('mark the end')
lines()
require('log').error == log.error, tostring(log.error):match('^function') ~= nil
]]
check.finish()
