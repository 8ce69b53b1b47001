-- SPDX-License-Identifier: BSD-2-Clause
-- The module merger: sources of all kinds, merging, errors.
local check = require('check')
box.cfg{}
kd, merger, msgpack, buffer = require('key_def'), require('merger'), require('msgpack'), require('buffer')
local ffi = require('ffi')

def = kd.new{{fieldno = 1, type = 'unsigned'}}
function T()
    return merger.new_source_fromtable({{1, 'a'}, {3, 'b'}, {5, 'c'}}),
           merger.new_source_fromtable({box.tuple.new{2, 'x'}, {3, 'y'}, {4}})
end
function tup(list)
    local out = {}
    for i, t in ipairs(list) do
        out[i] = t:totable()
    end
    return out
end
function B(t)
    local buf = buffer.ibuf()
    msgpack.encode(t, buf)
    return buf
end
function hex(b)
    return (ffi.string(b.rpos, b:size()):gsub('.', function(c) return ('%02x'):format(c:byte()) end))
end
function gen(p, st)
    st = st + 1
    if p[st] ~= nil then
        return st, p[st]
    end
end
-- Is it a source? (Where it is made of differs.)
function good(source)
    return source.select ~= nil
end

local args = {'', '1', '{}', 'nil, nil', "'x'", 'print', '{}, 2', '{1}', '{{}}', 'def', 'def, 1', 'def, {}', 'def, {1}', 'def, {{1}}',
              'def, {}, 1', 'def, {}, {}', 'def, {}, {reverse = 1}', 'def, {}, {reverse = true}', 'def, {}, {foo = 1}',
              'def, {}, {}, 1', 'box.NULL, {}', 'def, {}, box.NULL'}
local text = {}
for _, name in ipairs{'new', 'new_buffer_source', 'new_table_source', 'new_tuple_source', 'new_source_fromtable', 'new_source_frombuffer'} do
    for _, a in ipairs(args) do
        text[#text + 1] = ('good(merger.%s(%s))'):format(name, a)
    end
end
check(table.concat(text, '\n'))

check [[
a, b = T() tup(merger.new(def, {a, b}):select())
a, b = T() return tup(merger.new(def, {a, b}):select())
a, b = T() return tup(a:select()), tup(a:select())
a, b = T() m = merger.new(def, {a, b}) return tup(m:select{limit = 2}), tup(m:select{limit = 0}), tup(m:select{limit = 100}), tup(m:select())
tup(merger.new(def, {merger.new_source_fromtable{{5}, {3}, {1}}, merger.new_source_fromtable{{4}, {3}, {2}}}, {reverse = true}):select())
a, b = T() o = {} for s, t in merger.new(def, {a, b}):pairs() do o[#o + 1] = t:totable() end return o
a, b = T() o = {} for s, t in merger.new(def, {a, b}):ipairs() do o[#o + 1] = t:totable() end return o
a, b = T() return merger.new(def, {a, b}):pairs():map(function(t) return t[1] end):totable()
merger.new(def, {}):select()
(T()):select(1)
(T()):select('x')
(T()):select({}, 1)
(T()):select(nil, nil)
(T()):select(box.NULL)
(T()):select{buffer = 1}
(T()):select{limit = 'x'}
tup((T()):select{foo = 1})
tup((T()):select{limit = -1})
tup((T()):select(nil))
(T()).select()
(T()).pairs()
(T()).select(1)
(T()).pairs(1)
(T()).ipairs()
(T()).ipairs(1)
(T()):ipairs(1)
(T()):pairs(1, 2)
merger.new(def, {merger.new_source_frombuffer(B{{1}}), merger.new_source_frombuffer(B{{0}, {2}})}):pairs():map(function(t) return t[1] end):totable()
merger.new_source_fromtable{1, 2}:select()
merger.new_source_fromtable{{1}, 'x'}:select()
merger.new(def, {merger.new_source_fromtable{{'x'}, {2}}, (T())}):select()
merger.new(def, {merger.new_source_fromtable{{}}, (T())}):select()
]]

check [[
buf = buffer.ibuf()
a, b = T() m = merger.new(def, {a, b}) return m:select{buffer = buf}, hex(buf)
a, b = T() m = merger.new(def, {a, b}) return m:select{buffer = buf, limit = 2}, hex(buf)
m:select{buffer = buf, limit = 0}, hex(buf)
b = B{{1}, {2}, {7}} return tup(merger.new_source_frombuffer(b):select()), b:size()
b = B{{1}, {2}, {7}} s = merger.new_source_frombuffer(b) r = tup(s:select{limit = 1}) return r, b:size(), tup(s:select()), b:size()
merger.new_source_frombuffer(buffer.ibuf()):select()
b = B{{1}, {2}} b.wpos = b.wpos - 1 return merger.new_source_frombuffer(b):select()
tup(merger.new_table_source(gen, {{{1}, {2}}, {}, {{3}}}, 0):select())
tup(merger.new_buffer_source(gen, {B{{1}, {2}}, B{}, B{{3}}}, 0):select())
tup(merger.new_tuple_source(gen, {{1}, {2}, box.tuple.new{3}}, 0):select())
merger.new_tuple_source(gen, {{1}, 2}, 0):select()
merger.new_table_source(gen, {{{1}, 2}}, 0):select()
merger.new_table_source(gen, {5}, 0):select()
merger.new_buffer_source(gen, {5}, 0):select()
merger.new_table_source(function() return 1, {}, 3 end):select()
merger.new_buffer_source(function() return 1 end):select()
merger.new_tuple_source(function() return 1, 2, 3 end):select()
merger.new_tuple_source(function() return 1 end):select()
merger.new_tuple_source(function() end):select()
s = box.schema.space.create('s')
s:create_index('pk') ~= nil, s:create_index('sk', {parts = {{2, 'string'}}, unique = false}) ~= nil
for i = 1, 5 do s:insert{i, 'k' .. i % 2} end
tup(merger.new(kd.new(s.index.sk.parts), {merger.new_tuple_source(s.index.sk:pairs()), merger.new_source_fromtable{{9, 'k0'}}}):select())
tup(merger.new(def, {merger.new_tuple_source(s:pairs()), merger.new_source_fromtable(s:select())}):select())
a, b = T() m = merger.new(def, {a, b}) return tup(merger.new(def, {m, merger.new_source_fromtable{{0}, {9}}}):select())
]]

-- Equal keys come in the order of the heap.
function random_sources(count)
    local sources = {}
    for i = 1, count do
        local list, key = {}, 0
        for j = 1, (i * 7) % 11 do
            key = key + (i * j) % 3
            list[j] = {key, i, j}
        end
        sources[i] = merger.new_source_fromtable(list)
    end
    return sources
end
function order(count)
    local out = {}
    for _, t in merger.new(def, random_sources(count)):pairs() do
        out[#out + 1] = ('%d.%d.%d'):format(t[1], t[2], t[3])
    end
    return table.concat(out, ' ')
end
check [[
order(1)
order(2)
order(3)
order(5)
order(8)
order(13)
order(40)
]]
check.finish()
