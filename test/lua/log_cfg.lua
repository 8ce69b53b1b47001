-- SPDX-License-Identifier: BSD-2-Clause
-- log.cfg and box.cfg share one configuration; modules have levels of their own; objects in JSON.
local tap = require('tap')
local fio = require('fio')
local json = require('json')
local log = require('log')

local path = fio.pathjoin(fio.cwd(), 'own.log')
local function lines()
    local f = fio.open(path, {'O_RDONLY'})
    local text = f:read()
    f:close()
    local all = {}
    for line in text:gmatch('[^\n]+') do
        if line:find('mark', 1, true) then
            table.insert(all, line)
        end
    end
    return all
end

local test = tap.test('log.cfg')
test:plan(26)

local ok, err = pcall(log.cfg, {log = '/nonexistent/dir/log'})
test:ok(not ok and tostring(err):find('/nonexistent/dir/log', 1, true), 'a file that cannot be opened')
ok, err = pcall(log.cfg, {log = path, nonblock = true})
test:ok(not ok and tostring(err):find('incompatible', 1, true), 'a file cannot be nonblock')
log.cfg({log = path, level = 'warn', format = 'plain'})
test:is(log.cfg.log, path, 'the file')
test:is(log.cfg.level, 4, 'the level as a number')
log.info('mark 1')
log.warn('mark 2')
test:is(#lines(), 1, 'lines up to the level')
ok, err = pcall(log.cfg, {log = 'other'})
test:ok(not ok and tostring(err):find("can't be set dynamically", 1, true), 'the file stays')
log.cfg({log = path, level = 5})
test:is(log.cfg.level, 5, 'the same file may be named')
test:ok(not pcall(function() log.cfg.level = 7 end), 'options are not set by assignment')

local cart = log.new('cart')
cart.debug('mark 3')
test:is(#lines(), 1, 'a module has the level of all')
log.cfg({modules = {cart = 'debug', quiet = 'error'}})
cart.debug('mark 4')
log.debug('mark 5')
test:is(#lines(), 2, 'or its own')
test:ok(lines()[2]:find('/cart D> mark 4', 1, true), 'and is named')
local quiet = log.new('quiet')
quiet.warn('mark 6')
test:is(#lines(), 2, 'a lower one, too')
test:ok(not pcall(log.new), 'a logger has a name')
test:ok(not pcall(log.cfg, {modules = {cart = 'loud'}}), 'no such level')

log.cfg({format = 'json'})
log.info({mark = 'object', n = 1})
cart.info('mark text')
local object, text = json.decode(lines()[3]), json.decode(lines()[4])
test:is(object.mark, 'object', 'in JSON the members of an object are the line\'s')
test:is(text.module, 'cart', 'and the module is one')
test:is(text.message, 'mark text', 'and so is a text')

box.cfg({})
test:is(box.cfg.log, path, 'box.cfg leaves what log.cfg has set')
test:is(box.cfg.log_format, 'json', 'of all options')
log.cfg({level = 3})
test:is(box.cfg.log_level, 3, 'a change by log.cfg is seen by box.cfg')
box.cfg({log_level = 6, log_format = 'plain'})
test:is(log.cfg.level, 6, 'and the other way round')
box.cfg({log_modules = {cart = 'fatal'}})
cart.error('mark 7')
test:is(#lines(), 4, 'modules, too')
for _, name in ipairs{5, {}, true} do
    local is_made, problem = pcall(log.new, name)
    test:ok(not is_made and tostring(problem):find('should be a string', 1, true), 'a name of a logger that is none')
end
test:ok(not pcall(log.new), 'none at all')
os.exit(test:check() and 0 or 1)
