-- SPDX-License-Identifier: BSD-2-Clause
--
-- The module `socket`: names, connections and servers over TCP and Unix sockets. The objects are
-- in socket_object.lua, the interface of LuaSocket in socket_luasocket.lua. Manual: module socket.
local core = require('tarn.socket')
local clock = require('clock')
local errno = require('errno')
local fiber = require('fiber')
local fio = require('fio')
local log = require('log')
local object = require('internal.socket_object')

local TIMEOUT_MAX = 500 * 365 * 86400
local constant, protocol_of, create, wrap = object.constant, object.protocol_of, object.create,
                                            object.wrap

local socket = {}

-- Descriptors ---------------------------------------------------------------------------

local NAMES = object.EVENT_NAMES
local EVENTS = {R = 1, W = 2, RW = 3, WR = 3, r = 1, w = 2, rw = 3, wr = 3}
local IOWAIT_USAGE = "Usage: iowait(fd, 1 | 'r' | 2 | 'w' | 3 | 'rw' [, timeout])"

-- For any descriptor. The answer has the form of the question: a text or a number.
function socket.iowait(fd, events, timeout)
    if timeout ~= nil and type(timeout) ~= 'number' then
        error(("bad argument #3 to '?' (number expected, got %s)"):format(type(timeout)), 0)
    end
    if fd == nil then
        if events ~= nil or timeout == nil then
            error(IOWAIT_USAGE, 0)
        end
        core.iowait(nil, 0, timeout)
        return
    end
    local number = type(events) == 'number' and events or EVENTS[events]
    if type(fd) == 'number' and fd < 0 or number == nil or number < 1 or number > 3 then
        error(IOWAIT_USAGE, 0)
    end
    local ready = core.iowait(fd, number, timeout) or 0
    return type(events) == 'string' and NAMES[ready] or ready
end

-- Names ---------------------------------------------------------------------------------

local function hints_of(opts)
    local hints = {}
    if opts.type ~= nil then
        hints.type = constant(core.SO_TYPE, opts.type)
        if hints.type == nil then
            return nil
        end
    end
    if opts.family ~= nil then
        hints.family = constant(core.DOMAIN, opts.family)
        if hints.family == nil then
            return nil
        end
    end
    if opts.protocol ~= nil then
        hints.protocol = protocol_of(opts.protocol)
        if hints.protocol == nil then
            return nil
        end
    end
    local flags = opts.flags
    if flags ~= nil then
        hints.flags = 0
        for _, flag in ipairs(type(flags) == 'table' and flags or {flags}) do
            local number = constant(core.AI_FLAGS, flag)
            if number == nil then
                return nil
            end
            hints.flags = bit.bor(hints.flags, number)
        end
    end
    return hints
end

-- (host, port[, timeout][, options])
function socket.getaddrinfo(host, port, timeout, opts)
    if type(timeout) == 'table' and opts == nil then
        timeout, opts = nil, timeout
    elseif type(timeout) ~= 'number' then
        timeout = nil
    end
    local hints = hints_of(opts or {})
    if hints == nil then
        errno(errno.EINVAL)
        return nil
    end
    if port == nil and host == nil then
        port = '0'
    end
    return core.getaddrinfo(host, port ~= nil and tostring(port) or nil, timeout or TIMEOUT_MAX,
                            hints)
end

-- Connecting ----------------------------------------------------------------------------

-- One address before the deadline: the socket, or nil and the number of the error.
local function connect_to(a, deadline)
    local s = create(a.family, a.type, a.protocol)
    if s == nil then
        return nil, errno()
    end
    local handle = s._gc_socket
    if core.connect(handle, a.host, tostring(a.port)) then
        return s
    end
    local err = errno()
    if err == errno.EINPROGRESS or err == errno.EAGAIN then
        local ready, why = core.wait(handle, 2, math.max(0, deadline - clock.monotonic()))
        err = ready == 0 and why or core.getsockopt(handle, core.SOL_SOCKET,
                                                    core.SO_OPT[core.SOL_SOCKET].SO_ERROR.iname)
        if err == 0 then
            return s
        end
    end
    core.close(handle)
    return nil, err
end

function socket.tcp_connect(host, port, timeout)
    if timeout ~= nil and type(timeout) ~= 'number' then
        error(("attempt to perform arithmetic on local 'timeout' (a %s value)"):format(
              type(timeout)))
    end
    local deadline = clock.monotonic() + (timeout or TIMEOUT_MAX)
    local list, err, text
    if host == 'unix/' then
        list = {{family = 'AF_UNIX', type = 'SOCK_STREAM', protocol = 0, host = host,
                 port = tostring(port)}}
    else
        if type(host) == 'number' then
            host = tostring(host)
        end
        list, text = socket.getaddrinfo(host, port, timeout, {
            type = 'SOCK_STREAM', protocol = 'tcp',
        })
        if list == nil then
            return nil, text or errno.strerror()
        end
    end
    err = errno.EINVAL
    for _, a in ipairs(list) do
        local s
        s, err = connect_to(a, deadline)
        if s ~= nil then
            return s
        end
    end
    errno(err)
    return nil, errno.strerror(err)
end

-- Serving -------------------------------------------------------------------------------

