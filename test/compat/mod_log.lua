-- SPDX-License-Identifier: BSD-2-Clause
-- log: what goes to a file, at which level, in which words.
local check = require('check')
log = require('log')
fio = require('fio')
path = fio.pathjoin(fio.cwd(), 'test.log')
box.cfg{log = path, log_level = 5}
function lines()
    local f = fio.open(path, 'O_RDONLY')
    local text = f:read()
    f:close()
    local out = {}
    for line in text:gmatch('[^\n]+') do
        local level, message = line:match(' ([A-Z])> (.*mark.*)$')
        if level then table.insert(out, level .. ' ' .. message) end
    end
    return out
end
function reopened()
    local f = fio.open(path, 'O_RDONLY')
    local text = f:read()
    f:close()
    return text:match(' I> (log file has been reopened)\n')
end
check [[
log.error('mark 1'), log.warn('mark 2'), log.info('mark 3'), log.debug('mark 4'), log.verbose('mark 5')
lines()
log.info('mark %s %d %5.2f', 'format', 42, 1.5)
log.info('mark 100%')
log.info({mark = 'table'})
log.info('mark', 'extra')
log.warn(box.error.new{code = 1, reason = 'mark error'})
log.info(12345)
log.info('mark %s')
log.info()
log.level()
log.level(7)
log.debug('mark debug'), log.verbose('mark verbose')
box.cfg{log_level = 'error'}
log.warn('mark unseen'), log.error('mark seen')
lines()
type(log.pid()), type(log.rotate), type(log.log_format)
log.level(5), log.rotate()
require('fiber').sleep(0.1)
reopened()
log.log_format('nonsense')
log.level('fatal'), log.level('syserror'), log.level('error'), log.level('crit'), log.level('warn')
log.level('info'), log.level('verbose'), log.level('debug'), log.level(9), log.level(-1)
log.level('INFO')
log.level('5')
log.level({})
log.level(5)
require('log') == log
]]
check.finish()
