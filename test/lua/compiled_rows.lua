-- SPDX-License-Identifier: BSD-2-Clause
-- Rows that compiled code puts inside of a transaction give what they give on the other
-- way: that of tables that have a metatable.
local tap = require('tap')
local json = require('json')

local test = tap.test('rows in compiled code')
test:plan(15)
box.cfg{log_level = 0, wal_mode = 'none'}

local plain = box.schema.space.create('plain')
plain:create_index('pk', {parts = {{1, 'unsigned'}}})
plain:create_index('sk', {unique = false, parts = {{2, 'scalar', is_nullable = true}}})
local many = {}
for i = 1, 12 do many[i] = i end
local rows = {
    {}, {1}, {1, 2, 3}, {1, 'a', true, false, box.NULL, 1.5}, {'a'}, {-1}, {1.5}, {0 / 0}, {1 / 0},
    {2 ^ 53}, {2 ^ 63}, {2 ^ 64}, {1, -2 ^ 63}, {1, -0.0}, {7ULL, 7LL, 7}, {1, {2, {3}}},
    {1, {a = 1}}, {1, nil, 3}, {nil, 2}, {1, a = 2}, {[1] = 1, [2] = 2, [0] = 0}, {[0] = 1},
    {[1] = 1, ['2'] = 2}, {[1] = 1, [3] = 3}, {1, string.rep('x', 1000)},
    {1, string.rep('x', 1001), 1}, {1, string.rep('x', 2000)}, {1, ''}, {1, 'a\0b'}, many,
    {unpack(many, 1, 10)}, {unpack(many, 1, 11)}, {1, print}, {500, 'is there'},
}
plain:insert{500, 'first'}

-- An error's fields by name: the order of a table's keys differs from run to run.
local function error_text(err)
    if type(err) ~= 'cdata' then
        return tostring(err)
    end
    local fields = {}
    for name, value in pairs(err:unpack()) do
        if name ~= 'trace' then
            table.insert(fields, name .. '=' .. json.encode(value, {encode_use_tostring = true}))
        end
    end
    table.sort(fields)
    return table.concat(fields, ' ')
end

-- What a change says: the tuple, or the error.
local function outcome(space, method, row, ops)
    box.begin()
    local ok, result = pcall(space[method], space, row, ops)
    local text = ok and tostring(result) .. ' ' .. (result and result:bsize() or '') or
        error_text(result)
    local stored = json.encode(space:select{})
    box.rollback()
    return text .. stored
end

local function copy(row)
    local new = setmetatable({}, {})
    for k, v in pairs(row) do new[k] = v end
    return new
end

local function is_different(space, method, row, ops)
    local want = outcome(space, method, copy(row), ops)
    for _ = 1, 70 do
        local have = outcome(space, method, row, ops)
        if have ~= want then
            test:diag('%s: %s, not %s', method, have, want)
            return true
        end
    end
    return false
end

local function count_different(space, method, ops)
    local bad = 0
    for _, row in ipairs(rows) do
        bad = bad + (is_different(space, method, row, ops) and 1 or 0)
    end
    return bad
end

test:is(count_different(plain, 'insert'), 0, 'insert')
test:is(count_different(plain, 'replace'), 0, 'replace')

local bad = count_different(plain, 'upsert', {{'=', 2, 'changed'}})
for _, ops in ipairs{
    {}, {{'+', 2, 1}}, {{'=', 2, 'x'}, {'!', 3, 'y'}, {'#', 2, 1}}, {{'=', 2, {1, 2}}},
    {{'=', 1, 7}}, {{'=', 2}}, {{'?', 2, 1}}, {{'=', 2, box.NULL}}, {{'=', 2, 1, 1}}, {1}, {'='},
    {{'=', 2, 'x'}, 1}, {'=', {2}}, {{}}, {a = 1}, {{'=', 2, 'x'}, a = 1}, {{'=', 2, 'x', a = 1}},
    {{':', 2, 1, 2, 'ab'}}, {{'=', 2, 1}, {'=', 2, 2}, {'=', 2, 3}, {'=', 2, 4}, {'=', 2, 5}},
} do
    for _, row in ipairs{{500, 'other'}, {1, 2}, {500}, {'a'}} do
        bad = bad + (is_different(plain, 'upsert', row, ops) and 1 or 0)
    end
end
test:is(bad, 0, 'upsert')

local sequence = box.schema.space.create('sequence')
sequence:create_index('pk', {sequence = true})
box.begin()
local last
for _ = 1, 100 do last = sequence:insert{box.NULL, 'x'} end
box.commit()
test:is_deeply(last:totable(), {100, 'x'}, 'a sequence gives its numbers')

