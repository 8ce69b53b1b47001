-- SPDX-License-Identifier: BSD-2-Clause
-- Tuples outlive the rows they came from.
local check = require('check')
box.cfg{}
s = box.schema.space.create('s')
s:create_index('pk')
local kept = {}
for i = 1, 200 do
    kept[i] = s:insert{i, ('x'):rep(i), {i, {i}}}
end
for i = 1, 200 do
    if i % 3 == 0 then s:delete(i) else s:update(i, {{'=', 2, 'new'}}) end
end
s:truncate()
collectgarbage('collect')
collectgarbage('collect')
local good = 0
for i = 1, 200 do
    local t = kept[i]
    if t[1] == i and t[2] == ('x'):rep(i) and t[3][2][1] == i then good = good + 1 end
end
check.values('kept whole', good)
s:drop()
collectgarbage('collect')
check.values('after drop', kept[7], #kept[200][2], kept[7] == kept[7])
for i = 1, 1000 do box.tuple.new{i, 'x'} end
local map = {[kept[1]] = 'by itself'}
check.values('as a key', map[kept[1]])
check.finish()
