-- SPDX-License-Identifier: BSD-2-Clause
-- How a fiber object finds its methods. In Lua, so that LuaJIT compiles it with the
-- code that calls them; fiber.c makes the metatable.

-- The __index of fiber objects.
return function(methods, storage_of)
    return function(self, key)
        local method = methods[key]
        if method == nil and key == 'storage' then
            return storage_of(self) -- a tail call: errors name the script's line
        end
        return method
    end
end
