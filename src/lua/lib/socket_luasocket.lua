-- SPDX-License-Identifier: BSD-2-Clause
--
-- The interface of LuaSocket over the module `socket`, for programs written for that. Source:
-- LuaSocket's reference manual, and what the reference does of it.
local core = require('tarn.socket')
local clock = require('clock')
local errno = require('errno')
local object = require('internal.socket_object')

local TIMEOUT_MAX = 500 * 365 * 86400
local check, create, methods = object.check, object.create, object.methods
local serialize, LIMIT_MAX = object.serialize, object.LIMIT_MAX

-- What the module `socket` lends: itself, bind_to(), and the errors behind which accepting goes on.
local socket, bind_to, TRANSIENT

-- Objects of LuaSocket are of three kinds: a master becomes a server by listen(), or a client
-- by connect().
local master, server, client = {}, {}, {}
local master_mt, server_mt, client_mt

local function failure(s)
    return nil, errno.strerror(s._errno)
end

local function result(s, ok)
    if ok then
        return 1
    end
    return failure(s)
end

-- "tcp-nodelay" is TCP_NODELAY, "reuseaddr" is SO_REUSEADDR.
local function option_of(name)
    if type(name) ~= 'string' then
        return
    end
    local level, option = 'SOL_SOCKET', 'SO_' .. name:upper()
    if name:sub(1, 4) == 'tcp-' then
        level, option = 'tcp', 'TCP_' .. name:sub(5):upper()
    end
    local list = core.SO_OPT[level == 'tcp' and core.protocols.tcp or core.SOL_SOCKET]
    return level, list[option] and option
end

for _, list in ipairs{master, server, client} do
    function list.close(s)
        return result(s, methods.close(s))
    end

    function list.settimeout(s, value)
        check(s)
        s.timeout = value
        return 1
    end

    function list.setoption(s, name, value)
        check(s)
        if name == 'linger' then
            if type(value) ~= 'table' then
                value = {on = value}
            end
            return result(s, methods.linger(s, value.on, value.timeout) ~= nil)
        end
        local level, option = option_of(name)
        if option == nil then
            error('Unknown socket option name: ' .. tostring(name))
        end
        return result(s, methods.setsockopt(s, level, option, value))
    end

    local function show(s, get)
        local a = get(s)
        if a == nil then
            return failure(s)
        end
        local family = a.family == 'AF_INET' and 'inet' or a.family == 'AF_INET6' and 'inet6'
            or 'unix'
        return a.host, tostring(a.port), family
    end

    function list.getsockname(s)
        return show(s, methods.name)
    end

    function list.getpeername(s)
        return show(s, methods.peer)
    end
end

function master.bind(s, host, port)
    check(s)
    local list = socket.getaddrinfo(host, port, s.timeout, {
        family = 'AF_INET', type = 'SOCK_STREAM', flags = 'AI_PASSIVE',
    })
    for _, a in ipairs(list or {}) do
        if methods.bind(s, a.host, a.port) then
            return 1
        end
    end
    return list ~= nil and failure(s) or nil, errno.strerror()
end

function master.listen(s, backlog)
    if not methods.listen(s, backlog) then
        return failure(s)
    end
    setmetatable(s, server_mt)
    return 1
end

local function wait_connect(s, a, deadline)
    if methods.sysconnect(s, a.host, a.port) then
        return true
    elseif s._errno ~= errno.EINPROGRESS and s._errno ~= errno.EAGAIN then
        return false
    end
    if not methods.writable(s, math.max(0, deadline - clock.monotonic())) then
        return false
    end
    s._errno = methods.getsockopt(s, 'SOL_SOCKET', 'SO_ERROR')
    return s._errno == 0
end

function master.connect(s, host, port)
    check(s)
    local deadline = clock.monotonic() + (s.timeout or TIMEOUT_MAX)
    local list, err = socket.getaddrinfo(host, port, s.timeout, {
        family = 'AF_INET', type = 'SOCK_STREAM',
    })
    if list == nil then
        return nil, err
    end
    for _, a in ipairs(list) do
        if wait_connect(s, a, deadline) then
            setmetatable(s, client_mt)
            return 1
        end
    end
    return failure(s)
