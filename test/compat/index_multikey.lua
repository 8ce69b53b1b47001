-- SPDX-License-Identifier: BSD-2-Clause
-- Multikey indexes: what is in them, uniqueness, changes, errors, building.
local check = require('check')
box.cfg{}

function fresh(format)
    if s ~= nil then
        s:drop()
    end
    s = box.schema.space.create('s', {format = format})
    s:create_index('pk')
end
function ix(name, parts, options)
    options = options or {}
    options.parts = parts
    local i = s:create_index(name, options)
    return i.name, i.type, i.unique, #i.parts, i.parts[1].path
end
function ids(index, ...)
    local out = {}
    for _, t in ipairs(s.index[index]:select(...)) do
        out[#out + 1] = t[1]
    end
    return table.concat(out, ' ')
end
null = box.NULL

check [[
s = box.schema.space.create('s')
ix('pk', {{1, 'unsigned', path = '[*]'}})
fresh()
ix('m', {{2, 'unsigned', path = '[*]'}})
s:replace{1, {1, 2, 3}}
s:replace{2, {3}}
s:replace{3, {4, 4, 4}}
s:replace{4, {}}
s:replace{5}
s:replace{6, 5}
s:replace{7, {a = 1}}
s:replace{8, {'x'}}
s:replace{9, {null}}
s:replace{10, null}
s:replace{11, {5, 6, 'x'}}
s:replace{12, {5, 6}}
s:replace{12, {6, 7}}
s:replace{1, {3, 8}}
s.index.m:select()
ids('m', {}, {iterator = 'LE'})
ids('m', 6, {iterator = 'GE'})
ids('m', 6, {iterator = 'LT'})
ids('m', 6, {iterator = 'REQ'})
ids('m', {}, {limit = 2, offset = 1})
s.index.m:count(), s.index.m:len(), s.index.m:count(6), s.index.m:count(5, {iterator = 'GT'})
s.index.m:min(), s.index.m:max(), s.index.m:min(6), s.index.m:max(5)
s.index.m:get(3), s.index.m:get(5)
s.index.m:get('x')
s.index.m:update(3, {{'=', 2, {100}}})
s:update(12, {{'!', '[2][1]', 101}})
s.index.m:delete(4)
s.index.m:select()
s:insert{20, {6}}
s:insert{20, {4, 5, 1000, 6}}
ids('m')
s.index.m:random(1) ~= nil
s:upsert({1, {9}}, {{'=', 2, {70, 71}}})
s:upsert({30, {9}}, {{'=', 2, {70, 71}}})
s:upsert({30, {9}}, {{'=', 2, {70, 71}}})
ids('m')
s:delete(12)
ids('m')
]]

check [[
fresh()
ix('m', {{2, 'unsigned', path = '[*].a'}, {2, 'string', path = '[*].b', is_nullable = true}, {3, 'unsigned'}}, {unique = false})
s:replace{1, {{a = 1, b = 'x'}, {a = 2}}, 7}
s:replace{2, {{a = 1, b = 'x'}, {a = 1, b = 'x'}}, 7}
s:replace{3, {{a = 1}, {a = 1, b = null}, {b = 'c'}}, 7}
s:replace{3, {{a = 1}, {a = 1, b = null}}, 7}
s:replace{4, {{a = 1}, 5}, 7}
s:replace{4, {5}, 7}
s:replace{4, {null}, 7}
ids('m')
ids('m', 1)
ids('m', {1, 'x'})
ids('m', {1, null}, {iterator = 'GT'})
ids('m', {1, 'x', 7})
s.index.m:count({1, 'x'})
s.index.m:get(1)
s.index.m:alter{parts = {{2, 'unsigned', path = '[*].a'}}}
ids('m')
ix('d1', {{2, 'unsigned', path = '[*].a'}, {4, 'unsigned', path = '[*]'}})
ix('d1', {{2, 'unsigned', path = '[*].a'}, {2, 'unsigned', path = '[1].a'}})
ix('d1', {{2, 'unsigned', path = 'x[*].a'}})
ix('d1', {{5, 'unsigned', path = 'a[*].x'}, {5, 'unsigned', path = 'b[*].y'}})
ix('d1', {{5, 'unsigned', path = 'a[*].x'}, {5, 'unsigned', path = '["a"][*].x'}})
ix('d1', {{5, 'unsigned', path = 'a[*].x'}, {5, 'unsigned', path = 'a'}})
ix('d1', {{5, 'unsigned', path = 'a[1]'}, {5, 'unsigned', path = 'a[*]'}})
ix('d1', {{6, 'unsigned', path = '[*][*]'}})
ix('d1', {{6, 'unsigned', path = '[*].a[*]'}})
ix('d1', {{6, 'unsigned', path = '[*].a'}}, {type = 'hash'})
ix('d1', {{6, 'array', path = '[*].a'}})
ix('d4', {{5, 'unsigned', path = 'x[*]', is_nullable = true}})
ix('d5', {{5, 'unsigned', path = 'x[1]', is_nullable = true}})
ix('d6', {{5, 'unsigned', path = 'y[*].k', is_nullable = true}, {5, 'unsigned', path = 'y[*].m', is_nullable = true}}, {unique = false})
s:replace{1, {}, 7, 8}
s:replace{1, {}, 7, 8, {}}
s:replace{1, {}, 7, 8, {y = null}}
s:replace{1, {}, 7, 8, {y = {}}}
s:replace{1, {}, 7, 8, {y = {{}}}}
s:replace{1, {}, 7, 8, {y = {{k = 1}, {m = 2}, {k = null}, null}}}
s:replace{1, {}, 7, 8, {y = {{k = 1}, {m = 2}, {k = null}}}}
ids('d6')
s:replace{1, {}, 7, 8, {y = {{k = 's'}}}}
s:replace{1, {}, 7, 8, {x = {1, null, 2}}}
s:replace{2, {}, 7, 8, {x = {1, null, 2}}}
s:replace{2, {}, 7, 8, {x = {null, null, 5}}}
ids('d4')
ids('d4', {null})
ids('d6')
]]

-- Building over rows, altering, iterators under changes, transactions.
check [[
fresh()
s:replace{1, {1, 2}}, s:replace{2, {2, 3}}
ix('u', {{2, 'unsigned', path = '[*]'}})
ix('u', {{2, 'unsigned', path = '[*]'}}, {unique = false})
ids('u')
s.index.u:alter{unique = true}
o = {} for _, t in s.index.u:pairs() do o[#o + 1] = t[1] if t[1] == 1 then s:replace{1, {9, 2, 50}} end if #o > 10 then break end end
o
s.index.pk:alter{parts = {{1, 'integer'}}}
ids('u')
s:upsert({1, {7}}, {{'=', 2, {70, 71}}})
ids('u')
box.begin() s:replace{1, {8}} s:replace{3, {8, 9}} s:delete{2} o = ids('u') box.rollback()
o, ids('u')
box.begin() sp = box.savepoint() s:replace{1, {8}} s:replace{3, {8, 9}} box.rollback_to_savepoint(sp) s:replace{4, {5}} box.commit()
ids('u')
s.index.u:drop()
ix('u', {{2, 'scalar', path = '[*]'}}, {unique = false})
s:replace{5, {'a', true, 1.5}}
ids('u')
s:create_index('v', {parts = {{2, 'scalar', path = '[*]'}}}).unique
s.index.u:drop()
s:drop()
s = nil
]]

-- Strings that begin alike, many keys in a row, against a scan.
check [[
fresh()
ix('m', {{2, 'string', path = 'tags[*]'}}, {unique = false})
for i = 1, 300 do local tags = {} for j = 1, i % 7 do tags[j] = 'a long common prefix ' .. (i * j) % 50 end s:replace{i, {tags = tags}} end
for i = 1, 300, 3 do s:delete(i) end
for i = 2, 300, 3 do s:update(i, {{'!', '[2].tags[1]', 'a long common prefix ' .. i % 10}}) end
bad = 0
for k = 0, 50 do local key, n = 'a long common prefix ' .. k, 0 for _, t in s:pairs() do for _, tag in ipairs(t[2].tags) do if tag == key then n = n + 1 break end end end if n ~= s.index.m:count(key) then bad = bad + 1 end end
bad, s.index.m:len(), s.index.m:min()[1], s.index.m:max()[1]
]]

-- Over a field that may be nil: refused when the index is made, not when the format changes.
check [[
s:drop()
s = box.schema.space.create('s', {format = {{'a', 'unsigned'}, {'b', 'array'}}})
s:create_index('pk').name
s:create_index('m', {parts = {{2, 'string', path = '[*]'}}, unique = false}).name
s:format{{'a', 'unsigned'}, {'b', 'string', is_nullable = true}}
s:format{{'a', 'unsigned'}, {'b', 'array', is_nullable = true}}
s:insert{1, {'a', 'b'}}, s:insert{3}, s:insert{4, {}}
s:insert{2, box.NULL}
s.index.m:select{}
s.index.m:alter{unique = true}
s.index.m:alter{parts = {{2, 'scalar', path = '[*]'}}}
s:create_index('n', {parts = {{2, 'string', path = '[*].a'}}, unique = false})
s:create_index('n', {parts = {{1, 'unsigned'}, {2, 'string', path = '[*]'}}, unique = false})
s:create_index('n', {parts = {{3, 'string', path = '[*].a'}}, unique = false}).name
s:format{{'a', 'unsigned'}, {'b', 'array', is_nullable = true}, {'c', 'map', is_nullable = true}}
s:format{{'a', 'unsigned'}, {'b', 'array', is_nullable = true}, {'c', 'array', is_nullable = true}}
s.index.m:drop()
s:create_index('m', {parts = {{2, 'string', path = '[*]'}}, unique = false})
s:drop()
]]
check.finish()
