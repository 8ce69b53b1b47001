-- SPDX-License-Identifier: BSD-2-Clause
-- Schema changes inside transactions.
local check = require('check')
box.cfg{}
check [[
box.begin() box.schema.space.create('a') box.rollback()
box.space.a
box.begin() a = box.schema.space.create('a') a:create_index('pk') box.commit()
box.space.a ~= nil, box.space.a.index.pk ~= nil
box.space.a:insert{1}
box.begin() box.space.a:drop() box.rollback()
box.space.a ~= nil
box.space.a:select{}
box.begin() box.space.a:insert{2} box.space.a:truncate() box.commit()
box.space.a:select{}
box.is_in_txn()
]]
if box.is_in_txn() then box.rollback() end
check.finish()
