-- SPDX-License-Identifier: BSD-2-Clause
--
-- net.box's `self`: the interface of a connection, for this server itself.

-- Tuples become tables, as those that come over a connection are.
local function untuple(...)
    local values, count = {...}, select('#', ...)
    for i = 1, count do
        if box.tuple.is(values[i]) then
            values[i] = values[i]:totable()
        end
    end
    return unpack(values, 1, count)
end

-- Errors that are no objects become ClientErrors, as over a connection.
local function results(ok, ...)
    if ok then
        return untuple(...)
    end
    local err = ...
    if box.error.is(err) then
        error(err, 0)
    end
    box.error(box.error.PROC_LUA, tostring(err))
end

-- The function that a CALL of the name finds, and an object that comes before the arguments.
local function find(name)
    local object, method = name:match('^([%w_.]+):([%w_]+)$')
    local value = _G
    for part in (object or name):gmatch('[^.]+') do
        if type(value) ~= 'table' and type(value) ~= 'cdata' then
            return nil
        end
        value = value[part]
        if value == nil then
            return nil
        end
    end
    if object == nil then
        return value
    end
    return value[method], value
end

local function has_function(name)
    return type(box.cfg) == 'table' and box.func[name] ~= nil
end

return function(check_call_arguments, check_eval_arguments, check_remote, log)
    local methods = {}

    function methods.ping()
        return true
    end

    function methods.reload_schema() end
    function methods.close() end

    function methods.timeout(self)
        return self
    end

    function methods.wait_connected()
        return true
    end

    function methods.is_connected()
        return true
    end

    function methods.call(self, name, args)
        check_remote(self, 'call')
        check_call_arguments(args)
        name, args = tostring(name), args or {}
        if has_function(name) then
            return results(pcall(function()
                return box.func[name]:call(args)
            end))
        end
        local found, func, object = pcall(find, name)
        if not found or func == nil then
            box.error(box.error.NO_SUCH_PROC, name)
        elseif object ~= nil then
            return results(pcall(func, object, unpack(args, 1, table.maxn(args))))
        end
        return results(pcall(func, unpack(args, 1, table.maxn(args))))
    end

    function methods.eval(self, text, args)
        check_remote(self, 'eval')
        check_eval_arguments(args)
        args = args or {}
        if type(text) ~= 'string' then
            box.error(box.error.PROC_LUA, 'Lua code should be a string')
        end
        local func, err = loadstring('return ' .. text, '=eval')
        if func == nil then
            func, err = loadstring(text, '=eval')
        end
        if func == nil then
            box.error(box.error.PROC_LUA, err)
        end
        return results(pcall(func, unpack(args, 1, table.maxn(args))))
    end

    return setmetatable(methods, {__index = function(_, name)
        if name == 'space' then
            return box.space
        end
        return nil
    end})
end
