-- SPDX-License-Identifier: BSD-2-Clause
-- Network threads: the option, the rows of statistics, connections that come and go.
local tap = require('tap')
local fiber = require('fiber')
local fio = require('fio')
local net = require('net.box')

local test = tap.test('net_threads')
test:plan(17)

local dir = fio.tempdir()
for _, value in ipairs{-1, 1001, 1.5} do
    local _, err = pcall(box.cfg, {work_dir = dir, log_level = 2, iproto_threads = value})
    test:is(tostring(err), "Incorrect value for option 'iproto_threads': must be an integer from 0 to 1000",
            'not ' .. value)
end
box.cfg{work_dir = dir, log_level = 2, iproto_threads = 3, listen = '127.0.0.1:0'}
test:is(box.cfg.iproto_threads, 3, 'the option is as given')
test:ok(pcall(box.cfg, {iproto_threads = 3}), 'it can be set to what it is')
local _, err = pcall(box.cfg, {iproto_threads = 2})
test:is(tostring(err), "Can't set option 'iproto_threads' dynamically", 'and to nothing else')

local function connections()
    local out = {}
    for i, row in ipairs(box.stat.net.thread()) do
        out[i] = row.CONNECTIONS.current
    end
    return out
end

local function wait(expected)
    for _ = 1, 1000 do
        if box.stat.net.CONNECTIONS.current == expected then
            return true
        end
        fiber.sleep(0.005)
    end
    return false
end

local gone = 0
box.session.on_disconnect(function() gone = gone + 1 end)
test:is_deeply(connections(), {0, 0, 0}, 'nobody is there')
local all = {}
for i = 1, 6 do
    all[i] = net.connect(box.info.listen)
end
test:is_deeply(connections(), {2, 2, 2}, 'connections are spread')
for _, c in ipairs(all) do
    c:ping()
end
local sent = 0
for _, row in ipairs(box.stat.net.thread()) do
    sent = sent + row.SENT.total
end
test:is(sent, box.stat.net.SENT.total, 'the rows add up')
test:ok(box.stat.net.thread[2].RECEIVED.total > 0, 'one row')
test:is(box.stat.net.thread[4], nil, 'no such row')

-- Those that are there stay where they are when the address changes.
box.cfg{listen = 'unix/:' .. dir .. '/socket'}
test:ok(all[1]:ping(), 'an old connection goes on')
local new = net.connect(box.info.listen)
test:is(new.state, 'active', 'a new one comes by the new address')
new:close()
for i = 1, 3 do
    all[i]:close()
end
test:ok(wait(3), 'those that are closed are gone')
test:is(gone, 4, 'and their triggers have run')

-- A request of some megabytes, and an answer.
local big = ('x'):rep(5000000)
box.schema.func.create('echo')
rawset(_G, 'echo', function(...) return ... end)
box.schema.user.grant('guest', 'execute', 'function', 'echo')
test:ok(all[4]:call('echo', {big}) == big, 'a large request')

-- The process ends while connections are open and requests are at work.
box.ctl.set_on_shutdown_timeout(0.1)
rawset(_G, 'sleep', function() fiber.sleep(100) end)
box.schema.func.create('sleep')
box.schema.user.grant('guest', 'execute', 'function', 'sleep')
local future = all[5]:call('sleep', {}, {is_async = true})
fiber.sleep(0.01)
test:ok(not future:is_ready(), 'a request is at work')
os.exit(test:check() and 0 or 1)
