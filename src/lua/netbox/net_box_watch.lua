-- SPDX-License-Identifier: BSD-2-Clause
--
-- Watchers of net.box: functions that are called for the events of a key of another server.
-- They outlive reconnects. Manual: net.box, conn:watch(); the protocol: "Watchers".
local core = require('tarn.netbox')
local fiber = require('fiber')
local log = require('log')

local method = core.method

-- Adds watch(), watch_once() and _notify() to the methods of connections.
return function(remote, check_remote, is_usable)

local watcher_methods = {}
local watcher_mt = {__index = watcher_methods, __metatable = false}

local function check_watcher(watcher)
    if type(watcher) ~= 'table' or watcher._conn == nil then
        error('Usage: watcher:unregister()', 3)
    end
end

function watcher_methods.unregister(watcher)
    check_watcher(watcher)
    local list = watcher._conn._watched[watcher._key]
    if watcher._is_gone then
        box.error(box.error.ILLEGAL_PARAMS, 'Watcher is already unregistered')
    end
    watcher._is_gone = true
    if list == nil then
        return
    end
    list[watcher] = nil
    if next(list) == nil then
        watcher._conn._watched[watcher._key] = nil
        watcher._conn._events[watcher._key] = nil
        if watcher._key ~= 'box.shutdown' then
            core.unwatch(watcher._conn._transport, watcher._key)
        end
    end
end

-- A watcher runs in a fiber of its own, one at a time; what comes meanwhile is taken at its end,
-- the newest value only. The last to end tells the server that another event may come.
local function run_watcher(watcher, key, done)
    watcher._is_running = true
    fiber.create(function()
        while watcher._has_value and not watcher._is_gone do
            watcher._has_value = false
            local ok, err = pcall(watcher._func, key, watcher._value)
            if not ok then
                log.error('%s', tostring(err))
            end
        end
        watcher._is_running = false
        done()
    end)
end

function remote.watch(conn, key, func)
    check_remote(conn, 'watch')
    if type(key) ~= 'string' then
        box.error(box.error.ILLEGAL_PARAMS, 'key must be a string')
    elseif type(func) ~= 'function' then
        box.error(box.error.ILLEGAL_PARAMS, 'func must be a function')
    end
    if is_usable(conn) and not conn.peer_protocol_features.watchers then
        box.error(box.error.UNSUPPORTED, 'Remote server', 'watchers')
    end
    local watcher = setmetatable({_conn = conn, _key = key, _func = func, _version = 0}, watcher_mt)
    local list = conn._watched[key]
    if list == nil then
        list = {}
        conn._watched[key] = list
    end
    list[watcher] = true
    local event = conn._events[key]
    if event ~= nil then
        -- The server told the others already, and does not tell again.
        watcher._value, watcher._has_value = event.value, true
        run_watcher(watcher, key, function() end)
    elseif is_usable(conn) then
        core.watch(conn._transport, key)
    end
    return watcher
end

function remote.watch_once(conn, key, opts)
    check_remote(conn, 'watch_once')
    if type(key) ~= 'string' then
        box.error(box.error.ILLEGAL_PARAMS, 'key must be a string')
    end
    return conn:_request(method.watch_once, opts, 0, nil, key)
end

function remote._notify(conn, key, value)
    local list = conn._watched[key]
    if list == nil then
        return
    end
    conn._events[key] = {value = value}
    local running = 1
    local function done()
        running = running - 1
        if running == 0 and conn._watched[key] ~= nil and is_usable(conn) then
            core.watch(conn._transport, key)
        end
    end
    local watchers = {}
    for watcher in pairs(list) do
        table.insert(watchers, watcher)
    end
    for _, watcher in ipairs(watchers) do
        watcher._value, watcher._has_value = value, true
        if not watcher._is_running then
            running = running + 1
            run_watcher(watcher, key, done)
        end
    end
    done()
end

end
