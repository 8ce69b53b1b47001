-- SPDX-License-Identifier: BSD-2-Clause
--
-- The module `net.box`: connections to other servers as objects. Manual: module net.box.
--
-- A connection is a table whose fields users read (state, error, schema_version, ...); they
-- are kept by the fiber that leads it (net_box_worker.lua), through hooks that hold it weakly.
local core = require('tarn.netbox')
local clock = require('clock')
local fiber = require('fiber')
local log = require('log')
local uri = require('uri')
local schema = require('internal.net_box_schema')
local worker = require('internal.net_box_worker')

local method = core.method
local request = core.request
local TIMEOUT_MAX = 500 * 365 * 86400

local netbox = {}
local remote = {}
local USAGE = 'usage: connect(uri[, opts] | host, port[, opts])'

local function fail(text)
    box.error(box.error.PROC_LUA, text)
end

local function check_remote(conn, name)
    if type(conn) ~= 'table' then
        fail(('Use remote:%s(...) instead of remote.%s(...):'):format(name, name))
    end
end

-- Triggers ------------------------------------------------------------------------------

local function is_callable(f)
    local mt = debug.getmetatable(f)
    return type(f) == 'function' or (type(mt) == 'table' and mt.__call ~= nil)
end

local function find(list, f)
    for i, g in ipairs(list) do
        if f == g then
            return i
        end
    end
    return nil
end

-- The common form of functions that set triggers: f() lists, f(new) adds, f(new, old) replaces,
-- f(nil, old) takes away.
local function set_trigger(list, name, new, old)
    if new == nil and old == nil then
        local copy = {}
        for i, f in ipairs(list) do
            copy[i] = f
        end
        return copy
    end
    if new ~= nil and not is_callable(new) or old ~= nil and not is_callable(old) then
        error(('Usage: %s(callable)'):format(name))
    end
    if old == nil then
        table.insert(list, new)
        return
    end
    local i = find(list, old)
    if i == nil then
        error(('%s: trigger is not found'):format(name))
    end
    if new == nil then
        table.remove(list, i)
    else
        list[i] = new
    end
    return old
end

local function run_triggers(list, ...)
    local copy = {}
    for i, f in ipairs(list) do
        copy[i] = f
    end
    for _, f in ipairs(copy) do
        f(...)
    end
end

-- States --------------------------------------------------------------------------------

local function is_usable(conn)
    local state = conn.state
    return state == 'active' or state == 'fetch_schema'
end

local function no_connection(conn)
    box.error{code = box.error.NO_CONNECTION, reason = conn.error or ''}
end

local function is_final(state)
    return state == 'error' or state == 'closed'
end

-- Waits until the state is the one named, or one of a table's; false at the end of time or of the
-- connection.
local function wait_state(conn, states, timeout)
    local deadline = clock.monotonic() + (timeout or TIMEOUT_MAX)
    while true do
        local state = conn.state
        if state == states or (type(states) == 'table' and states[state]) then
            return true
        end
        local left = deadline - clock.monotonic()
        if is_final(state) or left <= 0 then
            return false
        end
        conn._cond:wait(left)
    end
end

local CONNECTED = {active = true}

