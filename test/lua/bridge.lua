#!/usr/bin/env tarn
-- SPDX-License-Identifier: BSD-2-Clause
-- Fibers, coroutines, recursion and what crosses between C and Lua.
local tap = require('tap')
local ffi = require('ffi')
local fiber = require('fiber')
local msgpack = require('msgpack')

local test = tap.test('bridge')
test:plan(10)

test:test('recursion through C ends in an error', function(t)
    local function gsub(s) return (s:gsub('.', gsub)) end
    local function sort() table.sort({2, 1}, function(a, b) sort() return a < b end) end
    local function wrap() return coroutine.wrap(wrap)() end
    local function serialize()
        return msgpack.encode(setmetatable({}, {__serialize = serialize}))
    end
    local cases = {gsub = function() return gsub('a') end, sort = sort, wrap = wrap,
                   serialize = serialize}
    t:plan(8)
    for name, f in pairs(cases) do
        t:ok(not pcall(f), name .. ' here')
        local result
        local fb = fiber.new(function() result = pcall(f) end)
        fb:set_joinable(true)
        fb:join()
        t:is(result, false, name .. ' in a fiber')
    end
end)

test:test('values that contain or make themselves', function(t)
    t:plan(5)
    -- Neither an array nor one until its end is reached: each level is to be encoded once.
    local mixed = {1}
    for _ = 1, 100 do mixed = {mixed, x = 1} end
    t:is(#msgpack.encode(mixed), 502, 'deep tables that look like arrays at first')
    local cycle = {}
    cycle.cycle = cycle
    t:is(select(2, pcall(msgpack.encode, cycle)), 'Too high nest level - 129', 'a cycle')
    t:ok(not pcall(box.tuple.new, cycle), 'as a tuple')
    local self = setmetatable({}, {__serialize = function(s) return s end})
    t:ok(not pcall(msgpack.encode, self), '__serialize that returns the table')
    local function make() return setmetatable({}, {__serialize = make}) end
    t:ok(not pcall(msgpack.encode, make()), '__serialize without an end')
end)

test:test('an error inside __serialize', function(t)
    t:plan(3)
    local function failing(value)
        return setmetatable({}, {__serialize = function() error(value) end})
    end
    local ok, e = pcall(msgpack.encode, {1, failing('oops')})
    t:ok(not ok and tostring(e):find('oops$'), 'a text')
    ok, e = pcall(box.tuple.new, {failing(box.error.new(box.error.UNSUPPORTED, 'a', 'b'))})
    t:is(not ok and e.code, box.error.UNSUPPORTED, 'an error object')
    -- Buffers of the broken encodings are not lost, nor shared.
    for _ = 1, 1000 do pcall(box.tuple.new, {1, failing('x')}) end
    t:is(tostring(box.tuple.new{1, 2}), '[1, 2]', 'the next one is right')
end)

test:test('a table that changes while it is encoded', function(t)
    local function growing(key)
        local map = {k = 1}
        map[key] = setmetatable({}, {__serialize = function()
            for i = 1, 100 do map['key' .. i] = i end
            return 1
        end})
        return map
    end
    local function shrinking()
        local map = {}
        local mt = {__serialize = function()
            for key in pairs(map) do map[key] = nil end
            return 1
        end}
        for i = 1, 10 do map['key' .. i] = setmetatable({}, mt) end
        return map
    end
    t:plan(4)
    t:ok(not pcall(msgpack.encode, shrinking()), 'shrinking is an error')
    t:ok(not pcall(box.tuple.new, {1, {shrinking()}}), 'shrinking in a tuple')
    -- Now and then, by the order of keys, just as many are met as there were: that is no error.
    local function is_map_of_two(data)
        local map, count = msgpack.decode(data), 0
        for _ in pairs(map) do count = count + 1 end
        return count == 2
    end
    local errors, tuple_errors, wrong = 0, 0, 0
    for i = 1, 20 do
        local ok, data = pcall(msgpack.encode, growing('self' .. i))
        errors = errors + (ok and 0 or 1)
        wrong = wrong + (ok and not is_map_of_two(data) and 1 or 0)
        tuple_errors = tuple_errors + (pcall(box.tuple.new, {1, {growing('self' .. i)}}) and 0 or 1)
    end
    t:ok(errors > 0 and wrong == 0, 'growing is an error', {errors, wrong})
    t:ok(tuple_errors > 0, 'growing in a tuple', tuple_errors)
end)

test:test('globals that were taken from a pooled coroutine', function(t)
    t:plan(1)
    local globals = getfenv(0)
    local function in_fiber(f)
        local fb = fiber.new(f)
        fb:set_joinable(true)
        return select(2, fb:join())
    end
    in_fiber(function() setfenv(0, {}) end)
    t:ok(in_fiber(function() return getfenv(0) == globals end), 'the next fiber has its own')
end)

test:test('encoding inside an encoding', function(t)
    t:plan(1)
    local inner = setmetatable({}, {__serialize = function()
        return {tostring(box.tuple.new{1, {2}}), #msgpack.encode({('x'):rep(1000)})}
    end})
    t:is(tostring(box.tuple.new{'a', inner, 'z'}), "['a', ['[1, [2]]', 1004], 'z']", 'nested')
end)

test:test('yields inside coroutines and protected calls', function(t)
    t:plan(4)
    local co = coroutine.create(function()
        local ok, e = pcall(function() fiber.sleep(0) error('x', 0) end)
        coroutine.yield(ok, e)
        fiber.yield()
        return 'end'
    end)
    t:is_deeply({coroutine.resume(co)}, {true, false, 'x'}, 'pcall over a yield')
    t:is_deeply({coroutine.resume(co)}, {true, 'end'}, 'on to the end')
    local function nest(n)
        if n == 0 then fiber.yield() return 'deep' end
        return coroutine.wrap(nest)(n - 1)
    end
    t:is(nest(100), 'deep', 'a yield below 100 coroutines')
    local busy = coroutine.create(function() fiber.sleep(0.001) return 'done' end)
    local other
    local fb = fiber.new(function() other = {coroutine.resume(busy)} end)
    fb:set_joinable(true)
    fiber.yield()
    local ok = coroutine.resume(busy)
    fb:join()
    t:is_deeply({ok, other}, {false, {true, 'done'}}, 'one coroutine, two fibers')
end)

test:test('pairs', function(t)
    t:plan(6)
    local n = 0
    for _ in pairs({1, 2, x = 3}) do n = n + 1 end
    t:is(n, 3, 'of a table')
    local range = ffi.metatype('struct {int last;}', {
        __pairs = function(r)
            return function(_, i) if i < r.last then return i + 1 end end, nil, 0
        end,
    })
    n = 0
    for i in pairs(range(4)) do n = n + i end
    t:is(n, 10, 'of a metatype with __pairs')
    t:ok(not pcall(ipairs, range(4)), 'no __ipairs')
    t:ok(not pcall(pairs, box.NULL), 'of NULL')
    t:ok(not pcall(pairs, nil), 'of nil')
    local ok, e = pcall(function() for _ in pairs(nil) do break end end)
    t:ok(not ok and e:find("bad argument #1 to 'pairs' %(table expected, got nil%)"), 'its text')
end)

test:test('tuples in compiled code', function(t)
    t:plan(3)
    local tuples = {}
    for i = 1, 200 do tuples[i] = box.tuple.new{i, 'name' .. i, i / 2, {i}} end
    local sum, len, half = 0, 0, 0
    for _ = 1, 100 do
        for i = 1, 200 do
            local tuple = tuples[i]
            sum = sum + tuple[1]
            len = len + #tuple[2]
            half = half + tuple[3]
        end
    end
    t:is(sum, 100 * 20100, 'numbers')
    t:is(len, 100 * (9 * 5 + 90 * 6 + 101 * 7), 'strings')
    t:is(half, 100 * 10050, 'fractions')
end)

test:test('large tuples are counted, not copied', function(t)
    t:plan(2)
    local kept = box.tuple.new{('x'):rep(100000), 7}
    for i = 1, 300 do box.tuple.new{('y'):rep(100000), i} end
    collectgarbage()
    collectgarbage()
    t:is(#kept[1], 100000, 'the string')
    t:is(kept[2], 7, 'what is behind it')
end)

os.exit(test:check() and 0 or 1)
