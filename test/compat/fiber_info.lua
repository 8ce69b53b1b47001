-- SPDX-License-Identifier: BSD-2-Clause
-- fiber.info() and fiber.top(): what is there, and errors.
local check = require('check')
fiber = require('fiber')
f = fiber.create(function() fiber.sleep(1000) end)
function fields(t)
    local names = {}
    for k, v in pairs(t) do names[#names + 1] = tostring(k) .. ':' .. type(v) end
    table.sort(names)
    return table.concat(names, ' ')
end
function first_lua_frame(list)
    for _, frame in ipairs(list) do
        if frame.L then return frame.L end
    end
end
check [[
fiber.top()
fiber.top_enable()
fields(fiber.info()[f:id()])
fields(fiber.info()[f:id()].memory)
fields(fiber.info({backtrace = false})[f:id()])
fields(fiber.info({bt = false})[f:id()])
fields(fiber.info({bt = true})[f:id()])
fields(fiber.info({backtrace = true, bt = false})[f:id()])
first_lua_frame(fiber.info()[f:id()].backtrace)
fiber.info()[f:id()].csw
fiber.info()[1]
fields(fiber.top())
fields(fiber.top().cpu['1/sched'])
fiber.top().cpu_misses >= 0
fiber.top_disable()
fiber.top()
fiber.find(1)
fiber.kill(1)
fiber.cancel(1)
fiber.wakeup(1)
fiber.set_joinable(1, true)
fiber.join(1)
]]
check.finish()
