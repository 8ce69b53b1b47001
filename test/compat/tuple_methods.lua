-- SPDX-License-Identifier: BSD-2-Clause
-- The methods of a tuple.
local check = require('check')
box.cfg{}
s = box.schema.space.create('s', {format = {{'id', 'unsigned'}, {'name', 'string'}, {'opt', 'any', is_nullable = true}}})
s:create_index('pk')
t = box.tuple.new{'a', 'b', 'c', 'd', 'b', 5, 6}
f = s:insert{1, 'one', 'o', 'extra'}
g = s:insert{2, 'two'}
check [[
t:totable()
t:totable(2)
t:totable(2, 3)
t:totable(0)
t:totable(9)
t:totable(3, 2)
t:totable('x')
t:unpack()
t:unpack(2)
t:unpack(2, 3)
t:unpack(9)
t:slice(0)
t:slice(1, 3)
t:slice(-2)
t:slice(-3, -1)
t:slice(0, 100)
t:slice(7)
t:slice(2, 1)
t:slice()
t:slice(0, 0)
t:find('b')
t:find(3, 'b')
t:find(1, 'b')
t:find(0, 'b')
t:find('z')
t:find(99, 'a')
t:find(5)
t:find(box.NULL)
t:findall('b')
t:findall(3, 'b')
t:findall('z')
t:transform(2, 1)
t:transform(2, 2)
t:transform(2, 1, 'X', 'Y')
t:transform(-1, 1)
t:transform(8, 0, 'end')
t:transform(2, 0, 'ins')
t:transform(2, 100)
t:transform(0, 1)
t:transform(20, 1)
t:transform()
t:transform('x', 1)
t:bsize(), f:bsize(), g:bsize()
f:tomap()
g:tomap()
f:tomap{names_only = true}
g:tomap{names_only = true}
f:tomap{names_only = false}
f:tomap{names_only = 'x'}
t:tomap()
f:tomap('x')
t:next()
t:next(1)
t:next(6)
t:next(7)
t:next(8)
r = {} for i, v in t:pairs() do r[i] = v end
r
r = {} for i, v in t:ipairs() do r[i] = v end
r
t:nosuch()
t.totable()
t.slice
tuple_mt = {} for _, n in ipairs{'totable', 'tomap', 'unpack', 'slice', 'transform', 'find', 'findall', 'update', 'upsert', 'bsize', 'pairs', 'ipairs', 'next'} do tuple_mt[n] = type(t[n]) end
tuple_mt
]]
check.finish()
