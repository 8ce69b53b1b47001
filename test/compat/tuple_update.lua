-- SPDX-License-Identifier: BSD-2-Clause
-- tuple:update and tuple:upsert change a copy.
local check = require('check')
box.cfg{}
s = box.schema.space.create('s', {format = {{'id', 'unsigned'}, {'name', 'string'}}})
s:create_index('pk')
t = box.tuple.new{1, 'b', 10}
f = s:insert{1, 'one', 5}
check [[
t:update{{'=', 2, 'x'}}
t
t:update{{'+', 3, 5}, {'!', -1, 'end'}}
t:update{{'#', 1, 1}}
t:update{{'#', 1, 100}}
t:update{}
t:update()
t:update('x')
t:update{{'?', 1, 1}}
t:update{{'=', 9, 1}}
t:update{{'=', 'name', 1}}
f:update{{'=', 'name', 'new'}}
f:update{{'=', 'name', 5}}
f:update{{'=', 1, 'not a number'}}
f:update{{'=', 1, 2}}
s:get(1)
f:update{{'=', 2, 'x'}}.name
t:upsert{{'=', 2, 'x'}}
t:upsert{{'+', 2, 1}, {'+', 3, 1}}
t:upsert{{'=', 9, 1}}
t:upsert{{'?', 1, 1}}
t:upsert{}
t:upsert()
f:upsert{{'=', 'name', 'new'}}
]]
check.finish()
