-- SPDX-License-Identifier: BSD-2-Clause
-- Savepoints.
local check = require('check')
box.cfg{}
s = box.schema.space.create('s')
s:create_index('pk')
check [[
box.savepoint()
box.begin()
s:insert{1}
a = box.savepoint()
s:insert{2}
b = box.savepoint()
s:insert{3}
box.rollback_to_savepoint(b)
s:select{}
s:insert{4}
box.rollback_to_savepoint(b)
s:select{}
box.rollback_to_savepoint(a)
s:select{}
box.rollback_to_savepoint(b)
box.rollback_to_savepoint(a)
s:insert{5}
box.commit()
s:select{}
box.rollback_to_savepoint(a)
box.begin()
box.rollback_to_savepoint(a)
box.rollback_to_savepoint()
box.rollback_to_savepoint('x')
box.rollback_to_savepoint({})
c = box.savepoint()
s:replace{1, 'changed'}
s:delete{5}
s:update(1, {{'!', 2, 'more'}})
s:select{}
box.rollback_to_savepoint(c)
s:select{}
box.rollback()
s:select{}
type(a)
box.savepoint('x')
]]
check.finish()
