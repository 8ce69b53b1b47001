-- SPDX-License-Identifier: BSD-2-Clause
-- box.cfg.listen at run time, box.info.listen, and the pid file.
local tap = require('tap')
local fio = require('fio')

local dir = fio.tempdir()
box.cfg{work_dir = dir, log_level = 2, listen = '127.0.0.1:0', pid_file = 'tarn.pid'}
local test = tap.test('cfg_listen')
test:plan(13)

local address = box.info.listen
test:like(address, '^127%.0%.0%.1:%d+$', 'the kernel chose a port')
test:is(box.cfg.listen, '127.0.0.1:0', 'the option is as given')
local port = tonumber(address:match(':(%d+)$'))
test:ok(port > 0, 'the port is real')

local file = io.open(dir .. '/tarn.pid')
test:is(tonumber(file:read('*a')), box.info.pid, 'the pid file')
file:close()

box.cfg{listen = 'unix/:' .. dir .. '/socket'}
test:is(box.info.listen, 'unix/:' .. dir .. '/socket', 'a unix socket instead')
test:ok(fio.stat(dir .. '/socket'):is_sock(), 'its file')
local ok, err = pcall(box.cfg, {listen = dir .. '/none/socket'})
test:ok(not ok, 'a path without a directory')
test:is(box.info.listen, 'unix/:' .. dir .. '/socket', 'leaves the old one')
test:is(box.cfg.listen, 'unix/:' .. dir .. '/socket', 'and the option')
test:ok(tostring(err):find('none', 1, true) ~= nil, 'and says which')
box.cfg{listen = box.NULL}
test:is(box.info.listen, nil, 'nowhere')
test:is(fio.stat(dir .. '/socket'), nil, 'the file is gone')
box.cfg{listen = address}
test:is(box.info.listen, address, 'the first address again')
os.exit(test:check() and 0 or 1)
