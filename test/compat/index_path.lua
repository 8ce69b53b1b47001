-- SPDX-License-Identifier: BSD-2-Clause
-- Index parts with JSON paths: how they are given and shown, formats inside fields, rows.
local check = require('check')
box.cfg{}

function parts_of(i)
    local out = {}
    for n, p in ipairs(i.parts) do
        out[n] = {p.fieldno, p.type, p.is_nullable, p.path}
    end
    return out
end
function fresh(format)
    if s ~= nil then
        s:drop()
    end
    s = box.schema.space.create('s', {format = format})
end
function ix(name, parts, options)
    options = options or {}
    options.parts = parts
    return parts_of(s:create_index(name, options))
end
function names()
    local out = {}
    for id, i in pairs(s.index) do
        if type(id) == 'string' then
            out[#out + 1] = i.name
        end
    end
    table.sort(out)
    return table.concat(out, ' ')
end
function raw(parts, options, kind)
    local r = box.space._index:insert{s.id, 9, 'raw', kind or 'tree', options or {unique = true}, parts}
    return r[3]
end
null = box.NULL
map = setmetatable({}, {__serialize = 'map'})

check [[
fresh()
ix('pk', {{1, 'unsigned', path = 'a.b'}})
ix('s2', {{field = 2, type = 'string', path = '.a["b"][3]'}})
ix('e', {{2, 'string', path = 'a['}})
ix('e', {{2, 'string', path = '[0]'}})
ix('e', {{2, 'string', path = ''}})
ix('e', {{3, 'string', path = 5}})
ix('e', {{3, 'string', path = 'a b'}})
ix('e', {{3, 'string', path = '"a"'}})
ix('s3', {{'[3].a', 'string'}})
ix('e', {{3, 'string', path = 'a', is_nullable = true}, {3, 'unsigned', path = '.a'}})
ix('s4', {{4, 'string', path = 'a', is_nullable = true}, {4, 'unsigned', path = 'b', is_nullable = true}})
ix('s5', {{5, 'string', path = "['x y']", is_nullable = true}})
ix('e', {{'a.b', 'unsigned'}})
ix('e', {{'[0].a', 'unsigned'}})
ix('s6', {{'[6]', 'unsigned', is_nullable = true}})
fresh{{'id', 'unsigned'}, {'name', 'map'}, {'arr', 'array', is_nullable = true}, {'any'}, {'str', 'string'}}
ix('pk', {{'id'}})
ix('n1', {{'name.a.b', 'string'}})
ix('n2', {'name.a.c'})
ix('n2', {{'name.a.c'}})
ix('n3', {{'name.a', 'string'}})
ix('n4', {{'name.a.b', 'unsigned'}})
ix('n4', {{'name.a.b', 'scalar'}})
ix('n5', {{'name[1]', 'unsigned'}})
ix('n6', {{'str.x', 'unsigned'}})
ix('n7', {{'nosuch.x', 'unsigned'}})
ix('n8', {{'any.x', 'unsigned'}})
ix('n9', {{'any[1]', 'unsigned'}})
ix('n10', {{'arr[1]', 'unsigned', is_nullable = true}})
ix('n11', {{'arr[2].x.y', 'unsigned'}})
ix('n12', {{'arr[1].x.y', 'unsigned'}})
names()
s:replace{1}
s:replace{1, {a = {b = 'x', c = 1}}, {}, {x = 1}, 's'}
s:replace{1, {}, {1, {x = {y = 1}}}, {x = 1}, 's'}
s:replace{1, {a = {b = 'x'}}, {1, {x = {y = 1}}}, {x = 1}, 's'}
s:replace{1, {a = 5}, {1, {x = {y = 1}}}, {x = 1}, 's'}
s:replace{1, {a = {b = 3, c = 1}}, {1, {x = {y = 1}}}, {x = 1}, 's'}
s:replace{1, {a = {b = 'x', c = {}}}, {1, {x = {y = 1}}}, {x = 1}, 's'}
s:replace{1, {a = null}, {1, {x = {y = 1}}}, {x = 1}, 's'}
s:replace{1, {a = {b = 'x'}}, {null, {x = {y = 1}}}, {x = 1}, 's'}
s:replace{1, {a = {b = 'x'}}, {1, null}, {x = 1}, 's'}
s:replace{1, {a = {b = 'x'}}, null, {x = 1}, 's'}
s:replace{1, {a = {b = 'x'}}, {1, {x = {}}}, {x = 1}, 's'}
s:replace{1, {a = {b = 'x'}}, {1, {x = {y = 1}}}, 7, 's'}
s:replace{1, {a = {b = 'x'}}, {1, {x = {y = 1}}}, {}, 's'}
s:replace{2, {a = {b = 'w'}}, {3, {x = {y = 4}}}, {x = 5}, 's'}
s.index.n1:select('x')
s.index.n1:select({'w'}, {iterator = 'GE'})
s.index.n1:get('w')
s.index.n1:get(1)
s.index.n1:select(1)
s.index.n8:update(5, {{'=', 'any.x', 6}})
s.index.n8:get(5), s.index.n8:get(6)
s:update(2, {{'=', 'name.a.b', 'x'}})
s.index.n1:update('w', {{'=', 'name.a.b', 5}})
s.index.n1:update('w', {{'#', 'name.a', 1}})
s.index.n1:delete('w')
s:get(1)['name.a.b'], s:get(1)['arr[2].x.y'], s:get(1)['[2].a.b'], s:get(1)['name.a.zz']
]]

check [[
fresh()
ix('pk')
ix('j', {{2, 'string', path = 'a.b', is_nullable = true}})
s:replace{1}
s:replace{2, null}
s:replace{3, {}}
s:replace{4, {a = 1}}
s:replace{5, {a = null}}
s:replace{6, {a = {}}}
s:replace{7, {a = {b = null}}}
s:replace{8, {a = {b = 'x'}}}
s:replace{9, {a = {b = 5}}}
s:replace{10, 5}
s:replace{11, {1}}
s:replace{12, {a = {1}}}
s:replace{13, map}
s:replace{14, {a = map}}
s.index.j:select()
s.index.j:select({null})
s.index.j:select({null}, {iterator = 'GT'})
s.index.j:count({null}), s.index.j:len()
s.index.j:min(), s.index.j:max()
ix('k', {{2, 'string', path = 'a.b'}})
s:truncate()
ix('k', {{2, 'string', path = 'a.b'}})
s:replace{1}
s:replace{7, {a = {b = null}}}
s:replace{8, {a = {b = 'x'}}}
s:format{{'a', 'unsigned'}, {'b', 'array'}}
s:format{{'a', 'unsigned'}, {'b', 'map', is_nullable = true}}
s:format{{'a', 'unsigned'}, {'b', 'map'}}
s:format{{'a', 'unsigned'}, {'b', 'string'}}
s:format{{'a', 'unsigned'}, {'b', 'scalar'}}
s:format{{'a', 'unsigned'}, {'b', 'any'}}
raw{{field = 1, type = 'string', path = 'a..b'}}
raw{{field = 1, type = 'string', path = 'a[*]'}}
raw{{field = 2, type = 'string', path = 'c'}, {field = 2, type = 'string', path = '.c'}}
raw{{field = 5, type = 'string', path = '[*][*]'}}
raw({{field = 5, type = 'string', path = 'x'}}, nil, 'hash')
raw({{field = 6, type = 'string', path = 'x[*]'}}, nil, 'hash')
s.index.k:alter{parts = {{2, 'scalar', path = 'a.b'}}}
parts_of(s.index.k)
s.index.k:select()
s.index.k:alter{parts = {{2, 'scalar', path = 'a.c'}}}
s.index.j:drop()
s.index.k:drop()
s:replace{9, 'anything'}
]]

-- HASH over a path, and the same number in several encodings.
check [[
fresh()
ix('pk', {{1, 'unsigned', path = 'id'}})
ix('h', {{2, 'number', path = 'n'}}, {type = 'hash'})
ix('t', {{2, 'number', path = 'n'}, {2, 'scalar', path = 'm', is_nullable = true}}, {unique = false})
s:insert{{id = 1}, {n = 1, m = 'x'}}
s:insert{{id = 2}, {n = 1.0}}
s:insert{{id = 2}, {n = require('ffi').cast('double', 1)}}
s:insert{{id = 2}, {n = 2ULL}}
s:insert{{id = 3}, {n = -0.0}}
s:insert{{id = 4}, {n = 0}}
s:insert{{id = 5}, {n = 0/0}}
s:insert{{id = 6}, {n = 1/0}}
s:insert{{id = 7}, {n = -1/0}}
s:insert{{id = 8}, {n = 18446744073709551615ULL}}
s:insert{{id = 9}, {n = 9007199254740993LL}}
s:insert{{id = 10}, {n = 9007199254740992}}
s.index.h:get(1), s.index.h:get(2.0), s.index.h:get(0), s.index.h:get(1/0)
s.index.h:get(9007199254740993LL)[1].id, s.index.h:get(9007199254740992)[1].id
s.index.h:get(9007199254740991)
s.index.t:select({0}, {iterator = 'LE'})
s.index.t:select({1, 'x'})
s.index.t:count({1}), s.index.t:count({2}, {iterator = 'GE'})
s:upsert({{id = 1}, {n = 7}}, {{'=', '[2].n', 77}})
s.index.t:select(77)
s.index.h:get(1)
s.index.pk:get(1)
s:delete(1)
]]

-- Of several places that are missing in a row, the same one is told of.
local function missing(parts, row)
    local s = box.schema.space.create('missing')
    s:create_index('pk')
    for i, list in ipairs(parts) do
        pcall(s.create_index, s, 'i' .. i, {parts = list, unique = false})
    end
    check.call('missing in ' .. check.show(row), function() return s:insert(row) end)
    s:drop()
end

local a, b, c = {3, 'unsigned', path = 'a'}, {6, 'unsigned', path = '[1]'}, {6, 'unsigned', path = '[2]'}
local five = {5, 'unsigned'}
local x, y, yb, ya = {2, 'unsigned', path = 'x'}, {2, 'unsigned', path = 'y'},
                     {2, 'unsigned', path = 'y.b'}, {2, 'unsigned', path = 'y.a'}
for _, parts in ipairs{{{a}, {b}}, {{b}, {a}}, {{a, b}}, {{b, a}}, {{b}, {c}}, {{c}, {b}},
                       {{five}, {b}, {c}, {a}}, {{x}, {yb}}, {{yb}, {x}, {ya}},
                       {{yb}, {ya}, {x}}, {{x}, {y}}, {{y}, {x}}, {{ya, yb}, {x}}, {{b, five}, {a}}} do
    missing(parts, {1})
    missing(parts, {1, {}})
    missing(parts, {1, {y = {}}})
    missing(parts, {1, {x = 5}, {b = 1}})
    missing(parts, {1, {x = 5}, {b = 1}, 4, 5, {}})
    missing(parts, {1, {x = 5}, {b = 1}, 4, 5, {1}})
    missing(parts, {1, {x = 5}, {}, 4, 5, {}})
end
for n = 2, 40, 3 do
    local parts, row = {}, {1}
    for i = n, 1, -1 do
        parts[#parts + 1] = {{i + 1, 'unsigned', path = 'a'}}
        row[i + 1] = {b = 1}
    end
    missing(parts, {1})
    missing(parts, row)
end

-- What a field says of nil is not said of places inside of it.
check [[
s = box.schema.space.create('actions', {format = {{'a', 'unsigned'}, {'b', 'integer', nullable_action = 'abort', is_nullable = false}, {'c', 'map', nullable_action = 'abort', is_nullable = false}}})
s:create_index('pk').name
s:create_index('i', {parts = {{2, 'integer', is_nullable = true}}})
s:create_index('i', {parts = {{2, 'string', path = 'a', is_nullable = true}}})
s:create_index('i', {parts = {{3, 'string', path = '[1]', is_nullable = true}}})
s:create_index('i', {parts = {{3, 'string', path = 'a', is_nullable = true}}}).name
s:insert{1, 2, {}}
s:drop()
]]
check.finish()
