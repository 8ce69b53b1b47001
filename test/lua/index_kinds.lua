-- SPDX-License-Identifier: BSD-2-Clause
-- RTREE, BITSET and collated indexes: built while rows change, undone, iterated under change;
-- compared with a look at every row.
local tap = require('tap')
local fio = require('fio')
local fiber = require('fiber')

box.cfg{work_dir = fio.tempdir(), log_level = 2}
local test = tap.test('index_kinds')
test:plan(14)

local seed = 11
local function random(n)
    seed = (seed * 1103515245 + 12345) % 2147483648
    return math.floor(seed / 65536) % n
end

local WORDS = {'Ä', 'a', 'B', 'ß', 'ss', 'é', 'E', 'z'}
local function row(id)
    return {id, {random(100), random(100)}, random(64), WORDS[random(#WORDS) + 1] .. random(50)}
end

local s = box.schema.space.create('s')
s:create_index('pk')
for id = 1, 6000 do
    s:insert(row(id))
end

-- Rows by number as one index has them, and as all rows of the space give them.
local function found(index, key, iterator)
    local ids = {}
    for _, t in s.index[index]:pairs(key, {iterator = iterator}) do
        table.insert(ids, t[1])
    end
    table.sort(ids)
    return table.concat(ids, ' ')
end

local function expected(matches)
    local ids = {}
    for _, t in s:pairs() do
        if matches(t) then
            table.insert(ids, t[1])
        end
    end
    return table.concat(ids, ' ')
end

local function inside(t)
    return t[2][1] >= 20 and t[2][1] <= 40 and t[2][2] >= 30 and t[2][2] <= 60
end

local function check_all(what)
    test:is(found('at', {{20, 30, 40, 60}}, 'OVERLAPS'), expected(inside), what .. ': RTREE')
    test:is(found('flags', {5}, 'BITS_ANY_SET'),
            expected(function(t) return t[3] % 2 == 1 or math.floor(t[3] / 4) % 2 == 1 end),
            what .. ': BITSET')
    test:is(found('word', {'Ss7'}, 'EQ'),
            expected(function(t) return t[4] == 'ß7' or t[4] == 'ss7' end), what .. ': collated')
end

-- Changes of all kinds while indexes are built.
local is_over = false
local writer = fiber.new(function()
    while not is_over do
        for _ = 1, 5 do
            local id = random(7000)
            local kind = random(4)
            if kind == 0 then
                s:delete(id)
            elseif kind == 1 then
                s:update(id, {{'=', 5, 'x'}})
            else
                s:replace(row(id))
            end
        end
        fiber.sleep(0)
    end
end)
writer:set_joinable(true)
s:create_index('at', {type = 'rtree', parts = {2, 'array'}})
s:create_index('flags', {type = 'bitset', parts = {3, 'unsigned'}})
s:create_index('word', {parts = {{4, 'string', collation = 'unicode_ci'}}, unique = false})
is_over = true
writer:join()
check_all('built under change')

-- Undone changes leave no trace, whatever they were.
for _ = 1, 200 do
    box.begin()
    for _ = 1, 1 + random(5) do
        local id = random(7000)
        if random(3) == 0 then
            s:delete(id)
        else
            s:replace(row(id))
        end
    end
    pcall(s.replace, s, {random(7000), {1, 2, 3}, 1, 'a'})
    box.rollback()
end
check_all('after rollbacks')

-- A bad box leaves the other indexes as they were.
local count = s:len()
local ok, err = pcall(s.insert, s, {10000, {1}, 1, 'a'})
test:is(not ok and err.code, box.error.RTREE_RECT, 'a bad box')
test:is(s:len() == count and s.index.flags:len() == count and s.index.word:len(), count,
        'is in no index')
ok, err = pcall(s.insert, s, {10000, {0 / 0, 1}, 1, 'a'})
test:is(not ok and err.code, box.error.RTREE_RECT, 'NaN as a coordinate')

-- A row that moves while it is iterated over is not seen twice.
local seen, twice = {}, 0
for _, t in s.index.at:pairs({{0, 0, 50, 50}}, {iterator = 'OVERLAPS'}) do
    twice = twice + (seen[t[1]] and 1 or 0)
    seen[t[1]] = true
    s:update(t[1], {{'=', 2, {t[2][1] + 1, t[2][2] + 1}}})
end
test:is(twice, 0, 'rows that move are seen once')
check_all('after the moves')

-- What is next to a point, while the nearest goes each time.
local last, in_order, n = -1, true, 0
for _, t in s.index.at:pairs({50, 50}, {iterator = 'NEIGHBOR'}) do
    local distance = (t[2][1] - 50) ^ 2 + (t[2][2] - 50) ^ 2
    in_order = in_order and distance >= last
    last = distance
    n = n + 1
    s:delete(t[1])
end
test:ok(in_order and n == count and s:len() == 0, 'neighbours that go')

os.exit(test:check() and 0 or 1)
