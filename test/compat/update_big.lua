-- SPDX-License-Identifier: BSD-2-Clause
-- Updates of large tuples and by many operations.
local check = require('check')
box.cfg{}
s = box.schema.space.create('s')
s:create_index('pk')
local row = {1}
for i = 2, 300 do row[i] = i end
local ops = {}
for i = 2, 300 do ops[#ops + 1] = {'+', i, i} end
local function sum(t)
    local n = 0
    for _, v in t:pairs() do n = n + v end
    return n
end
s:replace(row)
check.values('sum before', sum(s:get(1)))
check.values('299 operations', sum(s:update(1, ops)))
local inserts = {}
for i = 1, 100 do inserts[i] = {'!', 2, i} end
local t = s:update(1, inserts)
check.values('100 inserts', #t, t[2], t[101], t[102])
local deletes = {}
for i = 1, 100 do deletes[i] = {'#', 2, 1} end
t = s:update(1, deletes)
check.values('100 deletes', #t, t[2], sum(t))
local far = {}
for i = 300, 2, -1 do far[#far + 1] = {'=', i, 0} end
check.values('backwards', sum(s:update(1, far)))
local mixed = {}
for i = 1, 50 do
    mixed[#mixed + 1] = {'=', i * 2, 'x' .. i}
    mixed[#mixed + 1] = {'#', 200, 1}
    mixed[#mixed + 1] = {'!', 100 + i, i}
end
t = s:update(1, mixed)
check.values('mixed', #t, t:slice(0, 20))
check.values('mixed, further', t:slice(100, 130))
local many = {}
for i = 1, 4001 do many[i] = {'=', 2, i} end
check.call('4001 operations', s.update, s, 1, many)
many[4001] = nil
check.call('4000 operations', function() return s:update(1, many)[2] end)
s:replace{2, ('x'):rep(100000)}
check.call('splice in a long string', function()
    local r = s:update(2, {{':', 2, 50000, 10, 'yyy'}})
    return #r[2], r[2]:find('yyy', 1, true), r:bsize()
end)
check.finish()
