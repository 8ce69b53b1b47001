#!/usr/bin/env tarn
-- SPDX-License-Identifier: BSD-2-Clause
-- Stored functions: garbage, nesting, sandboxes, drops during a call.
local tap = require('tap')
local fiber = require('fiber')
local fio = require('fio')

local test = tap.test('call')
test:plan(6)

local dir = fio.tempdir()
box.cfg{work_dir = dir, log_level = 0, wal_mode = 'none'}
local create = box.schema.func.create

test:test('a call makes no garbage', function(t)
    t:plan(2)
    create('empty', {body = 'function() end'})
    create('add', {body = 'function(a, b) return a + b end'})
    local empty, add, args = box.func.empty, box.func.add, {1, 2}
    local function garbage(f)
        -- What the compiler makes is not the call's.
        jit.off()
        for _ = 1, 1000 do f() end
        collectgarbage()
        collectgarbage('stop')
        local before = collectgarbage('count')
        for _ = 1, 1000 do f() end
        local after = collectgarbage('count')
        collectgarbage('restart')
        jit.on()
        return math.floor(after - before)
    end
    t:is(garbage(function() empty:call() end), 0, 'of nothing')
    t:is(garbage(function() add:call(args) end), 0, 'of numbers')
end)

test:test('functions call functions', function(t)
    t:plan(2)
    create('down', {body = [[function(n)
        if n == 0 then return 'bottom' end
        return box.func.down:call({n - 1})
    end]]})
    t:is(box.func.down:call({50}), 'bottom', '50 deep')
    create('endless', {body = 'function() return box.func.endless:call() end'})
    local ok, e = pcall(box.func.endless.call, box.func.endless)
    t:is(not ok and e.message, 'stack overflow', 'without an end')
end)

test:test('a function that yields', function(t)
    t:plan(3)
    create('slow', {body = "function(x) require('fiber').sleep(0.01) return x end"})
    local results = {}
    local fibers = {}
    for i = 1, 20 do
        fibers[i] = fiber.new(function() results[i] = box.func.slow:call({i}) end)
        fibers[i]:set_joinable(true)
    end
    for i = 1, 20 do fibers[i]:join() end
    local all = true
    for i = 1, 20 do all = all and results[i] == i end
    t:ok(all, 'many at a time')
    local slow, result = box.func.slow, nil
    local fb = fiber.new(function() result = slow:call({'still here'}) end)
    fb:set_joinable(true)
    fiber.yield()
    slow:drop()
    fb:join()
    t:is(result, 'still here', 'dropped while it runs')
    t:ok(not pcall(slow.call, slow), 'gone')
end)

test:test('values', function(t)
    t:plan(4)
    create('echo', {body = 'function(...) return ... end'})
    local echo, value = box.func.echo, {1}
    t:is(echo:call({value}), value, 'tables go by reference')
    t:is(echo:call({print}), print, 'functions too')
    local many = {}
    for i = 1, 5000 do many[i] = i end
    t:is(select('#', echo:call(many)), 5000, 'many')
    t:is(select('#', echo:call({})), 0, 'none')
end)

test:test('sandboxes', function(t)
    t:plan(4)
    create('inside', {is_sandboxed = true, body = [[function()
        return box == nil and require == nil and os == nil and io == nil and type(string.rep)
    end]]})
    t:is(box.func.inside:call(), 'function', 'what it sees')
    create('global', {is_sandboxed = true, body = 'function() leak = 1 string.leak = 2 return leak end'})
    t:is(box.func.global:call(), 1, 'a global of its own')
    t:is(rawget(_G, 'leak'), nil, 'not ours')
    t:is(string.leak, nil, "libraries are not ours")
end)

test:test('bodies that are none', function(t)
    local bodies = {'5', 'print', 'function( end', 'function() end return 1', 'error("x")', '{}', '\27LJ',
                    '(function() while true do end end) and 1'}
    t:plan(#bodies)
    for i, body in ipairs(bodies) do
        local ok, e = pcall(create, 'bad' .. i, {body = body})
        t:ok(not ok and e.code == box.error.LOAD_FUNCTION, ('%q'):format(body))
    end
end)

fio.rmtree(dir)
os.exit(test:check() and 0 or 1)
