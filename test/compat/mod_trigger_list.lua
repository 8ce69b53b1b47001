-- SPDX-License-Identifier: BSD-2-Clause
-- internal.trigger: the lists of functions that rocks make for their own events.
local check = require('check')
trigger = require('internal.trigger')
t, log = trigger.new('named'), {}
function a(...) table.insert(log, {'a', ...}) return 1 end
function b(...) table.insert(log, {'b', ...}) end
function c() table.insert(log, 'c') error('on purpose') end
callable = setmetatable({}, {__call = function(_, x) table.insert(log, {'callable', x}) end})
check [[
t.name, #t(), t:run(), #log
t(a), t(b), #t(), t()[1] == a, t()[2] == b
t:run(1, nil, 3)
log
t(5)
t('x')
t({})
t(nil, 5)
t(a, 'x')
t(nil, print)
t(a, print)
t(c, a) == a, t()[1] == c, #t()
log = {}
(pcall(t.run, t))
log
t(nil, c) == c, #t(), t(nil, b) == b, #t()
t(nil, b)
t(callable)
log = {}
t:run('x'), t.run(t, 'y'), log
trigger.new() ~= nil, trigger.new(5) ~= nil, type(trigger.new(5).run)
t.nosuch, getmetatable(t).__call ~= nil
]]
check.finish()
