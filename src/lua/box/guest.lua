-- SPDX-License-Identifier: BSD-2-Clause
-- A warning in the log where a guest with rights can be reached from other machines.
local util = require('tarn.box.util')
local box = require('box')

local M = {}

local GUEST, PUBLIC, SESSION_AND_USAGE = 0, 2, 24

-- The first address beyond this machine that the server listens on.
local function open_address()
    for _, address in ipairs(require('tarn.info').listen()) do
        if not (address:find('^127%.') or address:find('^%[::1%]') or address:find('^unix/')) then
            return address
        end
    end
end

local function has_rights()
    for _, row in box.space._priv:pairs{GUEST} do
        local is_public = row[3] == 'role' and row[4] == PUBLIC
        local is_login = row[3] == 'universe' and
                         bit.band(row[5], bit.bnot(SESSION_AND_USAGE)) == 0
        if not is_public and not is_login then
            return true
        end
    end
    return false
end

-- Looks at where the server listens and at what the guest may do.
function M.check()
    local address = open_address()
    local cfg = rawget(box, 'cfg')
    if not address or type(cfg) == 'table' and cfg.disable_guest or rawget(box, 'space') == nil then
        return
    end
    if util.as_admin(has_rights) then
        require('log').warn('the server listens on %s, and whoever reaches it has the rights of ' ..
                            "'guest', who was granted more than to log in: revoke them with " ..
                            "box.schema.user.revoke('guest', ...), or set " ..
                            'box.cfg{disable_guest = true}, or listen on 127.0.0.1', address)
    end
end

return M
