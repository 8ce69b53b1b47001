-- SPDX-License-Identifier: BSD-2-Clause
-- Pages of a select: `after`, `fetch_pos`, tuple_pos(), as in Tarantool 2.11.
local tap = require('tap')
local fio = require('fio')

box.cfg{work_dir = fio.tempdir(), log_level = 2}
local test = tap.test('pagination')
test:plan(32)

local s = box.schema.space.create('s')
s:create_index('pk')
s:create_index('name', {parts = {{2, 'string', collation = 'unicode_ci'}}, unique = false})
s:create_index('n', {parts = {{3, 'unsigned', is_nullable = true}, {2, 'string'}}})
s:create_index('hash', {type = 'hash'})
s:create_index('bits', {type = 'bitset', parts = {1, 'unsigned'}})

local function fill()
    s:truncate()
    for i = 1, 20 do
        s:insert{i, ({'a', 'B', 'c'})[i % 3 + 1], i % 4 ~= 0 and i or box.NULL}
    end
end
fill()

local function ids(rows)
    local out = {}
    for _, row in ipairs(rows) do
        table.insert(out, row[1])
    end
    return table.concat(out, ' ')
end

-- All rows, three at a time, by positions; two at a time, by tuples.
local function by_positions(index, key, iterator)
    local out, rows, pos = {}, nil, ''
    repeat
        rows, pos = index:select(key, {iterator = iterator, limit = 3, after = pos, fetch_pos = true})
        for _, row in ipairs(rows) do
            table.insert(out, row)
        end
    until pos == nil
    return ids(out)
end

local function by_tuples(index, key, iterator)
    local out, rows, last = {}, nil, box.NULL
    repeat
        rows = index:select(key, {iterator = iterator, limit = 2, after = last})
        last = rows[#rows]
        for _, row in ipairs(rows) do
            table.insert(out, row)
        end
    until #rows == 0
    return ids(out)
end

local keys = {pk = 7, name = 'b', n = 7}
for name, key in pairs(keys) do
    local good = true
    for _, iterator in ipairs{'ALL', 'GE', 'GT', 'LE', 'LT', 'EQ', 'REQ'} do
        for _, k in ipairs{{}, {key}} do
            local all = ids(s.index[name]:select(k, {iterator = iterator}))
            good = good and all == by_positions(s.index[name], k, iterator) and
                   all == by_tuples(s.index[name], k, iterator)
        end
    end
    test:ok(good, 'all pages together of the index ' .. name)
end

local rows, pos = s:select({}, {limit = 3, fetch_pos = true})
test:is(ids(rows), '1 2 3', 'the first page')
test:is(pos, s.index.pk:tuple_pos{3, 'x', 1}, 'its position is that of its last tuple')
test:is(ids(s:select({}, {limit = 3, after = pos})), '4 5 6', 'the next page')
test:is(ids(s:select({}, {limit = 3, after = pos, offset = 2})), '6 7 8', 'with an offset')
s:delete{3}
s:delete{4}
test:is(ids(s:select({}, {limit = 3, after = pos})), '5 6 7', 'what it is the position of may go')
test:is(ids(s:select({}, {iterator = 'LE', limit = 2, after = {4}})), '2 1', 'backwards')
fill()

rows, pos = s:select({100}, {fetch_pos = true})
test:is(#rows, 0, 'nothing found')
test:is(pos, nil, 'has no position')
rows, pos = s:select({5}, {fetch_pos = true})
test:is(ids(rows), '5', 'a full key')
test:is(ids(s:select({5}, {after = pos})), '', 'and nothing behind it')
test:is(ids(s.index.name:pairs('b', {after = s.index.name:tuple_pos{10, 'b'}}):totable()), '13 16 19',
        'pairs() by a position')
test:is(ids(s:pairs({}, {after = {18}}):totable()), '19 20', 'pairs() by a tuple')
test:is(ids(box.space._vindex:select({s.id}, {after = {s.id, 2}, limit = 1})), tostring(s.id), 'a view')

-- An iterator goes on behind its position whatever happens to the rows.
local seen = {}
for _, row in s:pairs({}, {after = {10}}) do
    table.insert(seen, row[1])
    s:delete{row[1]}
    s:replace{row[1] - 10, 'again', 1000 + row[1]}
end
test:is(table.concat(seen, ' '), '11 12 13 14 15 16 17 18 19 20', 'pairs() over what changes')
fill()

local function error_of(index, ...)
    local ok, err = pcall(index.select, index, ...)
    return not ok and err
end
test:is(error_of(s, {}, {after = 'nonsense'}).code, box.error.ITERATOR_POSITION, 'not a position')
test:is(error_of(s, {}, {after = '!!!'}).code, box.error.ITERATOR_POSITION, 'no base64 at all')
test:is(error_of(s, {}, {after = 5}).code, box.error.ITERATOR_POSITION, 'a number')
test:is(error_of(s, {}, {after = s.index.name:tuple_pos{1, 'a'}}).code, box.error.ITERATOR_POSITION,
        'the position of another index')
test:is(error_of(s, {5}, {iterator = 'GE', after = {3}}).code, box.error.ITERATOR_POSITION,
        'a position before the beginning')
test:is(error_of(s, {5}, {after = {6}}).message, 'Iterator position is invalid', 'another key')
test:is(error_of(s, {}, {after = {'x'}}).code, box.error.KEY_PART_TYPE, 'a tuple of other types')
test:is(error_of(s.index.hash, {}, {after = {1}}).message,
        "Index 'hash' (HASH) of space 's' (memtx) does not support pagination", 'a hash index')
test:is(error_of(s.index.bits, {}, {fetch_pos = true}).code, box.error.UNSUPPORTED_INDEX_FEATURE,
        'a bitset index')
-- A row of a multikey or functional index has many places: only positions tell which.
local m = box.schema.space.create('m')
m:create_index('pk')
m:create_index('tags', {parts = {{2, 'string', path = '[*]'}}, unique = false})
m:create_index('uniq', {parts = {{3, 'unsigned', path = '[*]'}}})
box.schema.func.create('words', {is_deterministic = true, is_sandboxed = true,
                                 body = 'function(t) return {{t[2][1]}, {t[2][2]}} end',
                                 opts = {is_multikey = true}})
m:create_index('f', {func = 'words', parts = {{1, 'string'}}, unique = false})
for i = 1, 12 do
    m:insert{i, {('abc'):sub(i % 3 + 1, i % 3 + 1), 'z' .. i % 2}, {i, 100 - i}}
end
for _, name in ipairs{'tags', 'uniq', 'f'} do
    local good = true
    for _, iterator in ipairs{'ALL', 'LE'} do
        local all = ids(m.index[name]:select({}, {iterator = iterator}))
        good = good and all == by_positions(m.index[name], {}, iterator)
    end
    test:ok(good and m.index[name]:len() == 24, 'all pages together of the index ' .. name)
end
test:is(error_of(m.index.tags, {}, {after = {1}}).code, box.error.UNSUPPORTED_INDEX_FEATURE,
        'a tuple in a multikey index')
test:is(select(2, pcall(m.index.f.tuple_pos, m.index.f, {1})).code,
        box.error.UNSUPPORTED_INDEX_FEATURE, 'a tuple in a functional index')

test:is(tostring(select(2, pcall(s.index.pk.tuple_pos, s.index.pk, 5))):match('Usage.*'),
        'Usage index:tuple_pos(tuple)', 'tuple_pos() of no tuple')

os.exit(test:check() and 0 or 1)