-- What the fiber that leads the connection tells it. `weak[1]` is the connection, or nil.
local function make_hooks(weak, cond, shared)
    local hooks = {}

    function hooks.set_state(state, err)
        local conn = weak[1]
        if conn ~= nil and conn.state ~= 'closed' then
            conn.state = state
            conn.error = err
        end
        cond:broadcast()
    end

    function hooks.greeted(greeting)
        local conn = weak[1]
        if conn ~= nil then
            conn.protocol = greeting.protocol
            conn.peer_uuid = greeting.uuid
            conn.peer_version_id = greeting.version_id
        end
    end

    function hooks.identified(id, has_names)
        local conn = weak[1]
        if conn ~= nil then
            -- Without a schema spaces are what users call them, if the server knows of names.
            conn.space = has_names and schema.by_name(conn) or nil
            conn.peer_protocol_version = id.version
            conn.peer_protocol_features = id.features
        end
    end

    function hooks.schema(version, space_rows, index_rows, collation_rows)
        local conn = weak[1]
        if conn == nil then
            return nil
        end
        conn.schema_version = version
        conn.space = schema.build(conn, space_rows, index_rows, collation_rows)
        local ok, err = pcall(run_triggers, conn._on_schema_reload, conn)
        return not ok and tostring(err) or nil
    end

    function hooks.connected()
        local conn = weak[1]
        if conn == nil then
            return nil
        end
        shared.was_connected, shared.is_leaving = true, false
        for key in pairs(conn._watched) do
            core.watch(conn._transport, key)
        end
        if conn.peer_protocol_features.watchers then
            core.watch(conn._transport, 'box.shutdown')
        end
        conn._is_connected = true
        local ok, err = pcall(run_triggers, conn._on_connect, conn)
        if not ok then
            shared.is_refused = true
            return tostring(err)
        end
        hooks.set_state('active')
        return nil
    end

    function hooks.is_refused()
        return shared.is_refused
    end

    function hooks.was_connected()
        local was = shared.was_connected
        shared.was_connected = false
        return was
    end

    -- Triggers first: to them the connection is still there.
    function hooks.lost(state, err)
        local conn = weak[1]
        if conn ~= nil then
            conn:_disconnect(state, err)
        end
    end

    function hooks.event(key, value)
        local conn = weak[1]
        if conn == nil then
            return
        elseif key == 'box.shutdown' then
            if value then
                conn:_shut_down(shared)
            end
            if not conn._watched[key] then
                core.watch(conn._transport, key)
            end
        end
        conn:_notify(key, value)
    end

    function hooks.is_leaving()
        return shared.is_leaving
    end

    -- A text console: requests are made one by one, see eval().
    function hooks.console()
        local conn = weak[1]
        if conn == nil then
            return nil
        end
        local transport = conn._leader
        conn._is_console = true
        shared.was_connected = true
        conn._is_connected = true
        local ok, err = pcall(run_triggers, conn._on_connect, conn)
        if not ok then
            shared.is_refused = true
            return tostring(err)
        end
        hooks.set_state('active')
        conn = nil -- luacheck: ignore
        local _, why = core.wait(transport, TIMEOUT_MAX)
        return why or 'Connection closed'
    end

    return hooks
end

-- Connecting ----------------------------------------------------------------------------

local function parse_uri(text)
    local parts = uri.parse(text)
    if parts == nil or parts.service == nil then
        fail(USAGE)
    end
    return parts
end

-- Parameters of a URI with their first values.
local function first_values(params)
    local out = {}
    for name, values in pairs(params or {}) do
        out[name] = type(values) == 'table' and values[1] or values
    end
    return out
end

-- (uri, opts) and (host, port, opts): host, port, opts with user and password,
-- parameters of the URI.
local function parse_arguments(a, b, c)
    local host, port, opts, params
    if type(b) == 'string' or type(b) == 'number' then
        host, port, opts = a, b, c
        if type(host) ~= 'string' and type(host) ~= 'number' then
            fail(USAGE)
        end
        opts = opts or {}
    else
        opts = b or {}
        local parts
        if type(a) == 'table' and (a.uri ~= nil or a[1] ~= nil) then
            parts = uri.parse(a)
            if parts == nil or parts.service == nil then
                fail(USAGE)
            end
        elseif type(a) == 'string' or type(a) == 'number' then
            parts = parse_uri(tostring(a))
        else
            fail(USAGE)
        end
        host, port = parts.host, parts.service
        if parts.login ~= nil and type(opts) == 'table' and opts.user == nil then
            opts = table.copy(opts)
            opts.user, opts.password = parts.login, parts.password
        end
        params = parts.params
    end
    if type(opts) ~= 'table' then
        fail(USAGE)
    end
    return host, port, opts, first_values(params)
end

-- How to encrypt, from the parameters of the URI; nil: not.
local function tls_of(params)
    local transport = params.transport or 'plain'
    if transport ~= 'plain' and transport ~= 'ssl' then
        fail('net.box: Invalid transport: ' .. transport)
    end
    return transport == 'ssl' and params or nil
end

