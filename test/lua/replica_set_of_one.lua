-- SPDX-License-Identifier: BSD-2-Clause
-- box.cfg.replication that lists only where this server listens is accepted, any other is not.
local tap = require('tap')
local fio = require('fio')
local test = tap.test('replica set of one')
test:plan(11)

local path = fio.pathjoin(fio.cwd(), 'one.sock')
local function refused(name, value)
    local ok, err = pcall(box.cfg, {replication = value})
    test:ok(not ok and tostring(err):find('replication is not supported', 1, true), name, {ok, tostring(err)})
end

local ok, err = pcall(box.cfg, {log_level = 1, listen = 'unix/:' .. path, replication = {'localhost:3301'}})
test:ok(not ok and tostring(err):find('replication is not supported', 1, true), 'another at the start')
box.cfg{log_level = 1, listen = {'unix/:' .. path, '127.0.0.1:0'}, replication = 'admin:secret@unix/:' .. path}
test:is(box.info.status, 'running', 'itself at the start')
test:is(#box.info.replication, 1, 'is the only one')
test:is(box.cfg.replication[1], 'admin:secret@unix/:' .. path, 'is kept as it was given')
test:ok(pcall(box.cfg, {replication = {}}), 'none')
test:ok(pcall(box.cfg, {replication = {'unix/:' .. path}}), 'itself again')
refused('itself and another', {'unix/:' .. path, 'localhost:3301'})
refused('another path', {'unix/:' .. path .. '2'})
refused('another host', {'192.0.2.1:3301'})
refused('no port of its own', {'127.0.0.1:1'})
test:is(box.cfg.replication[1], 'unix/:' .. path, 'what is refused changes nothing')
os.exit(test:check() and 0 or 1)
