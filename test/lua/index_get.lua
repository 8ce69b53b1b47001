-- SPDX-License-Identifier: BSD-2-Clause
-- Point reads, compiled and not, give what a select gives: keys of every kind, small and
-- large tuples, inside finalizers and coroutines.
local tap = require('tap')
local ffi = require('ffi')
local fio = require('fio')

box.cfg{work_dir = fio.tempdir(), log_level = 2}
local test = tap.test('index_get')
test:plan(15)

local n = box.schema.space.create('n')
n:create_index('pk', {parts = {1, 'number'}})
local numbers = {0, 1, 2, 127, 128, 65535, 65536, 4294967295, 4294967296, 2 ^ 53, -1, -128, -129,
                 -2 ^ 31, -2 ^ 40, 0.5, -0.5, 1e300, 1e15, 123456789.25}
for i, v in ipairs(numbers) do
    n:insert{v, i}
end
local wrong = 0
for _ = 1, 200 do
    for i, v in ipairs(numbers) do
        local t = n:get(v)
        if t == nil or t[2] ~= i then
            wrong = wrong + 1
        end
    end
end
test:is(wrong, 0, 'numbers')
test:is(n:get(3), nil, 'a number that is not there')
test:is(select('#', n:get(3)), 0, 'gives no value at all')
test:is(n:get{1}[2], 2, 'a table of one')
test:is(n:get(1ULL)[2], 2, 'an unsigned 64-bit integer')
test:is(n:get(box.tuple.new{1})[2], 2, 'a tuple')
test:ok(not pcall(n.get, n, 'x'), 'a string')
test:ok(not pcall(n.get, n, {1, 2}), 'too many parts')

local s = box.schema.space.create('s', {format = {{'key', 'string'}, {'body', 'string'}}})
s:create_index('pk', {type = 'HASH', parts = {'key'}})
local lengths = {0, 1, 31, 32, 60, 61, 255, 256, 257, 1000, 1023, 1024, 1025, 5000, 70000}
for _, len in ipairs(lengths) do
    s:insert{('k'):rep(len), ('v'):rep(len)}
end
wrong = 0
for _ = 1, 100 do
    for _, len in ipairs(lengths) do
        local t = s:get(('k'):rep(len))
        if t == nil or #t.body ~= len or #t.key ~= len then
            wrong = wrong + 1
        end
    end
end
test:is(wrong, 0, 'strings and tuples of many sizes, by name of field')

-- What is read before a change stays as it was.
local before = s:get('k')
s:replace{'k', 'changed'}
test:is(before.body, 'v', 'a tuple that was read does not change')
test:is(s:get('k').body, 'changed', 'the next read sees the change')

-- Finalizers run at any allocation, also in the middle of a read.
local reads = 0
local function finalizer()
    local t = s:get('k')
    if t.body == 'changed' then
        reads = reads + 1
    end
end
wrong = 0
for i = 1, 20000 do
    ffi.gc(ffi.new('char[16]'), finalizer)
    local t = n:get(numbers[i % #numbers + 1])
    if t[2] ~= i % #numbers + 1 then
        wrong = wrong + 1
    end
end
collectgarbage()
test:is(wrong, 0, 'reads with finalizers that read, too')
test:ok(reads > 1000, 'the finalizers read what they should')

-- A trigger called from within a coroutine of the script's own.
local seen = {}
n:on_replace(function(_, new)
    table.insert(seen, new[1])
end)
local co = coroutine.wrap(function()
    for i = 1001, 1003 do
        n:insert{i, 0}
        coroutine.yield(i)
    end
end)
test:is(co() + co() + co(), 3006, 'statements in a coroutine')
test:is_deeply(seen, {1001, 1002, 1003}, 'and their triggers')
os.exit(test:check() and 0 or 1)
