-- SPDX-License-Identifier: BSD-2-Clause
-- box.error.last, clear, set, and chains of errors.
local check = require('check')
box.cfg{}
s = box.schema.space.create('s')
s:create_index('pk')
check [[
box.error.clear()
box.error.last()
pcall(s.insert, s, {'x'})
box.error.last()
pcall(s.insert, s, {1})
box.error.last()
box.error.last().code, box.error.last().type
box.error.clear()
box.error.last()
pcall(box.error, box.error.UNKNOWN)
box.error.last()
e = box.error.new{code = 1, reason = 'one'}
box.error.last().message
box.error.set(e)
box.error.last()
box.error.last() == e
e2 = box.error.new{code = 2, reason = 'two'}
e2:set_prev(e)
e2.prev, e2.prev.prev
e:set_prev(e2)
e2:set_prev(e2)
e2:set_prev('x')
e2:set_prev(nil)
e2.prev
e2:unpack().prev
box.error.set('x')
box.error.set()
pcall(error, 'plain')
box.error.last() == e
]]
check [[
box.error.clear()
pcall(function() box.error.new(box.error.UNKNOWN):raise() end)
box.error.last()
]]
check.finish()