local seen = 0
local triggered = box.schema.space.create('triggered')
triggered:create_index('pk')
box.begin()
for i = 1, 200 do
    triggered:replace{i, 'x'}
    if i == 100 then triggered:on_replace(function() seen = seen + 1 end) end
end
box.commit()
test:is(seen, 100, 'a trigger runs from when it is there')

local doubled = box.schema.space.create('doubled')
doubled:create_index('pk')
box.begin()
for i = 1, 200 do
    last = doubled:replace{i, 'x'}
    if i == 100 then
        doubled:before_replace(function(_, new) return new:update{{'=', 2, string.rep('y', 99)}} end)
    end
end
box.rollback()
test:is(last[2], string.rep('y', 99), 'a trigger may change the row')

box.schema.func.create('f', {body = 'function(t) return {-t[1]} end', is_deterministic = true,
                             is_sandboxed = true})
local functional = box.schema.space.create('functional')
functional:create_index('pk')
functional:create_index('f', {func = 'f', parts = {{1, 'integer'}}})
box.begin()
for i = 1, 200 do functional:insert{i} end
box.commit()
test:is(functional.index.f:min()[1], 200, 'a functional index calls its function')

local limited = box.schema.space.create('limited', {format = {
    {'id', 'unsigned'}, {'name', 'string', default = 'none'}}})
limited:create_index('pk')
box.begin()
for i = 1, 100 do last = limited:insert{i} end
box.commit()
test:is_deeply(last:totable(), {100, 'none'}, 'defaults are put in')

-- Rows of many shapes, and of none, are put all the same.
local varied = box.schema.space.create('varied')
varied:create_index('pk')
local kinds = {1, 'text', true, box.NULL, 1.5}
local wrong = 0
box.begin()
for i = 1, 3000 do
    local new = {i % 100}
    for k = 2, 2 + i % 7 do new[k] = kinds[(i * k) % 5 + 1] end
    local t = varied:replace(new)
    for k = 1, #new do wrong = wrong + (t[k] == new[k] and 0 or 1) end
    varied:upsert({i % 100}, {{'=', 2, kinds[i % 5 + 1]}})
    wrong = wrong + (varied:get(i % 100)[2] == kinds[i % 5 + 1] and 0 or 1)
end
box.rollback()
test:is(wrong, 0, 'rows of many shapes')
local nested = box.schema.space.create('nested')
nested:create_index('pk')
for i = 1, 300 do nested:replace{i, {i}} end
for i = 1, 300 do wrong = wrong + (nested:get(i)[2][1] == i and 0 or 1) end
test:is(wrong, 0, 'rows of none')

-- Without a log a statement of its own waits for nothing, nor in a temporary space. What runs
-- at the end of transactions sees it.
local trigger = require('trigger')
local ended = 0
for i = 1, 200 do
    last = plain:replace{i, 'own'}
    if i == 100 then
        trigger.set('box.on_commit', 'count', function() ended = ended + 1 end)
    end
end
trigger.del('box.on_commit', 'count')
test:is(ended, 100, 'the trigger of all commits runs from when it is there')
test:is_deeply(last:totable(), {200, 'own'}, 'a statement of its own')
local fleeting = box.schema.space.create('fleeting', {temporary = true})
fleeting:create_index('pk')
for i = 1, 200 do fleeting:replace{i, 'x'} end
test:is(fleeting:len(), 200, 'a temporary space')
plain:truncate()

local before = box.stat().REPLACE.total
box.begin()
for i = 1, 100 do plain:replace{i, 'x'} end
box.rollback()
test:is(box.stat().REPLACE.total - before, 100, 'each is counted once')

-- Another row comes in between, as from a finalizer.
local other = box.schema.space.create('other')
other:create_index('pk')
jit.off()
local is_inside, n = false, 0
debug.sethook(function()
    if not is_inside then
        is_inside, n = true, n + 1
        other:replace{n, 'other'}
        is_inside = false
    end
end, '', 3)
bad = 0
box.begin()
for i = 1, 100 do
    local t = plain:replace{i, 'mine', i}
    if t[1] ~= i or t[2] ~= 'mine' or t[3] ~= i then bad = bad + 1 end
end
debug.sethook()
for _, t in plain:pairs{} do bad = bad + (t[2] == 'other' and 1 or 0) end
for _, t in other:pairs{} do bad = bad + (t[2] == 'other' and 0 or 1) end
box.rollback()
test:ok(bad == 0 and n > 100, 'rows do not mix')

os.exit(test:check() and 0 or 1)
