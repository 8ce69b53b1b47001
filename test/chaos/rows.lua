-- SPDX-License-Identifier: BSD-2-Clause
-- Random rows, and the indexes and formats that suit (most of) them.
local decimal = require('decimal')
local uuid = require('uuid')

local rows = {}

local random = math.random

function rows.pick(list)
    return list[random(#list)]
end
local pick = rows.pick

-- Equal to one another in some collation, or otherwise odd.
local strings = {'a', 'A', 'b', 'ä', 'Ä', 'aa', 'ß', 'ss', 'Straße', '', 'z', 'Z', 'éa',
                 'e\204\129a', '\0', 'x'}

function rows.string()
    return random(3) == 1 and pick(strings) .. pick(strings) or pick(strings)
end

local numbers = {
    function() return decimal.new(random(20)) / 4 end,
    function() return random(20) / 4 end,
    function() return -random(10) end,
    function() return 2 ^ 53 + random(3) end,
    function() return 9007199254740992ULL + random(3) end,
    function() return decimal.new('9007199254740993') end,
    function() return random(20) end,
    function() return random(20) end,
}

local uuids = {}
for i = 1, 12 do
    uuids[i] = uuid.fromstr(('%08x-ac92-4a23-899a-e59f34af5479'):format(i))
end

local function elements()
    local list = {}
    for i = 1, random(4) - 1 do
        list[i] = {k = random(8), s = random(3) == 1 and box.NULL or rows.string()}
    end
    return list
end

function rows.new(id)
    return {
        id, random(40), rows.string(), random(5) == 1 and box.NULL or pick(numbers)(), pick(uuids),
        {a = {b = random(4) == 1 and box.NULL or random(30)}, m = elements()},
        {random(30), random(30)}, random(5) == 1 and string.rep('p', random(3000)) or 'q',
    }
end

-- {name, options}
rows.indexes = {
    {'n', {parts = {{2, 'unsigned'}}, unique = false}},
    {'ci', {parts = {{3, 'string', collation = 'unicode_ci'}, {1, 'unsigned'}}}},
    {'num', {parts = {{4, 'number', is_nullable = true}}, unique = false}},
    {'numx', {parts = {{4, 'scalar', is_nullable = true, exclude_null = true}}, unique = false}},
    {'uu', {parts = {{5, 'uuid'}, {2, 'unsigned'}, {1, 'unsigned'}}}},
    {'jp', {parts = {{6, 'unsigned', path = 'a.b', is_nullable = true}}, unique = false}},
    {'mk', {parts = {{6, 'unsigned', path = 'm[*].k'}, {2, 'unsigned'}}, unique = false}},
    {'mku', {parts = {{6, 'unsigned', path = 'm[*].k'}, {1, 'unsigned'}}}},
    {'mks', {parts = {{6, 'string', path = 'm[*].s', is_nullable = true, exclude_null = true,
                       collation = 'unicode'}}, unique = false}},
    {'fn', {func = 'f1', parts = {{1, 'unsigned'}}, unique = false}},
    {'fmm', {func = 'fm', parts = {{1, 'unsigned'}, {2, 'string'}}, unique = false}},
    {'fbad', {func = 'fbad', parts = {{1, 'unsigned'}}, unique = false}},
    {'rt', {type = 'rtree', parts = {{7, 'array'}}, unique = false}},
    {'bs', {type = 'bitset', parts = {{2, 'unsigned'}}, unique = false}},
    {'hs', {type = 'hash', parts = {{3, 'string', collation = 'unicode_ci'}, {1, 'unsigned'}}}},
    {'desc', {parts = {{2, 'unsigned', sort_order = 'desc'}, {4, 'number', is_nullable = true}},
              unique = false}},
    {'uqn', {parts = {{2, 'unsigned'}, {3, 'string'}}, unique = true}},
}

rows.functions = {
    f1 = {body = 'function(t) return {(t[2] or 0) % 7} end'},
    fm = {body = [[function(t)
        local keys = {}
        for i = 1, (t[2] or 0) % 4 do
            keys[i] = {i, (t[3] or ""):sub(1, 2)}
        end
        return keys
    end]], opts = {is_multikey = true}},
    fbad = {body = 'function(t) if t[2] % 13 == 0 then error("no") end return {t[2]} end'},
}

rows.formats = {
    {},
    {{'id', 'unsigned'}},
    {{'id', 'unsigned'}, {'n', 'unsigned'}, {'s', 'string'}},
    {{'id', 'unsigned'}, {'n', 'integer'}, {'s', 'scalar'}, {'x', 'number', is_nullable = true},
     {'u', 'uuid'}, {'m', 'map'}, {'r', 'array'}, {'p', 'any'}},
}

return rows
