-- SPDX-License-Identifier: BSD-2-Clause
-- select on a TREE of one part: every iterator, keys inside, between and outside the rows.
local check = require('check')
box.cfg{}
s = box.schema.space.create('s')
s:create_index('pk')
for i = 10, 50, 10 do s:insert{i, 'v' .. i} end
for _, it in ipairs{'EQ', 'REQ', 'ALL', 'LT', 'LE', 'GE', 'GT'} do
    for _, key in ipairs{5, 10, 25, 30, 50, 60} do
        check.call(it .. ' ' .. key, s.select, s, key, {iterator = it})
    end
    check.call(it .. ' of nothing', s.select, s, nil, {iterator = it})
    check.call(it .. ' of {}', s.select, s, {}, {iterator = it})
    check.call(it .. ' by number', s.select, s, {30}, {iterator = box.index[it]})
    check.call(it .. ' lower case', s.select, s, {30}, {iterator = it:lower()})
    check.call(it .. ' wrong type', s.select, s, {'x'}, {iterator = it})
    check.call(it .. ' null', s.select, s, {box.NULL}, {iterator = it})
end
check.finish()
