-- SPDX-License-Identifier: BSD-2-Clause
-- A primary key of several parts: whole keys where they are due, partial ones where they may be.
local check = require('check')
box.cfg{}
s = box.schema.space.create('s')
s:create_index('pk', {parts = {{1, 'unsigned'}, {3, 'string'}}})
check [[
s:insert{1, 'x', 'a'}
s:insert{1, 'y', 'b'}
s:insert{1, 'z', 'a'}
s:insert{2, 'z', 'a'}
s:insert{2, 'z'}
s:insert{2, 'z', 5}
s:get{1, 'a'}
s:get{1}
s:get(1)
s:get{1, 'a', 'x'}
s:get{'a', 1}
s:delete{1}
s:delete{1, 'b'}
s:update({1}, {{'=', 2, 'q'}})
s:update({1, 'a'}, {{'=', 2, 'q'}})
s:update({1, 'a'}, {{'=', 3, 'q'}})
s:update({1, 'a'}, {{'=', 1, 7}})
s:upsert({1, 'x', 'a'}, {{'=', 2, 'up'}})
s:upsert({9, 'x', 'a'}, {{'=', 2, 'up'}})
s:select{}
s:select{1}
s:select{1, 'a'}
s:select({1}, {iterator = 'GT'})
s:select({1, 'a'}, {iterator = 'GE'})
s:select({1, 'a'}, {iterator = 'LT'})
s:select{1, 'a', 'b'}
s:count(1)
s:count{1, 'a'}
]]
check.finish()
