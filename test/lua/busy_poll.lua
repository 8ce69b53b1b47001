#!/usr/bin/env tarn
-- SPDX-License-Identifier: BSD-2-Clause
-- box.cfg{io_busy_poll}: what it may be, and that requests come either way.
local tap = require('tap')
local fio = require('fio')
local net = require('net.box')

local test = tap.test('busy_poll')
test:plan(9)

local dir = fio.tempdir()
box.cfg{work_dir = dir, log_level = 0, listen = '127.0.0.1:0', io_busy_poll = 0.001}
test:is(box.cfg.io_busy_poll, 0.001, 'set')
local conn = net.connect(box.info.listen)

local function ping_often(name)
    local count = 0
    for _ = 1, 200 do
        count = count + (conn:ping() and 1 or 0)
    end
    test:is(count, 200, name)
end

ping_often('looking')
box.cfg{io_busy_poll = 0}
ping_often('without')
box.cfg{io_busy_poll = box.NULL}
test:is(box.cfg.io_busy_poll, nil, 'left to the server')
ping_often('as the server likes')
for name, value in pairs({['too long'] = 0.01, negative = -1, ['no number'] = 'often', NaN = 0 / 0}) do
    local ok, err = pcall(box.cfg, {io_busy_poll = value})
    test:ok(not ok and tostring(err):find("option 'io_busy_poll'", 1, true), name)
end

conn:close()
fio.rmtree(dir)
os.exit(test:check() and 0 or 1)
