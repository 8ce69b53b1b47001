-- SPDX-License-Identifier: BSD-2-Clause
-- Puts a watched function in front of every C function that is reached by ffi.C. Of calls in
-- loops not all are watched, so that tests with millions of calls end soon.
local c = require('tarn.ffi_check')
local ffi = require('ffi')
local C = ffi.C
local watched = {}

-- So many calls of a function are all watched, and of those behind them one of so many.
local ALL, ONE_OF = 5000, 37

local function watch(name, f)
    local count = 0
    return function(...)
        count = count + 1
        if count > ALL and count % ONE_OF ~= 0 then
            return f(...)
        end
        c.enter(name)
        -- It raises where its arguments can't be made of what was passed.
        local ok, result = pcall(f, ...)
        c.leave()
        if not ok then
            error(result, 0)
        end
        return result
    end
end

local function is_function(value)
    return type(value) == 'cdata' and tostring(ffi.typeof(value)):find('(', 1, true) ~= nil
end

local proxy = setmetatable({}, {
    __index = function(_, name)
        local found = watched[name]
        if found == nil then
            found = C[name]
            if not is_function(found) then
                return found
            end
            found = watch(name, found)
            watched[name] = found
        end
        return found
    end,
    __newindex = function(_, name, value) C[name] = value end,
})

package.loaded.ffi = setmetatable({C = proxy}, {__index = ffi})
