-- SPDX-License-Identifier: BSD-2-Clause
-- Where compiled code comes from: for each trace the function and line it begins in,
-- noted when LuaJIT begins to record it. Only the message that stops the process asks
-- (module_guard.c), so nothing else is kept.
local jutil = require('jit.util')

-- By the trace's number, which LuaJIT uses again.
local functions = setmetatable({}, {__mode = 'v'})
local places = {}
-- What its caller calls the function: functions have no names of their own. Compiled
-- code leaves no frames to ask, so this can be known only when recording begins.
local names = {}

-- Of the function that is about to be recorded, whose frame is below the handler's.
local function name_of(func)
    local info = debug.getinfo(3, 'nSf')
    if info == nil or info.func ~= func then return 'a function' end
    if info.what == 'main' then return 'the main chunk' end
    return info.name and string.format("function '%s'", info.name) or
           string.format('a function defined at line %d', info.linedefined)
end
jit.off(name_of)

local function on_trace(what, trace, func, pc)
    if what == 'start' then
        functions[trace] = func
        places[trace] = pc
        names[trace] = name_of(func)
    end
end
jit.off(on_trace)
jit.attach(on_trace, 'trace')

-- The place in Lua that the trace with the machine code at the address begins at:
-- "function 'name', file.lua:line", or nil.
local function locate(address)
    for trace, func in pairs(functions) do
        local code, first = jutil.tracemc(trace)
        if code ~= nil then
            first = first < 0 and first + 2 ^ 32 or first
            if address >= first and address < first + #code then
                local info = jutil.funcinfo(func, places[trace])
                return string.format('%s, %s', names[trace], info.loc or info.source)
            end
        end
    end
end
jit.off(locate)

return {locate = locate}
