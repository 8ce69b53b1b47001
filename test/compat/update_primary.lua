-- SPDX-License-Identifier: BSD-2-Clause
-- Updates and upserts that would change the primary key.
local check = require('check')
box.cfg{}
s = box.schema.space.create('s')
s:create_index('pk')
s:create_index('sk', {parts = {2, 'unsigned'}})
s:insert{1, 1}
s:insert{2, 2}
check [[
s:update(1, {{'=', 1, 2}})
s:update(1, {{'=', 1, 3}})
s:update(1, {{'=', 1, 3}, {'=', 2, 2}})
s:update(1, {{'=', 1, 1}})
s:update(1, {{'=', 2, 2}})
s:update(1, {{'+', 1, 1}})
s.index.sk:update(1, {{'=', 1, 2}})
s:upsert({1, 1}, {{'=', 1, 2}})
s:upsert({1, 1}, {{'=', 1, 3}})
s:select()
]]
check.finish()
