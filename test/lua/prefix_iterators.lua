-- SPDX-License-Identifier: BSD-2-Clause
-- The iterators NP and PP against a look at every row, from a seed.
local tap = require('tap')
local fio = require('fio')

box.cfg{work_dir = fio.tempdir(), log_level = 2}
local test = tap.test('prefix_iterators')
test:plan(11)

local function first_fields(rows)
    local out = {}
    for _, row in ipairs(rows) do
        table.insert(out, row[1])
    end
    return table.concat(out, ' ')
end

local s = box.schema.space.create('s')
s:create_index('pk', {parts = {{1, 'string'}}})
for _, name in ipairs{'a', 'aa', 'ab', 'b', 'ba', 'bb', 'c', 'ca', 'cb'} do
    s:insert{name}
end
test:is(first_fields(s:select({'b'}, {iterator = 'np'})), 'c ca cb', 'the next prefix')
test:is(first_fields(s:select({'b'}, {iterator = 'PP'})), 'ab aa a', 'the previous prefix')
test:is(first_fields(s:select({'ba'}, {iterator = box.index.NP, limit = 2})), 'bb c', 'by number, limited')
test:is(first_fields(s:select({''}, {iterator = 'NP'})), '', 'nothing is above the empty prefix')
test:is(first_fields(s:select({''}, {iterator = 'PP'})), '', 'or below it')
test:is(s:count({}, {iterator = 'NP'}), 9, 'no key: all rows')
test:is(first_fields(s:pairs('a', {iterator = 'NP', after = {'ba'}}):totable()), 'bb c ca cb', 'a page')
s:drop()

local seed = 5
local function random(n)
    seed = (seed * 1103515245 + 12345) % 2147483648
    return math.floor(seed / 65536) % n
end

local function word()
    local out = {}
    for i = 1, random(4) do
        out[i] = ({'a', 'b', '\255', '\254', '\0'})[random(5) + 1]
    end
    return table.concat(out)
end

s = box.schema.space.create('s')
s:create_index('pk', {parts = {{1, 'unsigned'}, {2, 'string'}}})
s:create_index('two', {parts = {{3, 'string'}, {2, 'string'}}, unique = false})
for _ = 1, 500 do
    s:replace{random(3), word(), word()}
end

-- Does the row begin so, as NP or PP want it? `parts`: where the key's values are in a row.
local function wanted(row, key, parts, iterator)
    for i = 1, #key - 1 do
        if row[parts[i]] ~= key[i] then
            return row[parts[i]] > key[i] == (iterator == 'NP')
        end
    end
    local s, t = key[#key], row[parts[#key]]
    t = t:sub(1, #s)
    if iterator == 'NP' then
        return t > s
    end
    return t < s
end

local function check(index, parts, make_key, iterator)
    for _ = 1, 200 do
        local key = make_key()
        local expected, found = 0, index:select(key, {iterator = iterator})
        for _, row in s:pairs() do
            expected = expected + (wanted(row, key, parts, iterator) and 1 or 0)
        end
        for _, row in ipairs(found) do
            if not wanted(row, key, parts, iterator) then
                return false
            end
        end
        if #found ~= expected or index:count(key, {iterator = iterator}) ~= expected then
            return false
        end
    end
    return true
end

for _, iterator in ipairs{'NP', 'PP'} do
    test:ok(check(s.index.pk, {1, 2}, function() return {random(3), word()} end, iterator),
            iterator .. ' in the second part')
    test:ok(check(s.index.two, {3, 2}, function() return {word()} end, iterator),
            iterator .. ' in the first part')
end

os.exit(test:check() and 0 or 1)
