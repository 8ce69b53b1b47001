-- SPDX-License-Identifier: BSD-2-Clause
-- box.ctl, box.once and what tools of the reference look for in box.internal.
local fiber = require('fiber')
local ctl = require('tarn.ctl')
local space = require('tarn.space')
local info = require('tarn.info')
local api = require('tarn.box.api')
local box = require('box')

local M = {}

-- Broadcast when read-only mode was switched on or off.
local ro_changed = fiber.cond()

function M.read_only_changed()
    ro_changed:broadcast()
end

-- Waits until read-only mode is as wanted.
local function wait(wanted, timeout)
    if timeout ~= nil and type(timeout) ~= 'number' then
        error(("bad argument #1 to '?' (number expected, got %s)"):format(type(timeout)), 0)
    end
    local deadline = fiber.clock() + (timeout or 500 * 365 * 86400)
    while info.is_read_only() ~= wanted do
        local left = deadline - fiber.clock()
        if left <= 0 then
            ctl.timed_out()
        end
        ro_changed:wait(left)
        fiber.testcancel()
    end
end

local is_started = false

function M.started()
    is_started = true
end

local function set_on_shutdown_timeout(timeout)
    if type(timeout) ~= 'number' or not (timeout >= 0) then
        box.error(box.error.ILLEGAL_PARAMS,
                  'on_shutdown timeout should be a number and not negative')
    end
    ctl.set_shutdown_timeout(timeout)
end

box.ctl = {
    wait_ro = function(timeout) wait(true, timeout) end,
    wait_rw = function(timeout) wait(false, timeout) end,
    on_shutdown = ctl.on_shutdown,
    on_schema_init = ctl.on_schema_init,
    on_recovery_state = ctl.on_recovery_state,
    set_on_shutdown_timeout = set_on_shutdown_timeout,
    is_recovery_finished = function() return is_started end,
    -- There are no other instances whose answers a commit could wait for.
    clear_synchro_queue = function() end,
}

-- Runs a function once in the life of the data: a row of _schema remembers it.
function api.once(key, func, ...)
    if type(key) ~= 'string' or type(func) ~= 'function' then
        box.error(box.error.ILLEGAL_PARAMS, 'Usage: box.once(key, func, ...)')
    end
    key = 'once' .. key
    if box.space._schema:get{key} ~= nil then
        return
    end
    box.space._schema:put{key}
    return func(...)
end

box.internal = box.internal or {}
box.internal.schema_version = space.version

return M
