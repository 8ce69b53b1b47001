-- SPDX-License-Identifier: BSD-2-Clause
--
-- The fiber that leads a connection of net.box through its states:
--
--     initial -> auth -> fetch_schema -> active -> fetch_schema -> active ...
--
-- and from any of them to error, or to error_reconnect and back, or to closed. It knows the
-- connection object through hooks only, and those hold it weakly: an object that nobody uses
-- any more closes its transport, which ends the fiber.
local core = require('tarn.netbox')
local clock = require('clock')
local fiber = require('fiber')
local log = require('log')
local schema = require('internal.net_box_schema')

local method = core.method

local worker = {}

local GREETING_SIZE, LINE_SIZE = 128, 64
local TIMEOUT_MAX = 500 * 365 * 86400
-- As in the reference.
local CONNECT_TIMEOUT = 10
local ITERATOR_ALL, LIMIT_MAX = 2, 0xFFFFFFFF
local VCOLLATION = 277
local ASYNC = {is_async = true}

-- What a server says of itself, by its name there. Source: the manual, IPROTO_FEATURES.
local FEATURES = {
    [0] = 'streams', 'transactions', 'error_extension', 'watchers', 'pagination',
    'space_and_index_names', 'watch_once', 'dml_tuple_extension', 'call_ret_tuple_extension',
    'call_arg_tuple_extension', 'fetch_snapshot_cursor', 'is_sync', 'insert_arrow',
}
worker.FEATURES = FEATURES

-- Version, protocol, UUID and salt; nil where it is no greeting.
function worker.parse_greeting(text)
    local line, rest = text:sub(1, LINE_SIZE), text:sub(LINE_SIZE + 1)
    local major, minor, patch, protocol, uuid =
        line:match('^Tarantool (%d+)%.(%d+)%.(%d+)[^ ]* %(([^)]*)%) ?([%x-]*)%s*\n$')
    if major == nil or rest:sub(-1) ~= '\n' then
        return nil
    end
    return {
        version_id = tonumber(major) * 65536 + tonumber(minor) * 256 + tonumber(patch),
        protocol = protocol,
        uuid = #uuid == 36 and uuid or nil,
        salt = rest:match('^([%w+/=]*)') or '',
    }
end

-- Requests that the connection itself makes: the result, or nil and a text.
local function ask(transport, what, ...)
    local sent, future = pcall(core.request, transport, what, ASYNC, nil, 0, nil, ...)
    if not sent then
        return nil, tostring(future)
    end
    local result, err = future:wait_result()
    if err ~= nil then
        return nil, tostring(err)
    end
    return result or {}
end

