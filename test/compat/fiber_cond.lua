-- SPDX-License-Identifier: BSD-2-Clause
-- Condition variables.
local check = require('check')
fiber = require('fiber')
log = {}
function note(x) table.insert(log, x) end
check [[
c = fiber.cond()
type(c), tostring(c)
c:wait(0)
c:wait(0.001)
fiber.create(function() note(c:wait()) end)
c:signal()
log
fiber.yield()
log
log = {}
for i = 1, 3 do fiber.create(function() c:wait() note(i) end) end
c:signal() fiber.yield()
log
c:broadcast() fiber.yield()
log
c:signal()
c:broadcast()
log = {}
c:wait('x')
c:wait(-1)
c:wait({})
c.wait()
c.signal()
c.broadcast(5)
fiber.cond('x') ~= nil
log = {}
fiber.create(function() note(c:wait(0.01)) end) fiber.create(function() note(c:wait(10)) end)
fiber.sleep(0.03) c:broadcast() fiber.yield()
log
c:nosuch()
]]
check.finish()
