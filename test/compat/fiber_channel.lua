-- SPDX-License-Identifier: BSD-2-Clause
-- Channels: buffers, rendezvous, timeouts, closing.
local check = require('check')
fiber = require('fiber')
log = {}
function note(...) table.insert(log, {...}) end
check [[
ch = fiber.channel(2)
type(ch), tostring(ch), ch:size(), ch:count(), ch:is_empty(), ch:is_full(), ch:is_closed()
ch:put('a'), ch:put({b = 1})
ch:count(), ch:is_empty(), ch:is_full()
ch:put('c', 0)
ch:put('c', 0.001)
ch:get(), ch:get()
ch:get(0)
ch:get(0.001)
fiber.create(function() note('got', ch:get()) end)
ch:has_readers(), ch:has_writers()
ch:put(5)
fiber.yield()
log
ch:put(nil)
ch:put(box.NULL)
ch:get() == nil
ch:count()
r = fiber.channel()
r:size(), r:is_full(), r:is_empty()
r:put(1, 0)
r:get(0)
log = {}
fiber.create(function() note('put', r:put('hand to hand')) end)
r:has_writers(), r:has_readers()
r:get()
fiber.yield()
log
log = {}
for i = 1, 3 do fiber.create(function() note(i, r:get()) end) end
for i = 1, 3 do r:put('m' .. i) end
fiber.yield()
log
log = {}
for i = 1, 3 do fiber.create(function() note('put', r:put(i)) end) end
r:get(), r:get(), r:get()
fiber.yield()
#log
log = {}
fiber.create(function() note('get', r:get()) end)
fiber.create(function() note('get', r:get(5)) end)
r:close()
r:is_closed()
fiber.yield()
log
r:put(1)
r:get()
r:close()
r:put(1, 0)
ch:put('left')
ch:close()
ch:get()
ch:is_closed(), ch:count()
fiber.channel('x')
fiber.channel(-1)
fiber.channel({})
fiber.channel(1):put()
fiber.channel(1):get('x')
fiber.channel(1):get(-1)
fiber.channel(1):put(1, 'x')
fiber.channel(1):put(1, {})
fiber.channel(1).put(1)
c = fiber.channel(1) f = fiber.create(function() note(pcall(c.get, c)) end) f:cancel() fiber.yield()
f:status()
t = {} c:put(t)
c:get() == t
big = fiber.channel(1000) for i = 1, 1000 do big:put(i) end
big:is_full(), big:count()
s = 0 for i = 1, 1000 do s = s + big:get() end
s
fiber.channel(1):nosuch()
log = {}
r = fiber.channel()
for i = 1, 2 do fiber.create(function() note('put', r:put(i)) end) end
r:close()
r:get(), r:has_writers()
fiber.yield()
log
c = fiber.channel(2)
c:put(1) c:put(2) fiber.create(function() note('late', c:put(3)) end) c:get() fiber.yield()
c:get(), c:get(), c:count()
for i = 1, 7 do c:put(i) c:put(-i) c:get() c:get() end
c:put(nil) c:put(false)
c:get(), c:get(), c:count()
c:put('x', 1), c:get(1), c:get(0)
c:put('x', nil), c:put('y', nil, 'more'), c:put('z', 0)
c:get(nil), c:get(0, 'more'), c:get(0)
c:put(c)
c:get() == c
co = coroutine.wrap(function() for i = 1, 3 do coroutine.yield(r:put(i), c:put(i)) end end)
co(), c:get()
log = {}
c = fiber.channel(0)
fiber.create(function() coroutine.wrap(function() note(c:get(), c:get()) end)() end)
fiber.create(function() coroutine.wrap(function() c:put({5}) c:put('b', 10) end)() end)
fiber.yield() fiber.yield() fiber.yield()
log
]]
check.finish()
