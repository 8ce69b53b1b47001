-- SPDX-License-Identifier: BSD-2-Clause
-- Random strings from a seed, with broken UTF-8 among them, in collated indexes.
local check = require('check')
box.cfg{}

local seed = 1
local function random(n)
    seed = (seed * 1103515245 + 12345) % 2147483648
    return math.floor(seed / 65536) % n
end

local pieces = {'a', 'A', 'b', 'ä', 'é', 'e\204\129', 'ß', 'ss', 'ё', 'е', 'ch', '1', '10', '2', ' ',
                '-', '_', '\255', '\195', '\228\184', '\237\160\128', '中', 'ñ', '\0', '\1', 'I', 'ı',
                '\204\129\204\163', '\239\191\189', '😀', '\240\159\152', 'ﬁ', 'Ω', 'ω'}

local function word()
    local out = {}
    for _ = 1, random(7) do
        table.insert(out, pieces[random(#pieces) + 1])
    end
    return table.concat(out)
end

box.internal.collation.create('mixed', 'ICU', 'en', {
    numeric_collation = 'on', case_first = 'upper_first', alternate_handling = 'shifted',
    strength = 'quaternary', normalization_mode = 'on',
})

for _, name in ipairs({'unicode', 'unicode_ci', 'unicode_tr_s2', 'unicode_de__phonebook_s1', 'mixed'}) do
    local s = box.schema.space.create('s')
    s:create_index('pk', {parts = {{1, 'string', collation = name}}})
    s:create_index('two', {parts = {{2, 'scalar', collation = name, is_nullable = true},
                                    {3, 'string', collation = name}}, unique = false})
    s:create_index('bytes', {parts = {{1, 'string'}}, unique = false})
    for _ = 1, 400 do
        local second = ({word(), random(5), box.NULL})[random(3) + 1]
        local kind = random(4)
        if kind == 0 then
            s:delete{word()}
        else
            s:replace{word(), second, word()}
        end
    end
    check.values(name, s:len())
    for _, index in ipairs({'pk', 'two', 'bytes'}) do
        check.values(name .. '.' .. index, s.index[index]:select{})
    end
    for _ = 1, 60 do
        local key = word()
        local iterator = ({'EQ', 'GE', 'GT', 'LE', 'LT', 'REQ'})[random(6) + 1]
        check.values(iterator .. ' ' .. check.show(key),
                     s.index.two:select({key}, {iterator = iterator, limit = 3}),
                     s.index.pk:count({key}, {iterator = iterator}))
    end
    s:drop()
end
check.finish()
