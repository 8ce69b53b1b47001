-- SPDX-License-Identifier: BSD-2-Clause
-- select on HASH indexes: what they can and what they cannot.
local check = require('check')
box.cfg{}
s = box.schema.space.create('s')
s:create_index('pk', {type = 'hash'})
s:create_index('sk', {type = 'hash', parts = {{2, 'string'}, {3, 'unsigned'}}})
for i = 1, 5 do s:insert{i, 'k' .. i, i} end
-- The order of a hash is its own: sort what comes out.
function sorted(rows)
    local ids = {}
    for i, t in ipairs(rows) do ids[i] = t[1] end
    table.sort(ids)
    return ids
end
check [[
sorted(s:select{})
sorted(s:select())
sorted(s:select({}, {iterator = 'ALL'}))
#s:select({}, {limit = 2}), #s:select({}, {offset = 2}), #s:select({}, {limit = 0})
s:select{3}
s:select(3)
s:select({3}, {iterator = 'EQ'})
s:select({}, {iterator = 'EQ'})
s:select({99})
s:select({3}, {iterator = 'REQ'})
s:select({3}, {iterator = 'LT'})
s:select({3}, {iterator = 'LE'})
s:select({3}, {iterator = 'GE'})
s:select({3}, {iterator = 'ALL'}) ~= nil
s:select({3}, {iterator = 'BITS_ALL_SET'})
s:select({3}, {iterator = 'OVERLAPS'})
s:select{'x'}
s:select{3, 4}
s.index.sk:select{'k3', 3}
s.index.sk:select{'k3'}
s.index.sk:get{'k3'}
s.index.sk:get{'k3', 3}
s.index.sk:select{'k3', 4}
s:get(3)
s:insert{3, 'x', 1}
s:insert{6, 'k3', 3}
s:replace{3, 'k4', 4}
s:replace{3, 'k3', 33}
s.index.sk:get{'k3', 3}
s.index.sk:get{'k3', 33}
s:update(3, {{'=', 2, 'new'}})
s.index.sk:get{'new', 33}
s:delete(3)
s:len(), s:count(), s.index.sk:len(), s.index.sk:count{'k4', 4}, s:count{3}
s:count({3}, {iterator = 'GE'})
s.index.pk:min()
s.index.pk:max()
s.index.pk:random(1) ~= nil
s:truncate()
s.index.pk:random(1)
s:select{}
]]
check.finish()