-- A socket file that nobody listens at any more is taken over.
local function remove_stale(a)
    if a.family ~= 'AF_UNIX' then
        return false
    end
    local s = connect_to(a, clock.monotonic() + 1)
    if s ~= nil then
        s:close()
        return false
    end
    return errno() == errno.ECONNREFUSED and fio.unlink(a.port)
end

local function bind_to(a, prepare)
    local s = create(a.family, a.type, a.protocol)
    if s == nil then
        return nil, errno()
    end
    local backlog = prepare(s)
    if a.family ~= 'AF_UNIX' then
        s:setsockopt('SOL_SOCKET', 'SO_REUSEADDR', true)
    end
    local ok = s:bind(a.host, a.port)
    if not ok and s:errno() == errno.EADDRINUSE and remove_stale(a) then
        ok = s:bind(a.host, a.port)
    end
    if ok and s:listen(type(backlog) == 'number' and backlog or nil) then
        return s
    end
    local err = s:errno()
    s:close()
    return nil, err
end

local function serve_client(s, from, handler)
    local ok, err = pcall(handler, s, from)
    if not ok then
        log.error('%s', tostring(err))
    end
    if core.fd(s._gc_socket) >= 0 then
        s:close()
    end
end

-- Errors of the other end's, or of too many open files: accepting goes on.
local TRANSIENT = {}
for _, name in ipairs{'EINTR', 'ECONNABORTED', 'EPROTO', 'EAGAIN', 'EPERM'} do
    TRANSIENT[errno[name]] = true
end
local SHORT = {}
for _, name in ipairs{'EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM'} do
    SHORT[errno[name]] = true
end

local function accept_loop(s, name, handler)
    log.info('started')
    while core.fd(s._gc_socket) >= 0 do
        if s:readable(TIMEOUT_MAX) then
            local client, from = s:accept()
            if client ~= nil then
                fiber.create(function()
                    fiber.name(('%s/%s:%s'):format(name, from.host, tostring(from.port)),
                               {truncate = true})
                    serve_client(client, from, handler)
                end)
            elseif SHORT[s._errno] then
                log.error('accept: %s', errno.strerror(s._errno))
                fiber.sleep(1)
            elseif not TRANSIENT[s._errno] then
                break
            end
        elseif core.fd(s._gc_socket) >= 0 and s._errno ~= errno.ETIMEDOUT then
            break
        end
    end
    log.info('stopped')
end

local SERVER_USAGE = 'Usage: socket.tcp_server(host, port, handler | opts)'

function socket.tcp_server(host, port, opts, timeout)
    if type(opts) == 'function' then
        opts = {handler = opts}
    end
    if type(opts) ~= 'table' or type(opts.handler) ~= 'function' or
       (opts.prepare ~= nil and type(opts.prepare) ~= 'function') then
        error(SERVER_USAGE)
    end
    local prepare = opts.prepare or function() end
    local list
    if host == 'unix/' then
        list = {{family = 'AF_UNIX', type = 'SOCK_STREAM', protocol = 0, host = host,
                 port = tostring(port)}}
    else
        local err
        list, err = socket.getaddrinfo(host, port, timeout or TIMEOUT_MAX, {
            type = 'SOCK_STREAM', flags = 'AI_PASSIVE',
        })
        if list == nil then
            return nil, err or errno.strerror()
        end
        -- IPv4 first.
        table.sort(list, function(a, b)
            return a.family == 'AF_INET' and b.family ~= 'AF_INET'
        end)
    end
    local err = errno.EINVAL
    for _, a in ipairs(list) do
        local s
        s, err = bind_to(a, prepare)
        if s ~= nil then
            local name = opts.name or 'server'
            fiber.create(function()
                fiber.name(('%s/%s:%s'):format(name, a.host, tostring(a.port)), {truncate = true})
                accept_loop(s, name, opts.handler)
            end)
            return s, a
        end
    end
    errno(err)
    return nil, errno.strerror(err)
end

-- A connected pair; an object around a descriptor.
function socket.socketpair(domain, kind, protocol)
    local idomain, itype = constant(core.DOMAIN, domain), constant(core.SO_TYPE, kind)
    local iprotocol = protocol_of(protocol)
    if idomain == nil or itype == nil or iprotocol == nil then
        errno(errno.EINVAL)
        return nil
    end
    local a, b = core.pair(idomain, itype, iprotocol)
    if a == nil then
        return nil, errno.strerror()
    end
    return wrap(a, itype), wrap(b, itype)
end

function socket.from_fd(fd)
    if type(fd) ~= 'number' then
        error('fd must be a number', 2)
    end
    local handle = core.from_fd(fd)
    if handle == nil then
        return nil, errno.strerror()
    end
    return wrap(handle, core.SO_TYPE.SOCK_STREAM)
end

socket.internal = {
    DOMAIN = core.DOMAIN, SO_TYPE = core.SO_TYPE, SEND_FLAGS = core.SEND_FLAGS,
    AI_FLAGS = core.AI_FLAGS, SO_OPT = core.SO_OPT, protocols = core.protocols,
    SOL_SOCKET = core.SOL_SOCKET, iowait = socket.iowait, getaddrinfo = socket.getaddrinfo,
}

local luasocket = require('internal.socket_luasocket')(socket, bind_to, TRANSIENT)

return setmetatable(socket, {
    __index = luasocket,
    __call = function(_, ...)
        return create(...)
    end,
})
