-- SPDX-License-Identifier: BSD-2-Clause
-- box.atomic, and errors thrown inside a transaction.
local check = require('check')
box.cfg{}
s = box.schema.space.create('s')
s:create_index('pk')
check [[
box.atomic(function(...) s:insert{1} return ..., s:len() end, 'x', 'y')
box.atomic(function() s:insert{2} error('no') end)
box.atomic(function() s:insert{2} s:insert{1} end)
box.atomic(function() s:insert{2} box.error(box.error.UNSUPPORTED, 'this', 'that') end)
box.is_in_txn(), s:select{}
box.atomic(function() return box.atomic(function() return 1 end) end)
box.is_in_txn()
box.atomic()
box.atomic(function() end)
pcall(function() box.begin() s:insert{5} error('left open') end)
box.is_in_txn()
s:select{}
box.rollback()
s:select{}
]]
check.finish()
