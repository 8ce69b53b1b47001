-- SPDX-License-Identifier: BSD-2-Clause
-- Update operations by JSON path into values of all shapes, and by paths that are none.
local check = require('check')
box.cfg{log_level = 0}
s = box.schema.space.create('t')
s:create_index('pk')
s:format{{'f1', 'any'}, {'f2', 'any', is_nullable = true}, {'f3', 'any', is_nullable = true}}

local function update(name, path, op)
    local argument = op == ':' and {op, path, 1, 1, 'x'} or {op, path, 1}
    check.call(('%s %s %s'):format(name, op, path), s.update, s, 1, {argument})
end

for _, value in ipairs{5, 'x', {1, 2}, {a = 1}, {a = {b = 1}}, {{a = 1}}, box.NULL} do
    for _, path in ipairs{'[2].a', '[2].a[1]', 'f2.a', 'f2[1]', '[2][1].a', '[2].a.b', '[9].a', 'f3[1]'} do
        for _, op in ipairs{'=', '+', '&', '!', '#', ':'} do
            s:replace{1, value}
            update(check.show(value), path, op)
        end
    end
end

for _, path in ipairs{'[2][', '[2].', '[2].a[', '[2].a[1', '[2].a[x]', '[2]..a', '[2]["', '[2]["a"', '[2][*]',
                      '[2].a[0]', '[2].a[1]x', '[2]a', '[', ']', 'a[', '', '.', '[2][999999999999]', '[0].a',
                      '[2] .a', '[2].1'} do
    for _, op in ipairs{'=', '+'} do
        s:replace{1, {a = {1, 2}}}
        update('', path, op)
        check.call('upsert of a row ' .. path, s.upsert, s, {1}, {{op, path, 1}})
        check.call('upsert of none ' .. path, s.upsert, s, {7}, {{op, path, 1}})
        s:delete(7)
    end
end

ffi = require('ffi')
function hex(t) return (require('msgpack').encode(t):gsub('.', function(c) return ('%02x'):format(c:byte()) end)) end
for _, kind in ipairs{'double', 'number'} do
    d = box.schema.space.create('d', {format = {{'id', 'unsigned'}, {'d', kind}}})
    d:create_index('pk')
    check [[
    d:insert{1, 1.0625} d:insert{2, ffi.new('double', 1)} d:insert{3, 0.1}
    hex(d:update(1, {{'-', -1, 1}}))
    hex(d:update(2, {{'-', -1, 1}}))
    hex(d:update(2, {{'-', 'd', 0.25}}))
    hex(d:update(3, {{'+', 2, 0.1}}))
    hex(d:update(3, {{'+', 2, ffi.new('float', 0.5)}}))
    d:drop()
    ]]
end
-- Rows against what a space without an index knows of them; large numbers as keys.
t1 = box.schema.space.create('t1', {field_count = 1})
t2 = box.schema.space.create('t2', {field_count = 2, format = {{'a', 'unsigned'}, {'b', 'unsigned'}}})
check [[
t1:insert{1, 2}
t1:upsert({1, 2}, {})
t2:insert{1, 'x'}
t2:insert{1}
t2:replace{1, 2}
t2:upsert({1, 'x'}, {})
t2:upsert({1, 2}, {})
s:get(2^52) s:get(2^53) s:get{2^60} s:get(2^63) s:get(-2^60)
s:get(2^52)
s:get(2^63)
]]
-- What nil does to a statement, and nullable parts over it.
for _, action in ipairs{'none', 'abort', 'rollback', 'ignore', 'default', 'replace', 'fail', 'x'} do
    for _, nullable in ipairs{1, true, false} do
        f = {name = 'a', type = 'unsigned', nullable_action = action}
        if nullable ~= 1 then
            f.is_nullable = nullable
        end
        check [[
        n = nil
        n = box.schema.space.create('n', {format = {{'id', 'unsigned'}, f}})
        n and n:create_index('pk') and 1
        n and n:create_index('s', {parts = {{2, 'unsigned', is_nullable = true}}}) and 1
        n and n:create_index('s2', {parts = {{2, 'unsigned'}}}) and 1
        n and n:insert{1}
        n and n:drop()
        ]]
    end
end
check.finish()
