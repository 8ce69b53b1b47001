-- SPDX-License-Identifier: BSD-2-Clause
-- Functional indexes: which functions serve, what they may return, _func_index, errors.
local check = require('check')
box.cfg{}

s = box.schema.space.create('s')
s:create_index('pk')
function ix(name, func, parts, options)
    options = options or {}
    options.parts, options.func = parts, func
    local i = s:create_index(name, options)
    return i.name, i.type, i.unique, i.parts[1].type, i.func.name
end
function fn(name, body, options)
    options = options or {is_deterministic = true, is_sandboxed = true}
    options.body = body
    box.schema.func.create(name, options)
end
function id(name)
    return box.space._func.index.name:get{name}[1]
end
function why(f, ...)
    local ok, e = pcall(f, ...)
    local prev = not ok and e.prev
    return ok, prev and tostring(prev):gsub('^.*:%d+: ', '') or nil
end
-- Rows of _func_index with the name for the number.
function ties()
    local out = {}
    for _, t in box.space._func_index:pairs() do
        out[#out + 1] = {t[2], box.space._func:get{t[3]}[3]}
    end
    return out
end
one = {{1, 'unsigned'}}
null = box.NULL
multi = {is_deterministic = true, is_sandboxed = true, opts = {is_multikey = true}}

check [[
fn('f1', 'function(t) return {t[2] + 1} end')
fn('bad1', 'function(t) return {t[2] + 1} end', {is_deterministic = true})
fn('bad2', 'function(t) return {t[2] + 1} end', {is_sandboxed = true})
box.schema.func.create('nobody')
ix('pk2', 'f1', one, {id = 0})
ix('i', 'bad1', one)
ix('i', 'bad2', one)
ix('i', 'nobody', one)
ix('i', 'nosuch', one)
ix('i', 'f1', {{2, 'unsigned'}})
ix('i', 'f1', {{1, 'unsigned'}, {3, 'unsigned'}})
ix('i', 'f1', {{1, 'unsigned'}, {1, 'unsigned'}})
ix('i', 'f1', {{1, 'unsigned', path = 'a'}})
ix('i', 'f1', {{1, 'unsigned', path = '[*]'}})
ix('i', 'f1', one, {type = 'hash'})
ix('i', 'f1', {{1, 'array'}}, {type = 'rtree', unique = false})
ix('i', 'f1', one, {type = 'bitset', unique = false})
ix('i', 'f1', {{1, 'any'}})
#box.space._index:select{s.id}, ties()
ix('i1', 'f1', one)
s.index.i1.func.fid == id('f1')
box.space._index:get{s.id, 1}[5].func == id('f1'), ties()
s:replace{1, 10}
s:replace{2, 10}
s:replace{2, 'x'}
why(s.replace, s, {2, 'x'})
s:replace{2}
s:replace{2, -5}
why(s.replace, s, {2, -5})
s:replace{2, 20}
s:replace{1, 30}
s.index.i1:select(), s.index.i1:get(31), s.index.i1:get{21}, s.index.i1:count(), s.index.i1:len()
s.index.i1:get('x')
s.index.i1:get{1, 2}
s.index.i1:select(21, {iterator = 'GT'})
s.index.i1:update(31, {{'=', 2, 40}})
s.index.i1:delete(41)
s.index.i1:select()
box.schema.func.drop('f1')
box.space._func:delete(id('f1'))
s.index.i1:rename('i2')
s.index.i2:select()
s.index.i2:drop()
ties()
box.schema.func.drop('f1')
s:truncate()
]]

check [[
fn('mk', 'function(t) local r = {} for _, v in ipairs(t[3]) do r[#r + 1] = {v} end return r end', multi)
ix('m', 'mk', one)
s:replace{1, 1, {1, 2, 3}}
s:replace{2, 1, {3}}
s:replace{3, 1, {4, 4}}
s:replace{4, 1, {}}
s:replace{5, 1}
s:replace{6, 1, {'x'}}
s:replace{7, 1, {null}}
s:replace{8, 1, {5, {}}}
s.index.m:select()
s.index.m:select({}, {iterator = 'LE', limit = 2})
s.index.m:count(), s.index.m:count(2), s.index.m:len()
s:replace{1, 1, {9, 3, 3}}
s.index.m:select()
s.index.m:delete(9)
s.index.m:select()
box.begin() s:replace{3, 1, {7, 8}} s:replace{10, 1, {1}} s:delete{4} box.rollback()
s.index.m:select()
s.index.m:drop()
s:truncate()
]]

for _, v in ipairs{"1", "'x'", "null", "{}", "{1}", "{1, 2}", "{1, 'x'}", "{1, 'x', 3}", "{{1}}", "{{1}, {2}}", "{{1}, 2}",
                   "{{1, 2}}", "{{'x'}}", "{{}}", "{null}", "{null, null}", "{a = 1}", "{'x'}", "true", "1.5", "-1"} do
    values = (values or '') .. 's:replace{1, 1, 1, ' .. v .. '}\n'
end
fn('same', 'function(t) return t[4] end')
fn('same_multi', 'function(t) return t[4] end', multi)
fn('nothing', 'function(t) end')
fn('two', 'function(t) return {1}, {2} end')
fn('err', "function(t) error('boom') end")
nullable = {{1, 'unsigned', is_nullable = true}, {2, 'string', is_nullable = true}}
for _, how in ipairs{"'same', one", "'same', {{1, 'unsigned', is_nullable = true}}", "'same', nullable", "'same_multi', one",
                     "'nothing', one", "'two', one", "'err', one"} do
    check("ix('sc', " .. how .. ")\n" .. values .. "s:replace{1, 1, 1}\ns.index.sc:select()\ns.index.sc:drop()\ns:truncate()")
end

check [[
s:replace{1, 1, 1, {'x'}}
ix('e', 'same', one)
ix('e', 'err', one)
#box.space._index:select{s.id}, ties()
fn('pair', "function(t) return {t[2], 'x' .. t[2]} end")
fid = id('pair')
box.space._index:insert{s.id, 5, 'raw', 'tree', {unique = true, func = 12345}, {{0, 'unsigned'}, {1, 'string'}}} ~= nil
s:replace{1, 5}
s.index.raw:select()
s.index.raw:count()
s.index.raw:len()
s.index.raw:min()
s.index.raw:max()
s.index.raw:random(1)
s.index.raw:get{1, 'x'}
s.index.raw:pairs()
s.index.raw:delete{1, 'x'}
box.space._func_index:insert{s.id, 5, 12345}
box.space._func_index:insert{s.id, 5, fid}
s.index.raw:drop()
box.space._index:insert{s.id, 5, 'raw', 'tree', {unique = true, func = fid}, {{0, 'unsigned'}, {1, 'string'}}} ~= nil
box.space._func_index:insert{s.id, 5, fid} ~= nil
s.index.raw:select()
box.space._func_index:replace{s.id, 5, fid}
box.space._func_index:insert{s.id, 0, fid}
box.space._func_index:insert{s.id, 7, fid}
box.space._func_index:insert{7777, 7, fid}
box.space._func_index:delete{s.id, 5} ~= nil
s.index.raw:select()
s:replace{1, 6}
box.space._func_index:insert{s.id, 5, fid} ~= nil
s.index.raw:select()
s.index.raw:alter{parts = one}
s.index.raw:select{6, 'x6'}
box.begin() s:replace{2, 7} s:replace{3, 8} s:delete{1} box.rollback()
s.index.raw:select()
box.begin() s.index.raw:drop() box.schema.func.drop('pair') box.commit()
s:drop()
ties()
]]
check.finish()