local function check_options(opts)
    if opts.user == nil and opts.password ~= nil then
        fail('net.box: user is not defined')
    end
    for _, name in ipairs{'connect_timeout', 'reconnect_after', 'required_protocol_version'} do
        if opts[name] ~= nil and type(opts[name]) ~= 'number' then
            fail(("net.box: the option '%s' is no number"):format(name))
        end
    end
    local features = opts.required_protocol_features
    if features ~= nil and type(features) ~= 'table' then
        fail("net.box: the option 'required_protocol_features' is no table")
    end
end

local function serialize(conn)
    local opts = conn.opts
    return {
        host = conn.host, port = conn.port, opts = next(opts) ~= nil and opts or nil,
        state = conn.state, error = conn.error, protocol = conn.protocol,
        schema_version = conn.schema_version, peer_uuid = conn.peer_uuid,
        peer_version_id = conn.peer_version_id,
    }
end

local connection_mt = {__index = remote, __serialize = serialize, __metatable = false}

local function new_connection(host, port, opts, params)
    local transport, leader = core.new()
    local conn = setmetatable({
        host = host, port = port, opts = opts, state = 'initial', _is_connected = false,
        _transport = transport, _leader = leader, _cond = fiber.cond(), _deadlines = {},
        _on_connect = {}, _on_disconnect = {}, _on_schema_reload = {}, _on_shutdown = {},
        _watched = {}, _events = {}, _last_stream_id = 0,
    }, connection_mt)
    local hooks = make_hooks(setmetatable({conn}, {__mode = 'v'}), conn._cond, {})
    local service = tostring(port)
    worker.start(leader, {
        host = host ~= nil and tostring(host) or nil, service = service,
        name = host == 'unix/' and 'unix/:' .. service or (host or '') .. ':' .. service,
        user = opts.user, password = opts.password, connect_timeout = opts.connect_timeout,
        reconnect_after = opts.reconnect_after, fetch_schema = opts.fetch_schema,
        required_protocol_version = opts.required_protocol_version,
        required_protocol_features = opts.required_protocol_features,
        auth_type = opts.auth_type or params.auth_type, tls = tls_of(params), console = opts.console,
    }, hooks)
    return conn
end

function netbox.connect(...)
    local host, port, opts, params = parse_arguments(...)
    check_options(opts)
    if opts.console then
        log.warn("Netbox console API is deprecated since 1.10, please use " ..
                 "require('console').connect() instead")
    end
    local conn = new_connection(host, port, opts, params)
    local wait = opts.wait_connected
    if wait ~= false then
        local ok, err = pcall(wait_state, conn, CONNECTED, tonumber(wait))
        if not ok then
            -- The fiber was cancelled, and nobody else has the connection.
            conn:close()
            error(err, 0)
        end
    end
    return conn
end

netbox.new = netbox.connect

-- Requests ------------------------------------------------------------------------------

-- The seconds that a request may take, as its options or c:timeout() have it; nil: any.
local function timeout_of(conn, opts)
    if next(conn._deadlines) ~= nil then
        local deadline = conn._deadlines[fiber.id()]
        if deadline ~= nil then
            return math.max(0, deadline - clock.monotonic())
        end
    end
    local timeout = opts and opts.timeout
    if timeout ~= nil and type(timeout) ~= 'number' then
        error(("attempt to perform arithmetic on field 'timeout' (a %s value)"):format(
            type(timeout)))
    end
    return timeout
end

-- Every request comes here: (method, options, dictionary of the names of fields, stream, values).
function remote._request(conn, what, opts, dict, stream_id, ...)
    if opts ~= nil and type(opts) ~= 'table' then
        error(("attempt to index local 'opts' (a %s value)"):format(type(opts)))
    elseif opts ~= nil and opts.is_async and opts.on_push ~= nil then
        error('To handle pushes in an async request use future:pairs()')
    end
    if type(what) == 'string' then
        what = method[what] or fail('net.box: unknown method ' .. what)
    end
    local timeout
    if opts ~= nil or next(conn._deadlines) ~= nil then
        timeout = timeout_of(conn, opts)
    end
    if conn.state ~= 'active' and conn.state ~= 'fetch_schema' then
        if opts ~= nil and opts.is_async then
            no_connection(conn)
        end
        local deadline = timeout ~= nil and clock.monotonic() + timeout
        if not wait_state(conn, CONNECTED, timeout) then
            if is_final(conn.state) or conn.error ~= nil then
                no_connection(conn)
            end
            box.error(box.error.TIMEOUT)
        end
        timeout = deadline and math.max(0, deadline - clock.monotonic()) or timeout
    end
    return request(conn._transport, what, opts, timeout, dict, stream_id, ...)
