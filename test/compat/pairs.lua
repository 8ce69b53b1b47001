-- SPDX-License-Identifier: BSD-2-Clause
-- space:pairs and index:pairs.
local check = require('check')
box.cfg{}
s = box.schema.space.create('s')
s:create_index('pk')
s:create_index('sk', {parts = {{2, 'string'}, {1, 'unsigned'}}})
s:create_index('h', {type = 'hash', parts = {{1, 'unsigned'}}})
for i = 1, 6 do s:insert{i, i % 2 == 0 and 'even' or 'odd'} end
function ids(...)
    local out = {}
    for _, t in ... do table.insert(out, t[1]) end
    return out
end
check [[
ids(s:pairs())
ids(s:pairs{})
ids(s:pairs(3))
ids(s:pairs{3})
ids(s:pairs(3, {iterator = 'GE'}))
ids(s:pairs(3, {iterator = 'LT'}))
ids(s:pairs(nil, {iterator = 'REQ'}))
ids(s:pairs(99))
ids(s.index.sk:pairs())
ids(s.index.sk:pairs('even'))
ids(s.index.sk:pairs({'even'}, {iterator = 'REQ'}))
ids(s.index.sk:pairs({'even', 4}, {iterator = 'GT'}))
ids(s.index.h:pairs(4))
#ids(s.index.h:pairs())
s:pairs('x')
s:pairs(3, {iterator = 'nonsense'})
s.index.h:pairs(3, {iterator = 'LE'})
s.index.pk.pairs()
]]
-- Rows may go and come while one walks.
check [[
r = {} for _, t in s:pairs() do table.insert(r, t[1]) s:delete(t[1]) end
r, s:len()
for i = 1, 3 do s:insert{i, 'x'} end
r = {} for _, t in s:pairs() do table.insert(r, t[1]) if t[1] < 10 then s:insert{t[1] + 10, 'y'} end end
r
r = {} for _, t in s:pairs(nil, {iterator = 'LE'}) do table.insert(r, t[1]) s:delete(t[1]) end
r, s:len()
]]
check.finish()