end

function master.send(s)
    check(s)
    return nil, 'Transport endpoint is not connected'
end

master.receive = master.send

function server.accept(s)
    local deadline = clock.monotonic() + (s.timeout or TIMEOUT_MAX)
    while true do
        local accepted = methods.accept(s)
        if accepted ~= nil then
            return setmetatable(accepted, client_mt)
        end
        if not TRANSIENT[s._errno] then
            return failure(s)
        end
        if not methods.readable(s, math.max(0, deadline - clock.monotonic())) then
            return failure(s)
        end
    end
end

function client.shutdown(s, how)
    return result(s, methods.shutdown(s, ({receive = 'R', send = 'W', both = 'RW'})[how]
                                         or how == nil and 'RW' or how))
end

function client.send(s, data, from, to)
    check(s)
    if type(data) == 'number' then
        data = tostring(data)
    elseif type(data) ~= 'string' then
        error(data == nil and "attempt to get length of local 'octets' (a nil value)" or
              ("cannot convert '%s' to 'const char *'"):format(type(data)))
    end
    from, to = from or 1, to or #data
    if from < 0 then
        from = math.max(#data + from + 1, 1)
    end
    local part = data:sub(from, to)
    if methods.write(s, part, s.timeout) == nil then
        return failure(s)
    end
    return from + #part - 1
end

local RECEIVE_USAGE = 'Usage: socket:receive(pattern, [, prefix])'

local function receive_line(s, prefix)
    local line = methods.read(s, '\n', s.timeout)
    if line == nil then
        return failure(s)
    elseif line:sub(-1) ~= '\n' then
        return nil, 'closed', prefix .. line
    end
    -- The reference leaves a carriage return to the program.
    return prefix .. line:sub(1, -2)
end

function client.receive(s, pattern, prefix)
    check(s)
    prefix = prefix or ''
    pattern = pattern or '*l'
    if type(pattern) == 'number' then
        local data = methods.read(s, pattern, s.timeout)
        if data == nil then
            return failure(s)
        elseif #data < pattern then
            return nil, 'closed', prefix .. data
        end
        return prefix .. data
    elseif pattern == '*l' or pattern == 'l' then
        return receive_line(s, prefix)
    elseif pattern == '*a' or pattern == 'a' then
        local data = methods.read(s, LIMIT_MAX, s.timeout)
        if data == nil then
            return failure(s)
        elseif data == '' then
            return nil, 'closed', prefix
        end
        return prefix .. data
    end
    error(RECEIVE_USAGE)
end

local function luasocket_mt(kind, index)
    return {
        __index = index, __serialize = serialize,
        __tostring = function(s)
            return ('tcp{%s}: fd=%d'):format(kind, core.fd(check(s)))
        end,
    }
end

master_mt = luasocket_mt('master', master)
server_mt = luasocket_mt('server', server)
client_mt = luasocket_mt('client', client)

local luasocket = {}

function luasocket.tcp()
    local s = create('AF_INET', 'SOCK_STREAM', 'tcp')
    if s == nil then
        return nil, errno.strerror()
    end
    return setmetatable(s, master_mt)
end

function luasocket.connect(host, port)
    if host == nil or port == nil then
        error('Usage: luasocket.connect(host, port)')
    end
    local s, err = socket.tcp_connect(host, port)
    if s == nil then
        return nil, err
    end
    return setmetatable(s, client_mt)
end

function luasocket.bind(host, port, backlog)
    if host == nil or port == nil then
        error('Usage: luasocket.bind(host, port [, backlog])')
    end
    local s, err = bind_to({family = 'AF_INET', type = 'SOCK_STREAM', protocol = 'tcp',
                            host = host == 'localhost' and '127.0.0.1' or
                                   host == '*' and '0.0.0.0' or host, port = port},
                           function() return backlog end)
    if s == nil then
        return nil, errno.strerror(err)
    end
    return setmetatable(s, server_mt)
end

return function(...)
    socket, bind_to, TRANSIENT = ...
    return luasocket
end
