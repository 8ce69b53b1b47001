-- SPDX-License-Identifier: BSD-2-Clause
-- join, set_joinable, and what is handed back.
local check = require('check')
fiber = require('fiber')
check [[
f = fiber.new(function(a, b) return a + b, 'x', nil, 4 end, 1, 2) f:set_joinable(true)
f:join()
f:join()
f = fiber.new(function() error('oops') end) f:set_joinable(true)
f:join()
f = fiber.new(function() error({code = 5}) end) f:set_joinable(true)
f:join()
f = fiber.new(function() box.error{code = 7, reason = 'seven'} end) f:set_joinable(true)
f:join()
f = fiber.new(function() fiber.sleep(0.01) return 'slept' end) f:set_joinable(true)
f:join()
f = fiber.new(function() end)
f:join()
f = fiber.create(function() return 1 end)
f:set_joinable(true)
f = fiber.create(function() fiber.self():set_joinable(true) return 'own' end)
f:status()
f:join()
f = fiber.new(function() fiber.sleep(10) end) f:set_joinable(true)
fiber.yield() f:cancel()
f:join()
f = fiber.new(function() end) f:set_joinable()
f:set_joinable('x')
f:set_joinable(false)
fiber.self():set_joinable(true)
fiber.self():set_joinable(false)
fiber.join()
fs = {} for i = 1, 5 do fs[i] = fiber.new(function() fiber.sleep(0.001 * (6 - i)) return i end) fs[i]:set_joinable(true) end
r = {} for i = 1, 5 do r[i] = select(2, fs[i]:join()) end
r
f = fiber.new(function() return fiber.id() end) f:set_joinable(true) id = f:id()
select(2, f:join()) == id
f = fiber.new(function(...) return ... end, unpack({1, nil, 3, nil, 5}, 1, 5)) f:set_joinable(true)
f:join()
]]
check.finish()
