-- SPDX-License-Identifier: BSD-2-Clause
-- The module tarn, with and without a database, and its functions given what they do not take.
local tap = require('tap')
local tarn = require('tarn')
local test = tap.test('tarn')
test:plan(16)

test:like(tarn.version, '^%d+%.%d+%.%d+$', 'version')
test:is(tarn.compatible, '2.6.0', 'compatible')
test:like(tarn.commit, '^%x*%+?$', 'commit')
test:is(_TARANTOOL, ('%s-0-gtarn%s'):format(tarn.compatible, tarn.version), 'both in _TARANTOOL')
test:ok(pcall(tarn.check), 'check before box.cfg: there is nothing to be damaged')
test:is(type(tarn.stat.lua().heap), 'number', 'stat.lua before box.cfg')
test:ok(tarn.stat.memory().process > 0, 'stat.memory before box.cfg')
test:is(type(tarn.stat.procedures()), 'table', 'stat.procedures before box.cfg')

box.cfg{log_level = 1, wal_mode = 'none'}
local s = box.schema.space.create('s')
s:create_index('pk')
for i = 1, 100 do
    s:insert{i}
end
test:ok(pcall(tarn.check), 'check')
test:ok(pcall(tarn.check, 'anything'), 'check takes nothing')
test:is(tarn.stat.lua(5).heap > 0, true, 'stat.lua takes nothing')
test:is(tarn.stat.memory({}).tuples > 0, true, 'stat.memory takes nothing')
test:ok(not pcall(tarn.stat.procedures.limit, 'x'), 'a limit that is none')
test:ok(not pcall(tarn.stat.procedures.limit, -1), 'a limit below zero')
test:ok(pcall(tarn.stat.procedures.limit, 10) and pcall(tarn.stat.procedures.limit, 1000), 'limits')
test:ok(pcall(tarn.stat.procedures.reset) and next(tarn.stat.procedures()) == nil, 'reset')
os.exit(test:check() and 0 or 1)
