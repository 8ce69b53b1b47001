#!/usr/bin/env tarn
-- SPDX-License-Identifier: BSD-2-Clause
-- Error objects: their life, chains, what is thrown by C. The forms that both programs
-- have are in test/compat/error_*.lua.
local tap = require('tap')
local fiber = require('fiber')

local test = tap.test('error')
test:plan(4)

test:test('the life of an object', function(t)
    t:plan(3)
    local e = box.error.new{code = 5, reason = 'kept'}
    for _ = 1, 1000 do
        pcall(box.error, box.error.UNKNOWN)
        box.error.clear()
    end
    collectgarbage()
    collectgarbage()
    t:is(e.message, 'kept', 'kept by a script')
    local chain = e
    for i = 1, 1000 do
        local top = box.error.new{code = i, reason = tostring(i)}
        top:set_prev(chain)
        chain = top
    end
    e, chain = nil, chain
    collectgarbage()
    local count = 0
    local link = chain
    while link ~= nil do link, count = link.prev, count + 1 end
    t:is(count, 1001, 'a long chain')
    chain, link = nil, nil
    collectgarbage()
    collectgarbage()
    t:is(box.error.last(), nil, 'none is left')
end)

test:test('each fiber has its own last error', function(t)
    t:plan(2)
    pcall(box.error, box.error.UNKNOWN)
    local other
    local fb = fiber.new(function() other = box.error.last() end)
    fb:set_joinable(true)
    fb:join()
    t:is(other, nil, 'none in a new fiber')
    t:is(box.error.last().code, box.error.UNKNOWN, 'ours is still there')
end)

test:test('where it was raised', function(t)
    t:plan(2)
    local ok, e = pcall(function()
        box.error(box.error.UNKNOWN)
    end)
    local place = not ok and e.trace[1]
    t:ok(place.file:find('error.lua$'), 'the file')
    t:is(place.line, debug.getinfo(1, 'S').linedefined + 3, 'the line')
end)

test:test('wrong use', function(t)
    local e = box.error.new(0)
    local cases = {
        function() box.error('only a type') end,
        function() box.error.new() end,
        function() box.error(true) end,
        function() e.code = 1 end,
        function() e.raise() end,
        function() e.unpack('x') end,
        function() e:set_prev(5) end,
        function() e:set_prev(e) end,
        function() box.error.set({}) end,
        function() return e .. {} end,
        function() return e + 1 end,
        function() return #e end,
        function() return e() end,
    }
    t:plan(#cases + 2)
    for i, f in ipairs(cases) do
        t:ok(i == 10 or not pcall(f), 'case ' .. i)
    end
    t:is(e[1], nil, 'a number')
    t:is(e[{}], nil, 'a table')
end)

os.exit(test:check() and 0 or 1)
