-- SPDX-License-Identifier: BSD-2-Clause
-- Random changes and selects from a seed, in RTREE and BITSET indexes.
local check = require('check')
box.cfg{}

local seed = 7
local function random(n)
    seed = (seed * 1103515245 + 12345) % 2147483648
    return math.floor(seed / 65536) % n
end

local function numbers(rows)
    local out = {}
    for _, row in ipairs(rows) do
        table.insert(out, row[1])
    end
    table.sort(out)
    return table.concat(out, ' ')
end

local function box_of(dimension)
    local out = {}
    for i = 1, dimension * (1 + random(2)) do
        out[i] = random(12) + (random(4) == 0 and 0.5 or 0)
    end
    return out
end

-- Distances and their sum are exact, so both programs see the same ties.
local function distance(point, row, dimension, is_manhattan)
    local sum = 0
    for i = 1, dimension do
        local a, b = row[i], row[dimension + i] or row[i]
        local gap = math.max(0, math.min(a, b) - point[i], point[i] - math.max(a, b))
        sum = sum + (is_manhattan and gap or gap * gap)
    end
    return sum
end

local ITERATORS = {'EQ', 'ALL', 'LT', 'LE', 'GE', 'GT', 'OVERLAPS'}

for dimension = 1, 4 do
    local name = dimension % 2 == 0 and 'manhattan' or 'euclid'
    local s = box.schema.space.create('s')
    s:create_index('pk')
    s:create_index('r', {type = 'rtree', dimension = dimension, distance = name})
    for round = 1, 12 do
        for _ = 1, 50 do
            local id = random(300)
            if random(3) == 0 then
                s:delete(id)
            elseif random(3) == 0 then
                s:update(id, {{'=', 2, box_of(dimension)}})
            else
                s:replace{id, box_of(dimension)}
            end
        end
        for _, iterator in ipairs(ITERATORS) do
            local key = box_of(dimension)
            check.values(dimension .. ' ' .. iterator .. ' ' .. check.show(key),
                         numbers(s.index.r:select({key}, {iterator = iterator})),
                         s.index.r:count({key}, {iterator = iterator}))
        end
        local point, distances = {}, {}
        for i = 1, dimension do
            point[i] = random(14) - 1
        end
        -- No pairs(): the reference dies when an index goes before its iterators.
        for _, row in ipairs(s.index.r:select({point}, {iterator = 'NEIGHBOR'})) do
            table.insert(distances, distance(point, row[2], dimension, name == 'manhattan'))
        end
        check.values('NEIGHBOR ' .. check.show(point), table.concat(distances, ' '))
    end
    s:drop()
end

local BITS = {'EQ', 'ALL', 'BITS_ALL_SET', 'BITS_ANY_SET', 'BITS_ALL_NOT_SET'}
local s = box.schema.space.create('s')
s:create_index('pk')
s:create_index('b', {type = 'bitset', parts = {2, 'unsigned'}})
s:create_index('c', {type = 'bitset', parts = {3, 'string'}})

local function bytes()
    local out = {}
    for i = 1, 4 do
        out[i] = string.char(random(3) == 0 and 0 or 2 ^ random(8))
    end
    return table.concat(out)
end

for _ = 1, 20 do
    for _ = 1, 100 do
        local id = random(800)
        if random(3) == 0 then
            s:delete(id)
        else
            s:replace{id, random(40) * 2 ^ random(20), bytes()}
        end
    end
    for _, iterator in ipairs(BITS) do
        local key = random(16) * 2 ^ random(12)
        check.values(iterator .. ' ' .. key, numbers(s.index.b:select({key}, {iterator = iterator})),
                     s.index.b:count({key}, {iterator = iterator}))
        key = bytes()
        check.values(iterator .. ' ' .. check.show(key),
                     numbers(s.index.c:select({key}, {iterator = iterator})),
                     s.index.c:count({key}, {iterator = iterator}))
    end
end
check.finish()
