#!/usr/bin/env tarn
-- SPDX-License-Identifier: BSD-2-Clause
-- What a request did to its fiber and coroutine is not there in the next one, which both serve.
local clock = require('clock')
local fiber = require('fiber')
local fio = require('fio')
local net_box = require('net.box')
local tap = require('tap')

local test = tap.test('request_traces')
test:plan(4)

local dir = fio.tempdir()
box.cfg({work_dir = dir, listen = 'unix/:' .. dir .. '/s', log_level = 0, wal_mode = 'none'})
box.schema.user.grant('guest', 'super')
local c = net_box.connect(box.cfg.listen)

function compute(seconds)
    local till = clock.monotonic() + seconds
    while clock.monotonic() < till do
        fiber.check_slice()
    end
    return true
end

-- The next request is served by the same fiber: its id tells.
local function same_fiber()
    return c:eval('return require("fiber").self().id()')
end

test:test('globals', function(t)
    t:plan(2)
    t:is(c:eval('setfenv(0, {}) return 1'), 1, 'taken away')
    t:is(c:eval('return type(print)'), 'function', 'are there in the next request')
end)

test:test('a slice of the fiber', function(t)
    t:plan(3)
    local id = c:eval([[local self = require('fiber').self()
        self:set_max_slice(0.001)
        return self:id()]])
    t:is(same_fiber(), id, 'the fiber serves again')
    t:ok(pcall(c.call, c, 'compute', {0.005}), 'and has no bound')
    c:eval('require("fiber").set_slice(0.001)')
    t:ok(pcall(c.call, c, 'compute', {0.005}), 'nor what is left of a slice')
end)

test:test('the slice of all', function(t)
    t:plan(2)
    fiber.set_max_slice(0.4)
    local futures, failed = {}, 0
    for i = 1, 12 do
        futures[i] = c:call('compute', {0.05}, {is_async = true})
    end
    for i = 1, 12 do
        if futures[i]:wait_result(60) == nil then failed = failed + 1 end
    end
    t:is(failed, 0, 'is each request\'s own, though one fiber serves them without a switch')
    t:ok(not pcall(c.call, c, 'compute', {3600}), 'and bounds it')
    fiber.set_max_slice({})
end)

test:test('a name, a hook', function(t)
    t:plan(2)
    c:eval([[require('fiber').self():name('other') debug.sethook(function() end, 'l')]])
    t:is(c:eval('return require("fiber").self():name()'), 'main', 'the name')
    t:is(c:eval('return select(2, debug.gethook())'), '', 'the hook')
end)

c:close()
box.cfg({listen = box.NULL})
fio.rmtree(dir)
os.exit(test:check() and 0 or 1)
