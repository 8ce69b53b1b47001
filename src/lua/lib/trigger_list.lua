-- SPDX-License-Identifier: BSD-2-Clause
--
-- The module `internal.trigger`: lists of functions that an application runs at its own events.
-- Not in the manual, but rocks make their own triggers with it. `t = new(name)`; t(f) adds f,
-- t(f, old) puts f in the place of old, t(nil, old) removes that; both give old. t() gives the
-- list; t:run(...) calls all in the order they came. Source: what the reference does.
local trigger = {}

local methods = {}

function methods.run(self, ...)
    -- A function may change the list while it runs.
    for _, func in ipairs({unpack(self)}) do
        func(...)
    end
end

local function is_callable(value)
    if type(value) == 'table' then
        local mt = debug.getmetatable(value)
        return type(mt) == 'table' and mt.__call ~= nil
    end
    return type(value) == 'function'
end

local function position_of(self, func)
    for i, known in ipairs(self) do
        if known == func then
            return i
        end
    end
    error(self.name .. ': trigger is not found', 3)
end

local function change(self, new, old, ...)
    if select('#', ...) == 0 and new == nil and old == nil then
        return {unpack(self)}
    elseif new ~= nil and not is_callable(new) then
        error(('Usage: %s(callable)'):format(self.name), 2)
    elseif old ~= nil and not is_callable(old) then
        error('Usage: trigger(new_callable, old_callable)', 2)
    elseif old == nil then
        table.insert(self, new)
        return
    end
    local i = position_of(self, old)
    if new == nil then
        return table.remove(self, i)
    end
    self[i] = new
    return old
end

function trigger.new(name)
    return setmetatable({name = name ~= nil and tostring(name) or 'trigger'},
                        {__call = change, __index = methods})
end

return trigger
