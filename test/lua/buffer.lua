#!/usr/bin/env tarn
-- SPDX-License-Identifier: BSD-2-Clause
-- The module buffer where scripts do not behave; uuid's order.
local tap = require('tap')
local buffer = require('buffer')
local msgpack = require('msgpack')
local uuid = require('uuid')

local test = tap.test('buffer')
test:plan(3)

test:test('sizes that make no sense', function(t)
    t:plan(7)
    local b = buffer.ibuf()
    for _, size in ipairs({-1, 0 / 0, 1 / 0, 2 ^ 60}) do
        t:ok(not pcall(b.alloc, b, size), ('alloc(%s)'):format(size))
    end
    t:is(b:size(), 0, 'nothing is there')
    t:ok(not pcall(b.read, b, 1), 'nor can it be read')
    t:ok(not pcall(b.read, b, -1), 'nor backwards')
end)

test:test('a buffer that lives on', function(t)
    t:plan(3)
    local b = buffer.ibuf(16)
    -- Written and read in turn, it does not grow without end.
    for i = 1, 10000 do
        msgpack.encode({i, ('x'):rep(i % 50)}, b)
        local value, behind = msgpack.decode(b.rpos, b:size())
        assert(value[1] == i)
        b.rpos = behind
    end
    t:is(b:size(), 0, 'all is read')
    t:ok(b:capacity() < 1000, 'its memory is used again')
    local list = {}
    for i = 1, 1000 do
        list[i] = buffer.ibuf()
        list[i]:alloc(10000)
    end
    list = nil
    collectgarbage()
    collectgarbage()
    t:ok(true, 'the collector frees buffers')
end)

test:test('uuid', function(t)
    t:plan(5)
    local a = uuid.fromstr('00000000-0000-0000-0000-000000000001')
    local b = uuid.fromstr('01000000-0000-0000-0000-000000000000')
    t:ok(a < b and b > a and a <= a and not (b < a), 'order of the texts')
    t:ok(a < b:str(), 'a text stands for a uuid')
    t:ok(not pcall(function() return a < 1 end), 'a number does not')
    t:ok(uuid.is_uuid(a) and not uuid.is_uuid(a:str()) and not uuid.is_uuid(nil), 'is_uuid')
    t:is(uuid.fromstr(uuid.new():str()):isnil(), false, 'there and back')
end)

os.exit(test:check() and 0 or 1)