end

function remote.ping(conn, opts)
    check_remote(conn, 'ping')
    return (pcall(conn._request, conn, method.ping, opts, 0, conn._stream_id))
end

function remote.reload_schema(conn)
    check_remote(conn, 'reload_schema')
    conn:ping()
end

local function check_call_arguments(args)
    if args ~= nil and type(args) ~= 'table' then
        error('Use remote:call(func_name, {arg1, arg2, ...}, opts) instead of ' ..
              'remote:call(func_name, arg1, arg2, ...)')
    end
end

local function check_eval_arguments(args)
    if args ~= nil and type(args) ~= 'table' then
        error('Use remote:eval(expression, {arg1, arg2, ...}, opts) instead of ' ..
              'remote:eval(expression, arg1, arg2, ...)')
    end
end

function remote.call(conn, name, args, opts, ...)
    check_remote(conn, 'call')
    if conn.opts.call_16 then
        return conn:call_16(name, args, opts, ...)
    end
    check_call_arguments(args)
    return conn:_request(method.call, opts, 0, conn._stream_id, tostring(name), args or {})
end

function remote.call_16(conn, name, ...)
    check_remote(conn, 'call')
    return conn:_request(method.call_16, nil, 0, conn._stream_id, tostring(name), {...})
end

function remote.eval(conn, text, args, opts, ...)
    check_remote(conn, 'eval')
    if conn._is_console then
        return conn:_eval_console(text, args)
    elseif conn.opts.call_16 then
        return conn:eval_16(text, args, opts, ...)
    end
    check_eval_arguments(args)
    return conn:_request(method.eval, opts, 0, conn._stream_id, text == nil and '' or text,
                         args or {})
end

function remote.eval_16(conn, text, ...)
    check_remote(conn, 'eval')
    return conn:_request(method.eval, nil, 0, conn._stream_id, text, {...})
end

function remote.execute(conn, query, parameters, sql_opts, opts)
    check_remote(conn, 'execute')
    if sql_opts ~= nil then
        box.error(box.error.UNSUPPORTED, 'execute', 'options')
    end
    return conn:_request(method.execute, opts, 0, conn._stream_id, query == nil and '' or query,
                         parameters or {}, {})
end

function remote.prepare(conn, query, parameters, sql_opts, opts)
    check_remote(conn, 'prepare')
    if type(query) ~= 'string' then
        box.error{code = 210,
                  reason = 'Failed to prepare SQL statement: expected string as SQL statement'}
    end
    if sql_opts ~= nil then
        box.error(box.error.UNSUPPORTED, 'prepare', 'options')
    end
    return conn:_request(method.prepare, opts, 0, conn._stream_id, query)
end

function remote.unprepare(conn, id, parameters, sql_opts, opts)
    check_remote(conn, 'unprepare')
    if type(id) ~= 'number' then
        error('box.error(): bad arguments')
    end
    if sql_opts ~= nil then
        box.error(box.error.UNSUPPORTED, 'unprepare', 'options')
    end
    return conn:_request(method.unprepare, opts, 0, conn._stream_id, id)
end

-- A text console, one statement at a time: what the server prints, up to the end of the document.
function remote._eval_console(conn, text, timeout)
    if not conn:wait_connected(timeout) then
        no_connection(conn)
    end
    local ok, err = core.write(conn._transport, text .. '\n', timeout)
    local answer
    if ok then
        answer, err = core.read_until(conn._transport, '\n...\n', timeout)
    end
    if answer == nil then
        core.fail(conn._transport, err)
        box.error{code = box.error.NO_CONNECTION, reason = err}
    end
    return answer
end

-- The connection ---------------------------------------------------------------------------