local function check_id(id, opts)
    local wanted = opts.required_protocol_version
    if wanted ~= nil and (id.version or 0) < wanted then
        return ('Protocol version (%d) < required (%d)'):format(id.version or 0, wanted)
    end
    local missing = {}
    for _, name in ipairs(opts.required_protocol_features or {}) do
        if not id.features[name] then
            missing[#missing + 1] = name
        end
    end
    if #missing > 0 then
        return ('Protocol features missing: %s'):format(table.concat(missing, ', '))
    end
    return nil
end

-- Asks for version and features. A server that does not know the request has none.
local function identify(transport, opts, hooks)
    local answer = ask(transport, method.id, opts.fetch_schema == false)
    local id = {version = 0, features = {}}
    for _, name in pairs(FEATURES) do
        id.features[name] = false
    end
    if answer ~= nil then
        id.version = tonumber(answer.version) or 0
        id.auth_type = answer.auth_type
        for _, number in ipairs(type(answer.features) == 'table' and answer.features or {}) do
            if FEATURES[number] ~= nil then
                id.features[FEATURES[number]] = true
            end
        end
    end
    local features = id.features
    core.set_tuples(transport, features.call_arg_tuple_extension,
                    features.call_ret_tuple_extension or features.dml_tuple_extension)
    hooks.identified(id, opts.fetch_schema == false and features.space_and_index_names)
    return check_id(id, opts), id
end

local function authenticate(transport, greeting, opts, id)
    local auth_type = opts.auth_type or id.auth_type or 'chap-sha1'
    local answer
    if auth_type == 'chap-sha1' then
        answer = core.scramble(opts.password or '', greeting.salt)
        if answer == nil then
            return 'Invalid salt in the greeting'
        end
    elseif auth_type == 'pap-sha256' then
        -- Whoever can answer to ID could otherwise ask for the password, and all on the way see it.
        if opts.tls == nil and opts.host ~= 'unix/' then
            return 'pap-sha256 sends the password as it is, so it needs TLS (transport=ssl)'
        end
        answer = opts.password or ''
    else
        return ("Unknown authentication method '%s'"):format(tostring(auth_type))
    end
    local _, err = ask(transport, method.auth, opts.user, auth_type, answer)
    return err
end

local function ask_rows(transport, space_id)
    return core.request(transport, method.select_raw, ASYNC, nil, 0, nil, space_id, 0,
                        ITERATOR_ALL, 0, LIMIT_MAX)
end

-- The views are read in one go; where the schema changes between them, again.
local function fetch_schema(transport, hooks)
    while true do
        local sent, spaces, indexes, collations = pcall(function()
            return ask_rows(transport, schema.VSPACE), ask_rows(transport, schema.VINDEX),
                   ask_rows(transport, VCOLLATION)
        end)
        if not sent then
            return tostring(spaces)
        end
        local space_rows, err = spaces:wait_result()
        if err ~= nil then
            return tostring(err)
        end
        local index_rows
        index_rows, err = indexes:wait_result()
        if err ~= nil then
            return tostring(err)
        end
        -- Servers of before 2.2 have no such view.
        local collation_rows = collations:wait_result() or {}
        local version = core.schema_version(spaces)
        if version == core.schema_version(indexes) then
            core.set_schema_version(transport, version)
            return hooks.schema(version, space_rows or {}, index_rows or {}, collation_rows)
        end
    end
end

local function open(transport, opts, hooks)
    local timeout = opts.connect_timeout or CONNECT_TIMEOUT
    local deadline = clock.monotonic() + timeout
    local ok, err = core.connect(transport, opts.host, opts.service, timeout)
    if ok and opts.tls ~= nil then
        ok, err = core.start_tls(transport, opts.tls)
    end
    if not ok then
        return nil, err
    end
    local text
    text, err = core.read(transport, GREETING_SIZE, deadline - clock.monotonic())
    if text == nil then
        return nil, err
    end
    local greeting = worker.parse_greeting(text)
    if greeting == nil then
        return nil, "Can't decode handshake"
    end
    return greeting
end
worker.open = open

-- From the greeting to the active state; what went wrong, or nil.
local function log_in(transport, greeting, opts, hooks)
    core.start(transport)
    local err, id = identify(transport, opts, hooks)
    if err ~= nil then
        return err
    end
    if opts.user ~= nil then
        hooks.set_state('auth')
        err = authenticate(transport, greeting, opts, id)
        if err ~= nil then
            return err
        end
    end
    if opts.fetch_schema ~= false then
        hooks.set_state('fetch_schema')
        err = fetch_schema(transport, hooks)
        if err ~= nil then
            return err
        end
    end
    return hooks.connected()
end

local function take_events(transport, hooks)
    while true do
        local key, value = core.next_event(transport)
        if key == nil then
            return
        end
        hooks.event(key, value)
    end
end

-- Serves the connection while it lasts; returns why it ended.
local function serve(transport, hooks)
    local is_leaving = false
    while true do
        local what, why = core.wait(transport, TIMEOUT_MAX, is_leaving)
        if what == 'closed' then
            return 'Connection closed'
        elseif what == 'failed' then
            return why
        elseif what == 'event' then
            take_events(transport, hooks)
            is_leaving = is_leaving or hooks.is_leaving()
        elseif what == 'idle' then
            return 'Peer closed'
        elseif what == 'schema' then
            hooks.set_state('fetch_schema')
            why = fetch_schema(transport, hooks)
            if why ~= nil then
                return why
            end
            if not is_leaving then
                hooks.set_state('active')
            end
        end
    end
end

-- One life of the connection: why it ended, and whether another attempt makes no sense.
local function run_once(transport, opts, hooks)
    local greeting, err = open(transport, opts, hooks)
    if greeting == nil then
        return err
    end
    hooks.greeted(greeting)
    if greeting.protocol == 'Lua console' and opts.console then
        return hooks.console()
    elseif greeting.protocol ~= 'Binary' then
        return 'Unsupported protocol: ' .. greeting.protocol
    end
    err = log_in(transport, greeting, opts, hooks)
    if err ~= nil then
        return err, not opts.is_lasting
    end
    return serve(transport, hooks)
end

-- Whatever goes wrong in between is an error of the connection.
function worker.run(transport, opts, hooks)
    local is_told = false
    while not core.is_closed(transport) do
        local ok, err = pcall(run_once, transport, opts, hooks)
        if core.is_closed(transport) then
            break
        end
        err = tostring(err or 'unknown error')
        local again = ok and opts.reconnect_after and not hooks.is_refused()
        hooks.lost(again and 'error_reconnect' or 'error', err)
        core.fail(transport, err)
        if not again then
            return
        end
        if not is_told then
            log.warn('%s: %s', opts.name, err)
            is_told = true
        end
        if not core.sleep(transport, opts.reconnect_after) then
            break
        end
        if hooks.was_connected() then
            is_told = false
        end
    end
end

function worker.start(transport, opts, hooks)
    local f = fiber.create(function()
        fiber.name(opts.name .. ' (net.box)', {truncate = true})
        worker.run(transport, opts, hooks)
    end)
    return f
end

return worker
