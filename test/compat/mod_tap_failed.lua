-- SPDX-License-Identifier: BSD-2-Clause
-- tap: checks that fail, and what is noted of them. The notes are read as YAML, since their order
-- is chance.
local check = require('check')
local yaml = require('yaml')
local written = {}
local write = io.write
io.write = function(...)
    for i = 1, select('#', ...) do
        table.insert(written, (tostring(select(i, ...))))
    end
    return io.stdout
end
tap = require('tap')
ffi = require('ffi')
-- What f prints: lines, and the notes as tables.
function told(f)
    written = {}
    local ok, err = pcall(f)
    local out, block = {ok, err}, nil
    for line in table.concat(written):gmatch('[^\n]+') do
        line = line:gsub('^%s+', block == nil and '' or '%0')
        if line:match('^%s*%-%-%-$') then
            block = {}
        elseif line:match('^%s*%.%.%.$') then
            local notes = yaml.decode(table.concat(block, '\n'))
            local first = notes.trace and notes.trace[1] or {}
            notes.trace = first.what
            notes.filename = nil
            table.insert(out, notes)
            block = nil
        elseif block ~= nil then
            table.insert(block, line)
        else
            table.insert(out, line)
        end
    end
    return out
end
t = tap.test('failed')
strict = tap.test('strict')
strict.strict = true
check [[
told(function() t:plan(3) end)
told(function() t:ok(false, 'not') end)
told(function() t:ok(nil, 'nothing', {more = 1}) end)
told(function() return t:ok(true, 'good'), t:ok(0, 'zero') end)
told(function() t:fail('failing') end)
told(function() return t:fail('failing', {why = 'x'}) end)
told(function() t:is(1, 2, 'is') end)
told(function() t:is('1', 1, 'is') end)
told(function() t:is(nil, 1, 'is') end)
told(function() t:is({}, {}, 'is') end)
told(function() t:is(nil, box.NULL, 'is') end)
told(function() t:is(box.NULL, nil, 'is') end)
told(function() t:is(1ULL, 1, 'is') end)
told(function() t:isnt(1, 1, 'isnt') end)
told(function() t:isnt(nil, nil, 'isnt') end)
told(function() t:isnt({}, {}, 'isnt') end)
told(function() t:is_deeply({1, {2}}, {1, {3}}, 'deep') end)
told(function() t:is_deeply({1, {2}}, {1, {2}}, 'deep') end)
told(function() t:is_deeply(1, {}, 'deep') end)
told(function() t:is_deeply({}, 1, 'deep') end)
told(function() t:is_deeply({a = {b = 1}}, {a = {b = 2}}, 'deep') end)
told(function() t:is_deeply(nil, box.NULL, 'deep') end)
told(function() t:like('abc', 'b', 'like') end)
told(function() t:like('abc', 'x', 'like') end)
told(function() t:like(5, '%a', 'like') end)
told(function() t:unlike('abc', 'b', 'unlike') end)
told(function() t:unlike('abc', 'x', 'unlike') end)
told(function() t:isnil(5, 'isnil') end)
told(function() t:isnil(nil, 'isnil') end)
told(function() t:isstring(5, 'isstring') end)
told(function() t:isstring(nil, 'isstring') end)
told(function() t:isnumber('5', 'isnumber') end)
told(function() t:isnumber(nil, 'isnumber') end)
told(function() t:istable(5, 'istable') end)
told(function() t:istable(nil, 'istable') end)
told(function() t:isboolean(nil, 'isboolean') end)
told(function() t:isboolean('x', 'isboolean') end)
told(function() t:isfunction(5, 'isfunction') end)
told(function() t:isfunction({}, 'isfunction') end)
told(function() t:isudata(5, 'x', 'isudata') end)
told(function() t:isudata(nil, 'x', 'isudata') end)
told(function() t:iscdata(1ULL, 'uint64_t', 'iscdata') end)
told(function() t:iscdata(1ULL, 'int64_t', 'iscdata') end)
told(function() t:iscdata(5, 'int', 'iscdata') end)
told(function() t:iscdata(1, ffi.typeof('char *'), 'iscdata') end)
(pcall(t.iscdata, t, 1, 'no such type'))
told(function() t:skip('skipped') end)
told(function() t:diag('note %d', 5) t:diag('100') end)
told(function() t:test('sub', function(t) t:plan(1) t:ok(true, 'x') end) end)
told(function() t:test('sub', function(t) t:plan(2) t:ok(true, 'x') end) end)
told(function() t:test('sub', function(t) t:plan(1) t:ok(false, 'x') end) end)
told(function() t:test('sub', function(t, a, b) t:plan(1) t:is(a + b, 3, 'arguments') end, 1, 2) end)
(pcall(t.test, t, 'sub', function() error('x') end))
(pcall(t.test, t, 'sub', 5))
(pcall(t.ok))
(pcall(t.nosuch, t))
told(function() return t:check() end)
strict:is(nil, box.NULL, 'is'), strict:isnt(nil, box.NULL, 'isnt'), strict:is_deeply({a = box.NULL}, {}, 'deep')
strict:is(box.NULL, box.NULL, 'is'), strict:is(nil, nil, 'is'), strict:is(1ULL, 1, 'is'), strict:is(nil, 1, 'is'), strict:isnt(1, nil, 'isnt')
u = tap.test('few')
told(function() u:plan(2) u:ok(true, 'x') return u:check() end)
(pcall(u.check, u))
]]
io.write = write
check.finish()
