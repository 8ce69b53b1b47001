-- SPDX-License-Identifier: BSD-2-Clause
--
-- Consoles over sockets: the server's side (listen) and the client's (connect), with both
-- protocols: text from another console, and the binary one, by net.box's EVAL. Manual: module
-- console.
local core = require('tarn.console')
local fiber = require('fiber')
local errno = require('errno')
local log = require('log')
local netbox_worker = require('internal.net_box_worker')
local output = require('internal.console_output')
local session = require('internal.console_session')
local socket = require('socket')
local uri = require('uri')

local remote = {}

local HELP = [[
Answers end with a line of three dots, or with a semicolon where the output is Lua.

Commands:

  \set language LANGUAGE    -- lua or sql
  \set output FORMAT        -- yaml, lua, or lua,block
  \set delimiter DELIMITER  -- a statement ends with it; nothing: with the line
  \help                     -- this text
  \quit                     -- close the connection
]]

-- The server ----------------------------------------------------------------------------

local methods = {}

-- A statement without what ends it (the delimiter and either end of a line); the last may go
-- without. nil where the other end is gone.
function methods.read(state)
    local endings = {state.delimiter .. '\n', state.delimiter .. '\r'}
    local text = state.client:read({delimiter = endings})
    if text == nil or text == '' then
        return nil
    end
    for _, ending in ipairs(endings) do
        if text:sub(-#ending) == ending then
            return text:sub(1, -#ending - 1)
        end
    end
    return text
end

function methods.eval(state, text)
    if text == nil then
        return nil
    elseif text:sub(1, 1) == '\\' then
        return session.command(state, text, HELP)
    end
    return session.eval(state, text)
end

-- Messages that could not be sent at once go first.
function methods.print(state, text)
    local ahead = table.concat(state.unsent)
    state.unsent = {}
    return state.client:write(ahead .. text) ~= nil
end

local function serve(state)
    while state.running do
        local text = state:read()
        if text == nil then
            return
        end
        local answer = state:eval(text)
        if not state.running or not state:print(answer) then
            return
        end
    end
end

-- What box.session.push() sends: as much as the socket takes now, the rest with the answer.
local function push(state, value)
    local text = output.format_push(state.output, value)
    if #state.unsent == 0 then
        local sent = state.client:send(text)
        text = text:sub((sent or 0) + 1)
    end
    if text ~= '' then
        table.insert(state.unsent, text)
    end
end

local on_start = nil

function remote.set_on_start(func)
    on_start = func
end

function remote.run_on_start(state)
    if on_start ~= nil then
        on_start(state)
    end
end

local function greeting()
    return ('%-63s\n%-63s\n'):format(('Tarantool %s (Lua console)'):format(core.compat_version),
                                     "type 'help' for interactive help")
end

local function serve_client(s)
    local state = session.new_state({fmt = 'yaml'}, methods)
    state.client, state.unsent = s, {}
    fiber.self().storage.console = state
    local ok, err = pcall(core.session_begin, s:fd(), function(value)
        push(state, value)
    end)
    if not ok then
        s:write(output.format(state.output, false, err))
        return
    end
    ok, err = pcall(function()
        remote.run_on_start(state)
        if s:write(greeting()) then
            serve(state)
        end
    end)
    core.session_end()
    if not ok then
        error(err, 0)
    end
end

function remote.listen(where)
    local host, service
    if where == nil then
        host, service = 'unix/', '/tmp/tarantool-console.sock'
    else
        local parts = (type(where) == 'string' or type(where) == 'number')
            and uri.parse(tostring(where)) or nil
        if parts == nil or parts.service == nil then
            error('Usage: console.listen("[host:]port")')
        end
        host, service = parts.host or '0.0.0.0', parts.service
    end
    local s = socket.tcp_server(host, service, {handler = serve_client, name = 'console'})
    if s == nil then
        error(('failed to create server %s:%s: %s'):format(host, service, errno.strerror()))
    end
    return s
end

-- The client ----------------------------------------------------------------------------

local function read_greeting(s, timeout)
    local text = s:read(128, timeout)
    return text ~= nil and netbox_worker.parse_greeting(text) or nil
end

-- Statements may have several lines: they end with this.
local TEXT_DELIMITER = '$EOF$'

-- An object with eval(text), which returns what the server prints, and close(). [raises]
local text_methods, binary_methods = {}, {}

-- A text console ends what it prints in YAML with "\n...\n", in Lua with its `eos`.
function text_methods.eval(c, text)
    local data
    if c.socket:write(text .. TEXT_DELIMITER .. '\n') then
        data = c.socket:read(output.eos(c.state.output))
    end
    if data == nil or data == '' then
        error('Connection is not established', 0)
    end
    return data
end

function text_methods.close(c)
    c.socket:close()
end

-- Over the binary protocol the server evaluates with its own module.
function binary_methods.eval(c, text)
    return c.connection:eval("return require('console').eval(...)", {text})
end

function binary_methods.close(c)
    c.connection:close()
end

local function connect_text(s, state)
    if not s:write(('require("console").delimiter("%s")\n'):format(TEXT_DELIMITER)) or
       not s:read(output.eos({fmt = 'yaml'})) then
        s:close()
        box.error{code = box.error.NO_CONNECTION, reason = 'Peer closed'}
    end
    state.output = {fmt = 'yaml'}
    return setmetatable({socket = s, state = state}, {__index = text_methods})
end

local function connect_binary(parts, opts)
    local netbox = require('net.box')
    local c = netbox.connect(parts.host, parts.service, {
        user = opts.user or parts.login, password = opts.password or parts.password,
        connect_timeout = opts.timeout, fetch_schema = false,
    })
    if not c:is_connected() then
        local err = c.error
        c:close()
        error(err, 0)
    end
    return setmetatable({connection = c}, {__index = binary_methods})
end

-- Connects and makes the state's console evaluate there.
function remote.connect(state, where, opts)
    opts = opts or {}
    if state == nil then
        error('console.connect() need existing console')
    end
    local parts = (type(where) == 'string' or type(where) == 'number')
        and uri.parse(tostring(where)) or nil
    if parts == nil or parts.service == nil then
        error('Usage: console.connect("[login:password@][host:]port")')
    end
    local s, err = socket.tcp_connect(parts.host or '127.0.0.1', parts.service, opts.timeout)
    if s == nil then
        log.warn('connection is not established: %s', err)
        box.error(box.error.NO_CONNECTION)
    end
    local greeting_found = read_greeting(s, opts.timeout)
    if greeting_found == nil then
        s:close()
        box.error{code = box.error.NO_CONNECTION, reason = "Can't decode handshake"}
    end
    local connection
    if greeting_found.protocol == 'Lua console' then
        connection = connect_text(s, state)
    else
        s:close()
        connection = connect_binary(parts, opts)
        connection:eval('')
    end
    local shown = parts.host == 'unix/' and 'unix/:' .. parts.service
        or ('%s:%s'):format(parts.host or '127.0.0.1', parts.service)
    log.info('connected to %s', shown)
    state.remote = connection
    state.prompt = shown
    return true
end

return remote
