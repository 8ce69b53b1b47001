-- SPDX-License-Identifier: BSD-2-Clause
-- cancel, testcancel, kill, wakeup.
local check = require('check')
fiber = require('fiber')
log = {}
function note(x) table.insert(log, x) end
function try(...) local r = {pcall(...)} note(r[1]) note(r[1] and 'fine' or tostring(r[2])) return unpack(r) end
check [[
f = fiber.create(function() note('start') fiber.sleep(10) note('unreachable') end)
f:status()
f:cancel()
f:status()
fiber.yield()
f:status(), log
log = {}
f = fiber.create(function() try(fiber.sleep, 10) note('after') try(fiber.testcancel) try(fiber.yield) note('still here') end)
f:cancel() fiber.yield() fiber.yield()
f:status(), log
fiber.testcancel()
f:cancel()
f:wakeup()
f:name()
type(f:id())
fiber.cancel(99999999)
fiber.cancel('x')
fiber.cancel()
fiber.kill(99999999)
log = {}
f = fiber.create(function() fiber.sleep(10) note('woken') end)
f:wakeup()
log
fiber.yield()
log
f:status()
fiber.wakeup(99999999)
fiber.wakeup()
log = {}
f = fiber.new(function() note('ran') end)
f:cancel()
fiber.yield()
log, f:status()
f = fiber.create(function() while true do fiber.testcancel() fiber.sleep(0.001) end end)
fiber.cancel(f:id())
fiber.yield()
f:status()
fiber.create(function() fiber.self():cancel() end):status()
log = {}
f = fiber.create(function() local ok, e = pcall(fiber.sleep, 10) note(type(e)) note(tostring(e)) note(e.type) note(e.code) end)
f:cancel() fiber.yield()
log
]]
check.finish()