function remote._disconnect(conn, state, err)
    if conn._is_connected then
        conn._is_connected = false -- a trigger may close it
        for _, f in ipairs(set_trigger(conn._on_disconnect)) do
            local ok, why = pcall(f, conn)
            if not ok then
                log.error('%s', tostring(why))
            end
        end
    end
    if conn.state ~= 'closed' then
        conn.state = state
        conn.error = err
    end
    conn._is_connected = false
    conn._cond:broadcast()
end

function remote.close(conn)
    check_remote(conn, 'close')
    if is_final(conn.state) then
        core.close(conn._transport)
        return
    end
    conn:_disconnect('closed', 'Connection closed')
    core.close(conn._transport)
end

function remote.is_connected(conn)
    check_remote(conn, 'is_connected')
    return is_usable(conn)
end

function remote.wait_connected(conn, timeout)
    check_remote(conn, 'wait_connected')
    if timeout ~= nil and type(timeout) ~= 'number' then
        error(("attempt to perform arithmetic on a %s value"):format(type(timeout)), 2)
    end
    return is_usable(conn) or wait_state(conn, CONNECTED, timeout)
end

local function check_timeout(timeout)
    if timeout ~= nil and type(timeout) ~= 'number' then
        error(("attempt to perform arithmetic on local 'timeout' (a %s value)"):format(
            type(timeout)), 3)
    end
end

function remote.wait_state(conn, states, timeout)
    check_remote(conn, 'wait_state')
    if type(states) ~= 'string' and type(states) ~= 'table' then
        error(("attempt to index local 'target_state' (a %s value)"):format(type(states)), 2)
    end
    check_timeout(timeout)
    return wait_state(conn, states, timeout)
end

local timeout_is_told = false

function remote.timeout(conn, timeout)
    check_remote(conn, 'timeout')
    if not timeout_is_told then
        log.warn('netbox:timeout(timeout) is deprecated since 1.7.4, please use ' ..
                 'space:<request>(..., {timeout = t}) instead.')
        timeout_is_told = true
    end
    check_timeout(timeout)
    for id in pairs(conn._deadlines) do
        if fiber.find(id) == nil then
            conn._deadlines[id] = nil
        end
    end
    conn._deadlines[fiber.id()] = timeout and clock.monotonic() + timeout
    return conn
end

function remote.on_connect(conn, new, old)
    check_remote(conn, 'on_connect')
    return set_trigger(conn._on_connect, 'on_connect', new, old)
end

function remote.on_disconnect(conn, new, old)
    check_remote(conn, 'on_disconnect')
    return set_trigger(conn._on_disconnect, 'on_disconnect', new, old)
end

function remote.on_schema_reload(conn, new, old)
    check_remote(conn, 'on_schema_reload')
    return set_trigger(conn._on_schema_reload, 'on_schema_reload', new, old)
end

function remote.on_shutdown(conn, new, old)
    check_remote(conn, 'on_shutdown')
    return set_trigger(conn._on_shutdown, 'on_shutdown', new, old)
end

-- The server is about to stop: triggers run in a fiber of their own, with the connection still
-- active; then it waits for what is under way.
function remote._shut_down(conn, shared)
    fiber.create(function()
        local ok, err = pcall(run_triggers, conn._on_shutdown, conn)
        if not ok then
            log.error('%s', tostring(err))
        end
        if is_usable(conn) then
            conn.state = 'graceful_shutdown'
            shared.is_leaving = true
            conn._cond:broadcast()
            core.touch(conn._transport)
        end
    end)
end

-- Watchers and streams -------------------------------------------------------------------

require('internal.net_box_watch')(remote, check_remote, is_usable)
require('internal.net_box_stream')(remote, check_remote, serialize, fail)

-- Itself --------------------------------------------------------------------------------

netbox.self = require('internal.net_box_self')(check_call_arguments, check_eval_arguments,
                                               check_remote, log)

-- What once was part of the interface.
function netbox.timeout(_, timeout)
    return {
        connect = function(...)
            local host, port, opts = parse_arguments(...)
            opts = table.copy(opts)
            opts.wait_connected = opts.wait_connected or timeout
            return netbox.connect(host, port, opts)
        end,
    }
end

return netbox
