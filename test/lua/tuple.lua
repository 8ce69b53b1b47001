#!/usr/bin/env tarn
-- SPDX-License-Identifier: BSD-2-Clause
-- Tuples: numbers of every size, paths, identity. What both programs do alike is in
-- test/compat/tuple_*.lua.
local tap = require('tap')
local fio = require('fio')

local test = tap.test('tuple')
test:plan(7)

local dir = fio.tempdir()
box.cfg{work_dir = dir, log_level = 0, wal_mode = 'none'}
local space = box.schema.space.create('s', {format = {
    {'id', 'unsigned'}, {'update', 'any', is_nullable = true}, {'a.b', 'any', is_nullable = true},
    {'doc', 'any', is_nullable = true}}})
space:create_index('pk')

test:test('numbers keep their values and types', function(t)
    local values = {0, 1, 127, 128, 255, 256, 65535, 65536, 4294967295, 4294967296,
                    99999999999999, 100000000000000ULL, 18446744073709551615ULL, -1, -32, -33,
                    -128, -129, -32768, -32769, -2147483648, -2147483649, -99999999999999,
                    -100000000000000LL, -9223372036854775807LL - 1, 0.5, -1e300}
    t:plan(#values)
    for i, v in ipairs(values) do
        local got = box.tuple.new{v}[1]
        t:ok(got == v and type(got) == type(v), i .. ': ' .. tostring(v))
    end
end)

test:test('names and methods', function(t)
    t:plan(6)
    local row = space:insert{1, 'field', 'dotted', {list = {10, {x = 'y'}}}}
    t:is(row.update, 'field', "a field's name goes before a method's")
    t:is(row['a.b'], 'dotted', 'a name with a dot')
    t:is(row['doc.list[2].x'], 'y', 'a path')
    t:is(row['[4]["list"][1]'], 10, 'a path from a number')
    t:is(row:totable(1, 2)[2], 'field', 'methods of other names')
    t:is(box.tuple.update(row, {{'=', 2, 'new'}}).update, 'new', 'a hidden method, as a function')
end)

test:test('paths that lead nowhere', function(t)
    local row = space:get(1)
    local paths = {'nosuch', 'doc.nosuch', 'doc.list[3]', 'doc.list[0]', 'doc[1]', 'doc..list', '[', '[]',
                   '[9]', 'doc.', '.', '', 'doc.list[2].x.y', '[4', '["doc"', "['']", 'doc]', '[4]list',
                   '[99999999999999999999]', '\0'}
    t:plan(#paths)
    for _, path in ipairs(paths) do
        t:is(row[path], nil, ('%q'):format(path))
    end
end)

test:test('one tuple or two', function(t)
    t:plan(6)
    local row = space:get(1)
    t:ok(row == space:get(1), 'the same row')
    t:ok(row ~= box.tuple.new(row), 'a copy')
    t:ok(row == row and not (row ~= row), 'itself')
    local old = row
    space:replace(row:totable())
    t:ok(old[1] == 1 and old.update == 'field', 'what was replaced is still whole')
    t:ok(row ~= nil and row ~= box.NULL and row ~= 1, 'other values')
    t:ok(not pcall(function() return row == {} end), 'a table')
end)

test:test('after the space is gone', function(t)
    t:plan(3)
    local row = space:get(1)
    space:drop()
    collectgarbage()
    t:is(row.id, 1, 'names')
    t:is(row:tomap({names_only = true})['a.b'], 'dotted', 'tomap')
    t:is(box.tuple.update(row, {{'=', 'id', 2}}).id, 2, 'update')
end)

test:test('large tuples are given back', function(t)
    t:plan(4)
    local s = box.schema.space.create('large')
    s:create_index('pk')
    s:insert{1, ('x'):rep(100000)}
    local function used()
        collectgarbage()
        collectgarbage()
        return box.slab.info().items_used
    end
    local before = used()
    local held = {}
    for i = 1, 200 do
        s:replace{1, ('x'):rep(100000), i}
        held[i] = s:get(1)
        held[i + 200] = held[i]:update({{'=', 3, -i}})
    end
    local right = true
    for i = 1, 200 do
        right = right and held[i][3] == i and held[i + 200][3] == -i and held[i]:bsize() > 100000
    end
    t:ok(right, 'they are whole while they are held')
    t:ok(used() > before + 100 * 100000, 'what was replaced is kept for those who hold it')
    held = nil
    t:ok(used() < before + 1000, 'and goes with them')
    t:ok(require('tarn.tuple').is_watched, 'without finalizers')
end)

test:test('damage', function(t)
    t:plan(8)
    local tuple = box.tuple.new{1, 2}
    t:ok(not pcall(function() tuple[1] = 5 end), 'fields are read-only')
    t:ok(not pcall(function() tuple.__size = 5 end), 'so is the inside')
    t:ok(not pcall(tuple.totable, {}), 'a method of a table')
    t:ok(not pcall(tuple.update, tuple, {{'=', 100, 1}}), 'a bad update')
    local nan = 0 / 0
    t:is(select('#', tuple:unpack(nan)), 0, 'nothing from NaN on')
    t:is(select('#', tuple:unpack(1, nan)), 0, 'nor to NaN')
    t:is(#tuple:totable(nan, nan), 0, 'nor between both')
    t:is(tostring(tuple), '[1, 2]', 'it is as before')
end)

fio.rmtree(dir)
os.exit(test:check() and 0 or 1)
