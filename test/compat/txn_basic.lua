-- SPDX-License-Identifier: BSD-2-Clause
-- begin, commit, rollback, and what is seen meanwhile.
local check = require('check')
box.cfg{}
s = box.schema.space.create('s')
s:create_index('pk')
s:create_index('sk', {parts = {{2, 'string'}}})
check [[
box.is_in_txn()
box.begin()
box.is_in_txn()
s:insert{1, 'a'}
s:insert{2, 'b'}
s:select{}
box.commit()
box.is_in_txn()
s:select{}
box.begin()
s:insert{3, 'c'}
s:update(1, {{'=', 2, 'z'}})
s:delete(2)
s:replace{2, 'again'}
s:upsert({9, 'up'}, {})
s:select{}
s.index.sk:select{}
box.rollback()
s:select{}
s.index.sk:select{}
box.begin()
s:insert{3, 'a'}
s:insert{4, 'd'}
box.is_in_txn()
box.commit()
s:select{}
box.commit()
box.rollback()
box.begin()
box.begin()
box.commit()
box.begin() s:truncate()
box.is_in_txn()
box.rollback()
s:len()
box.begin() box.commit()
box.begin() box.rollback()
]]
check.finish()
