-- SPDX-License-Identifier: BSD-2-Clause
-- Where compiled code comes from: for each trace the function and line it begins in,
-- noted when LuaJIT begins to record it. Only the message that stops the process asks
-- (module_guard.c), so nothing else is kept.
local jutil = require('jit.util')

-- By the trace's number, which LuaJIT uses again.
local functions = setmetatable({}, {__mode = 'v'})
local places = {}

local function on_trace(what, trace, func, pc)
    if what == 'start' then
        functions[trace] = func
        places[trace] = pc
    end
end
jit.off(on_trace)
jit.attach(on_trace, 'trace')

-- The place in Lua of the machine code at the address: "file.lua:line", or nil.
local function locate(address)
    for trace, func in pairs(functions) do
        local code, first = jutil.tracemc(trace)
        if code ~= nil then
            first = first < 0 and first + 2 ^ 32 or first
            if address >= first and address < first + #code then
                local info = jutil.funcinfo(func, places[trace])
                return info.loc or info.source
            end
        end
    end
end
jit.off(locate)

return {locate = locate}
