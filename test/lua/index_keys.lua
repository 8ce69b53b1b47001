-- SPDX-License-Identifier: BSD-2-Clause
-- Indexes whose keys are not simply fields: what 2.6.0 does not have (exclude_null, hint) or
-- does not survive, what functions cost, and that every kind agrees with a scan.
local tap = require('tap')
local fio = require('fio')

box.cfg{work_dir = fio.tempdir(), log_level = 2}
local test = tap.test('index_keys')
test:plan(15)

local s = box.schema.space.create('s')
s:create_index('pk')

local function ids(index, ...)
    local out = {}
    for _, t in ipairs(s.index[index]:select(...)) do
        out[#out + 1] = t[1]
    end
    return table.concat(out, ' ')
end

local function reset()
    for id = 20, 1, -1 do
        if s.index[id] ~= nil then
            s.index[id]:drop()
        end
    end
    s:truncate()
end

test:test('exclude_null', function(test)
    test:plan(14)
    s:create_index('e', {parts = {{2, 'unsigned', exclude_null = true}}})
    s:create_index('two', {unique = false, parts = {{2, 'unsigned', is_nullable = true},
                                                    {3, 'string', exclude_null = true}}})
    local part = s.index.e.parts[1]
    test:is(part.exclude_null, true, 'shown')
    test:is(part.is_nullable, true, 'means is_nullable')
    s:replace{1, 10, 'x'}
    s:replace{2, box.NULL, 'y'}
    s:replace{3}
    s:replace{4, 5}
    test:is(ids('e'), '4 1', 'rows with nil are not in it')
    test:is(ids('two'), '2 1', 'only where the part itself is nil')
    test:is(s.index.e:len(), 2, 'len')
    test:is(s.index.e:count({box.NULL}), 0, 'count of nil')
    s:update(1, {{'=', 2, box.NULL}})
    s:update(3, {{'!', 2, 7}})
    test:is(ids('e'), '4 3', 'updates take out and put in')
    test:ok(not pcall(s.replace, s, {9, 7}), 'others are unique')
    box.begin()
    s:delete(4)
    s:replace{3}
    s:replace{2, 4}
    box.rollback()
    test:is(ids('e'), '4 3', 'undone')
    s:create_index('built', {parts = {{2, 'unsigned', exclude_null = true}}})
    test:is(ids('built'), '4 3', 'built over rows')
    s.index.built:alter{parts = {{2, 'unsigned', is_nullable = true}}}
    test:is(ids('built'), '1 2 4 3', 'altered')
    local ok, e = pcall(s.create_index, s, 'bad', {parts = {{2, exclude_null = true, is_nullable = false}}})
    test:like(tostring(e), 'options.parts%[1%]: exclude_null=true and is_nullable=false are incompatible', 'conflict')
    ok, e = pcall(s.create_index, s, 'bad', {parts = {{2, exclude_null = 1}}})
    test:ok(not ok, 'type')
    ok, e = pcall(box.space._index.insert, box.space._index, {s.id, 9, 'raw', 'tree', {unique = true},
                                                            {{field = 1, type = 'unsigned', exclude_null = true}}})
    test:is(tostring(e), 'Wrong index options (field 1): index part: conflicting exclude_null and ' ..
            'nullability properties', 'in a row')
end)
reset()

test:test('exclude_null of several keys', function(test)
    test:plan(3)
    s:create_index('m', {parts = {{2, 'unsigned', path = '[*]', exclude_null = true}}})
    box.schema.func.create('keys', {body = 'function(t) return {t[3]} end', is_deterministic = true, is_sandboxed = true})
    s:create_index('f', {func = 'keys', parts = {{1, 'unsigned', exclude_null = true}}})
    s:replace{1, {1, box.NULL, 2}, 1}
    s:replace{2, {box.NULL, 3}, box.NULL}
    test:is(ids('m'), '1 1 2', 'multikey')
    local ok, e = pcall(s.replace, s, {3, {}})
    test:is(ok, false, 'a key needs its parts')
    test:is(ids('f'), '1', 'functional')
end)
reset()

test:test('hint', function(test)
    test:plan(3)
    for i = 1, 200 do
        s:replace{i, 'common prefix ' .. i % 50}
    end
    s:create_index('h', {hint = false, unique = false, parts = {{2, 'string'}}})
    s:create_index('g', {unique = false, parts = {{2, 'string'}}})
    test:is(ids('h'), ids('g'), 'built without hints')
    for i = 1, 200, 3 do
        s:delete(i)
        s:replace{i + 1000, 'common ' .. i}
    end
    test:is(ids('h'), ids('g'), 'changed')
    s.index.h:alter{hint = true}
    test:is(ids('h'), ids('g'), 'altered')
end)
reset()

test:test('sort_order', function(test)
    test:plan(13)
    local kinds = {unsigned = function(i) return i % 40 end, string = function(i) return 'a long common prefix' .. i % 40 end,
                   number = function(i) return i % 40 - 20.5 end, scalar = function(i) return i % 2 == 0 and i or 's' .. i end,
                   integer = function(i) return i % 5 ~= 0 and i % 40 - 20 or box.NULL end, double = function(i) return i % 40 + 0.5 end}
    for kind, make in pairs(kinds) do
        s:truncate()
        local parts = {{2, kind, sort_order = 'desc', is_nullable = kind == 'integer'}, {1, 'unsigned'}}
        s:create_index('d', {unique = false, parts = parts})
        parts[1].sort_order = 'asc'
        s:create_index('a', {unique = false, parts = {parts[1], {1, 'unsigned', sort_order = 'desc'}}})
        for i = 1, 300 do
            s:replace{i, make(i)}
        end
        for i = 1, 300, 7 do
            s:delete(i)
        end
        s:create_index('built', {unique = false, parts = {{2, kind, sort_order = 'desc', is_nullable = kind == 'integer'},
                                                          {1, 'unsigned'}}})
        test:is(ids('d'), ids('a', {}, {iterator = 'LE'}), kind .. ': the other way round')
        local probe = make(77)
        test:is(ids('d', {probe}, {iterator = 'GT'}) .. s.index.d:count{probe},
                ids('built', {probe}, {iterator = 'GT'}) .. s.index.a:count{probe}, kind .. ': keys are found')
        s.index.d:drop()
        s.index.a:drop()
        s.index.built:drop()
    end
    s:create_index('d', {parts = {{1, 'unsigned', sort_order = 'desc'}}})
    test:is(s.index.d.parts[1].sort_order, 'desc', 'shown')
end)
reset()

test:test('alteration between kinds of keys', function(test)
    test:plan(4)
    s:create_index('u', {unique = false, parts = {{2, 'unsigned', path = '[*]'}}})
    s:replace{1, {5, 6}}
    s:replace{2, {4, 7}}
    test:is(ids('u'), '2 1 1 2', 'multikey')
    s.index.u:alter{parts = {{2, 'unsigned', path = '[2]'}}}
    test:is(ids('u'), '1 2', 'a path')
    s.index.u:alter{parts = {{2, 'scalar', path = '[*]'}}}
    test:is(ids('u'), '2 1 1 2', 'multikey again')
    s.index.u:alter{parts = {{1, 'unsigned'}}}
    test:is(ids('u'), '1 2', 'a field')
end)
reset()

test:test('functions', function(test)
    test:plan(6)
    box.schema.func.create('other', {body = 'function(t) return {-t[3]} end', is_deterministic = true, is_sandboxed = true})
    s:create_index('f', {func = 'keys', parts = {{1, 'integer'}}})
    s:replace{1, 0, 1}
    s:replace{2, 0, 2}
    s.index.f:alter{name = 'g'}
    test:is(ids('g'), '1 2', 'a new name')
    s.index.g:alter{func = 'other'}
    test:is(ids('g'), '2 1', 'another function')
    test:is(s.index.g.func.name, 'other', 'shown')
    test:ok(pcall(box.func.keys.drop, box.func.keys), 'the old one can be dropped')
    test:ok(not pcall(box.func.other.drop, box.func.other), 'the new one can not')
    s.index.g:alter{unique = false}
    test:is(ids('g'), '2 1', 'other options')
end)
reset()

test:test('a function that does not keep its promise', function(test)
    test:plan(4)
    -- It counts its calls, which the sandbox lets it do in a table of its library.
    box.schema.func.create('liar', {is_deterministic = true, is_sandboxed = true,
        body = 'function(t) math.calls = (math.calls or 0) + 1 return {math.calls} end'})
    s:create_index('l', {func = 'liar', parts = {{1, 'unsigned'}}})
    for i = 1, 10 do
        s:replace{i}
    end
    box.begin()
    s:delete(5)
    s:replace{6, 'new'}
    box.rollback()
    test:is(s.index.l:len(), 10, 'undone')
    for i = 1, 10 do
        s:delete(i)
    end
    test:is(s.index.l:len(), 0, 'empty')
    s:replace{1}
    test:is(s.index.l:get(12)[1], 1, 'called once for each row')
    test:is(s.index.l:count(), 1, 'count')
end)
reset()

test:test('memory comes back', function(test)
    test:plan(2)
    s:create_index('m', {unique = false, parts = {{2, 'string', path = '[*]'}}})
    local empty = s.index.m:bsize()
    for i = 1, 100 do
        s:replace{i, {'a' .. i, 'b' .. i, 'c', 'c'}}
    end
    test:ok(s.index.m:bsize() > empty + 100 * 3 * 24, 'keys are counted')
    for i = 1, 100 do
        s:delete(i)
    end
    test:ok(s.index.m:bsize() < empty + 20 * 1024, 'and freed')
end)
reset()

test:test('a tuple that before_replace changed is checked', function(test)
    test:plan(4)
    s:create_index('p', {parts = {{2, 'unsigned', path = 'a'}}})
    local instead
    local trigger = s:before_replace(function() return instead end)
    instead = box.tuple.new{1, {a = 'text'}}
    local ok, e = pcall(s.replace, s, {1, {a = 1}})
    test:is(tostring(e), 'Tuple field [2]["a"] type does not match one required by operation: expected unsigned', 'type')
    instead = box.tuple.new{1, {b = 1}}
    ok, e = pcall(s.replace, s, {1, {a = 1}})
    test:is(tostring(e), 'Tuple field [2]["a"] required by space format is missing', 'missing')
    instead = box.tuple.new{1, {a = 2}}
    s:replace{1, {a = 1}}
    test:is(ids('p', 2), '1', 'its key counts')
    test:is(s.index.p:get(1), nil, 'not the old one')
    s:before_replace(nil, trigger)
end)
reset()

test:test('limits', function(test)
    test:plan(3)
    local ok, e = pcall(s.create_index, s, 'deep', {parts = {{2, 'unsigned', path = ('[1]'):rep(5000)}}})
    test:is(tostring(e), 'Wrong index options (field 1): invalid path', 'a path that no row can have')
    s:create_index('deep', {parts = {{2, 'unsigned', path = ('[1]'):rep(100), is_nullable = true}}})
    local v = 7
    for _ = 1, 100 do
        v = {v}
    end
    s:replace{1, v}
    test:is(ids('deep', 7), '1', 'a deep path')
    s:create_index('long', {parts = {{3, 'unsigned', path = ('x'):rep(60000), is_nullable = true}}})
    s:replace{3, {}, {[('x'):rep(60000)] = 5}}
    test:is(ids('long', 5), '3', 'a long name')
end)
reset()

-- Random rows under all kinds at once, against what a scan says.
local function random_row(id)
    local tags = {}
    for j = 1, math.random(0, 5) do
        tags[j] = math.random(3) == 1 and 'tag' .. math.random(20) or math.random(20)
    end
    return {id, {tags = tags, n = math.random(30)}, math.random(1000)}
end

local function keys_of(t)
    local seen, out = {}, {}
    for _, tag in ipairs(t[2].tags) do
        if not seen[tag] then
            seen[tag] = true
            out[#out + 1] = tag
        end
    end
    return out
end

test:test('all kinds agree with a scan', function(test)
    test:plan(5)
    math.randomseed(5)
    box.schema.func.create('tags', {is_deterministic = true, is_sandboxed = true, opts = {is_multikey = true},
        body = 'function(t) local r = {} for i, v in ipairs(t[2].tags) do r[i] = {v} end return r end'})
    s:create_index('path', {unique = false, parts = {{2, 'unsigned', path = 'n'}}})
    s:create_index('multi', {unique = false, parts = {{2, 'scalar', path = 'tags[*]'}}})
    s:create_index('func', {unique = false, func = 'tags', parts = {{1, 'scalar'}}})
    s:create_index('mixed', {unique = false, parts = {{2, 'scalar', path = 'tags[*]'}, {2, 'unsigned', path = 'n'}}})
    for step = 1, 3000 do
        local id, what = math.random(200), math.random(10)
        if step % 100 == 0 then
            box.begin()
        end
        if what < 7 then
            s:replace(random_row(id))
        elseif what < 9 then
            s:delete(id)
        else
            s:update(id, {{'+', '[2].n', 1}})
        end
        if step % 100 == 30 and box.is_in_txn() then
            box.rollback()
        end
    end
    if box.is_in_txn() then
        box.commit()
    end
    local expected, by_n, total = {}, {}, 0
    for _, t in s:pairs() do
        by_n[t[2].n] = (by_n[t[2].n] or 0) + 1
        for _, key in ipairs(keys_of(t)) do
            expected[key] = (expected[key] or 0) + 1
            total = total + 1
        end
    end
    test:is(s.index.multi:len(), total, 'length')
    local bad = {path = 0, multi = 0, func = 0, mixed = 0}
    for key, count in pairs(expected) do
        for _, name in ipairs{'multi', 'func', 'mixed'} do
            bad[name] = bad[name] + (s.index[name]:count(key) ~= count and 1 or 0)
        end
    end
    for n, count in pairs(by_n) do
        bad.path = bad.path + (s.index.path:count(n) ~= count and 1 or 0)
    end
    for _, name in ipairs{'path', 'multi', 'func', 'mixed'} do
        test:is(bad[name], 0, name)
    end
end)

test:test('building over rows gives the same', function(test)
    test:plan(2)
    local multi, func = ids('multi'), ids('func')
    s.index.multi:drop()
    s.index.func:drop()
    s:create_index('multi', {unique = false, parts = {{2, 'scalar', path = 'tags[*]'}}})
    s:create_index('func', {unique = false, func = 'tags', parts = {{1, 'scalar'}}})
    test:is(ids('multi'), multi, 'multikey')
    test:is(ids('func'), func, 'functional')
end)

test:test('a snapshot and the log give the same', function(test)
    test:plan(1)
    box.snapshot()
    s:replace{1000, {tags = {'tag1', 2}, n = 3}, 1}
    local multi = ids('multi')
    test:is(ids('func'), multi, 'functional and multikey agree')
end)
reset()

-- What a dropped index leaves is freed in steps; rows come and go meanwhile.
test:test('large ones go while the server works', function(test)
    test:plan(4)
    local ROWS = 5000
    box.schema.func.create('firsts', {is_deterministic = true, is_sandboxed = true, opts = {is_multikey = true},
                                      body = 'function(t) return {{t[2][1]}, {t[2][2]}} end'})
    local free = box.stat.memory().indexes
    local big = box.schema.space.create('big')
    big:create_index('pk')
    for i = 1, ROWS do
        big:insert{i, {i, i + 1, i + 2}}
    end
    for _ = 1, 3 do
        big:create_index('multi', {unique = false, parts = {{2, 'unsigned', path = '[*]'}}})
        big:create_index('func', {unique = false, func = 'firsts', parts = {{1, 'unsigned'}}})
        big.index.multi:drop()
        big.index.func:drop()
        for i = 1, ROWS, 7 do
            big:delete(i)
            big:replace{i, {i, 0}}
            if i % 100 == 0 then
                require('fiber').yield()
            end
        end
    end
    big:create_index('multi', {unique = false, parts = {{2, 'unsigned', path = '[*]'}}})
    big:create_index('func', {unique = false, func = 'firsts', parts = {{1, 'unsigned'}}})
    test:is(big.index.func:count(0), math.ceil(ROWS / 7))
    test:is(big.index.multi:count(0), math.ceil(ROWS / 7))
    test:ok(pcall(box.slab.check))
    big:drop()
    for _ = 1, 1000 do
        if box.stat.memory().indexes <= free then
            break
        end
        require('fiber').sleep(0.001)
    end
    test:ok(box.stat.memory().indexes <= free, 'all memory comes back')
    box.schema.func.drop('firsts')
end)

test:is(#box.space._func_index:select(), 0, 'nothing is left in _func_index')
s:drop()
os.exit(test:check() and 0 or 1)
