-- SPDX-License-Identifier: BSD-2-Clause
-- box.session: the functions of session.c, box.session.storage and
-- box.session.settings. Usable before box.cfg{}.
local c = require('tarn.session')
local box = require('box')

local session = {}
for name, f in pairs(c) do
    session[name] = f
end
session.storage, session.marshal_errors = nil, nil

local MARSHALING = 'error_marshaling_enabled'

-- The settings of a session are rows of _session_settings, of which this one can be changed.
session.settings = setmetatable({}, {
    __index = function(_, name)
        if name == MARSHALING then
            return c.marshal_errors()
        end
        local row = box.space._session_settings:get{name}
        if row == nil then
            box.error(box.error.PROC_LUA, ("Session setting %s doesn't exist"):format(name))
        end
        return row[2]
    end,
    __newindex = function(_, name, value)
        if name == MARSHALING then
            if type(value) ~= 'boolean' then
                box.error(box.error.SESSION_SETTING_INVALID_VALUE, name, 'boolean')
            end
            c.marshal_errors(value)
            return
        end
        if box.space._session_settings:update(name, {{'=', 'value', value}}) == nil then
            box.error(box.error.PROC_LUA, ("Session setting %s doesn't exist"):format(name))
        end
    end,
    __serialize = function()
        local out = {}
        if rawget(box, 'space') == nil then
            return out
        end
        for _, row in box.space._session_settings:pairs() do
            out[row[1]] = row[2]
        end
        out[MARSHALING] = c.marshal_errors()
        return out
    end,
})

box.session = setmetatable(session, {
    __index = function(_, name)
        if name == 'storage' then
            return c.storage()
        end
    end,
    __newindex = function(self, name, value)
        if name == 'storage' then
            error("box.session.storage is a table: set its fields", 2)
        end
        rawset(self, name, value)
    end,
})

return session
