-- SPDX-License-Identifier: BSD-2-Clause
-- sleep, yield and what they take; who runs first.
local check = require('check')
fiber = require('fiber')
clock = require('clock')
log = {}
function note(x) table.insert(log, x) end
function elapsed(f, ...) local t = clock.monotonic() f(...) return clock.monotonic() - t end
check [[
fiber.sleep(0)
fiber.sleep(0.001)
fiber.yield()
elapsed(fiber.sleep, 0.02) >= 0.019
fiber.sleep()
fiber.sleep('x')
fiber.sleep(-1)
fiber.sleep({})
for _, d in ipairs{0.03, 0.01, 0.02} do fiber.create(function() fiber.sleep(d) note(d) end) end
fiber.sleep(0.06)
log
log = {}
for i = 1, 1000 do fiber.new(function() note(i) end) end
fiber.sleep(0)
#log, log[1], log[1000]
log = {}
for _, d in ipairs{math.huge, 1e300, 1e18, 1e9} do f = fiber.create(function() note({pcall(fiber.sleep, d)}) end) f:cancel() fiber.yield() end
#log
fiber.sleep(-math.huge)
fiber.sleep(1e-300)
fiber.sleep('0')
fiber.sleep(nil)
n = 0
for i = 1, 100 do fiber.create(function() for j = 1, 100 do n = n + 1 fiber.yield() end end) end
while n < 10000 do fiber.yield() end
n
]]
check.finish()
