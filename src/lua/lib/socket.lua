-- SPDX-License-Identifier: BSD-2-Clause
--
-- The module `socket`: objects around the handles of socket.c, servers and connections over
-- TCP and Unix sockets, and the interface of LuaSocket. Manual: module socket.
local core = require('tarn.socket')
local clock = require('clock')
local errno = require('errno')
local fiber = require('fiber')
local fio = require('fio')
local log = require('log')

local TIMEOUT_MAX = 500 * 365 * 86400
local LIMIT_MAX = 0x7fffffffffff

local socket = {}
local methods = {}
local socket_mt

-- Objects -------------------------------------------------------------------------------

local function check(s)
    local handle = type(s) == 'table' and s._gc_socket
    if not handle then
        error('Usage: socket:method(), called with non-socket')
    end
    if core.fd(handle) < 0 then
        error('attempt to use closed socket')
    end
    return handle
end

local function wrap(handle, type_number, mt)
    return setmetatable({_gc_socket = handle, itype = type_number, _errno = 0}, mt or socket_mt)
end

-- Keeps the number of an error that a call returned; gives the call's value.
local function keep(s, value, err)
    s._errno = value == nil and err or 0
    return value
end

local function keep_boolean(s, value, err)
    return keep(s, value, err) ~= nil
end

-- A constant by its name, whatever its case, or by its number.
local function constant(list, value)
    if type(value) == 'number' then
        return value
    end
    return type(value) == 'string' and list[value:upper()] or nil
end

local function protocol_of(value)
    if type(value) == 'number' then
        return value
    end
    return type(value) == 'string' and core.protocols[value:lower():gsub('^ipproto_', '')] or nil
end

local function create(domain, kind, protocol)
    local idomain = constant(core.DOMAIN, domain)
    local itype = constant(core.SO_TYPE, kind)
    local iprotocol = protocol_of(protocol)
    if idomain == nil or itype == nil or iprotocol == nil then
        errno(idomain ~= nil and itype ~= nil and errno.EPROTOTYPE or errno.EINVAL)
        return nil
    end
    local handle = core.new(idomain, itype, iprotocol)
    if handle == nil then
        return
    end
    return wrap(handle, itype)
end

function methods.fd(s)
    return core.fd(check(s))
end

function methods.errno(s)
    check(s)
    return s._errno
end

function methods.error(s)
    check(s)
    return s._errno ~= 0 and errno.strerror(s._errno) or nil
end

function methods.close(s)
    return keep_boolean(s, core.close(check(s)))
end

function methods.detach(s)
    return core.detach(check(s))
end

-- Calls ---------------------------------------------------------------------------------

local function address(host, port)
    if type(host) == 'number' then
        host = host == 0 and '0.0.0.0' or tostring(host)
    end
    return type(host) == 'string' and host or nil, port ~= nil and tostring(port) or nil
end

function methods.sysconnect(s, host, port)
    local handle = check(s)
    return keep_boolean(s, core.connect(handle, address(host, port)))
end

function methods.bind(s, host, port)
    local handle = check(s)
    return keep_boolean(s, core.bind(handle, address(host, port)))
end

function methods.listen(s, backlog)
    local handle = check(s)
    if backlog ~= nil and type(backlog) ~= 'number' then
        error(("bad argument #2 to 'listen' (cannot convert '%s' to 'int')"):format(type(backlog)))
    end
    return keep_boolean(s, core.listen(handle, backlog or 256))
end

function methods.accept(s)
    local handle, from = core.accept(check(s))
    if handle == nil then
        s._errno = from
        return nil
    end
    s._errno = 0
    return wrap(handle, s.itype), from
end

local HOW = {R = 0, W = 1, RW = 2, RD = 0, WR = 1, RDWR = 2, SHUT_RD = 0, SHUT_WR = 1, SHUT_RDWR = 2}

function methods.shutdown(s, how)
    local handle = check(s)
    local number = type(how) == 'number' and how or HOW[tostring(how):upper()] or HOW.RW
    return keep_boolean(s, core.shutdown(handle, number))
end

function methods.nonblock(s, flag)
    return keep(s, core.nonblock(check(s), flag))
end

function methods.name(s)
    return keep(s, core.name(check(s)))
end

function methods.peer(s)
    return keep(s, core.peer(check(s)))
end

-- Options -------------------------------------------------------------------------------

local function level_of(level)
    if type(level) == 'string' and level:upper() == 'SOL_SOCKET' then
        return core.SOL_SOCKET
    end
    return protocol_of(level)
end

local function option_of(level, name)
    if type(name) == 'number' then
        return {iname = name, type = 1, rw = true}
    end
    local list = core.SO_OPT[level]
    if list == nil or type(name) ~= 'string' then
        return nil
    end
    return list[name:upper()] or error(('Unknown socket option name: %s'):format(name))
end

function methods.getsockopt(s, level, name)
    local handle = check(s)
    local ilevel = level_of(level)
    local option = ilevel ~= nil and option_of(ilevel, name) or nil
    if option == nil then
        s._errno = errno.EINVAL
        errno(errno.EINVAL)
        return false
    elseif option.type == 0 then
        error(name:upper() == 'SO_LINGER' and 'Use s:linger()' or 'Unsupported socket option')
    end
    return keep(s, core.getsockopt(handle, ilevel, option.iname, option.type == 2))
end

function methods.setsockopt(s, level, name, value)
    local handle = check(s)
    local ilevel = level_of(level)
    local option = ilevel ~= nil and option_of(ilevel, name) or nil
    if option == nil then
        s._errno = errno.EINVAL
        errno(errno.EINVAL)
        return false
    elseif not option.rw then
        error(('Socket option %s is read only'):format(name))
    end
    if type(value) == 'boolean' then
        value = value and 1 or 0
    end
    if type(value) ~= (option.type == 2 and 'string' or 'number') then
        error(("cannot convert '%s' to '%s'"):format(type(value),
              option.type == 2 and 'const char *' or 'int'))
    end
    return keep_boolean(s, core.setsockopt(handle, ilevel, option.iname, value))
end

function methods.linger(s, active, timeout)
    local handle = check(s)
    if active == nil then
        local is_active, seconds = core.linger(handle)
        if is_active == nil then
            s._errno = seconds
            return nil
        end
        s._errno = 0
        return is_active, seconds
    end
    if timeout ~= nil and type(timeout) ~= 'number' then
        error(("cannot convert '%s' to 'int'"):format(type(timeout)))
    end
    if keep(s, core.linger(handle, active and true, timeout or 0)) == nil then
        return nil
    end
    return active, timeout or 0
end

-- Waiting -------------------------------------------------------------------------------

local NAMES = {[0] = '', 'R', 'W', 'RW'}
local EVENTS = {R = 1, W = 2, RW = 3, WR = 3, r = 1, w = 2, rw = 3, wr = 3}
local IOWAIT_USAGE = "Usage: iowait(fd, 1 | 'r' | 2 | 'w' | 3 | 'rw' [, timeout])"

-- For any descriptor. The answer has the form of the question: a text or a number.
function socket.iowait(fd, events, timeout)
    if timeout ~= nil and type(timeout) ~= 'number' then
        error(IOWAIT_USAGE, 0)
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

local function check_timeout(timeout)
    if timeout ~= nil and type(timeout) ~= 'number' then
        error(("bad argument #3 to 'iowait' (number expected, got %s)"):format(type(timeout)))
    end
end

local function wait(s, events, timeout)
    local ready, err = core.wait(check(s), events, timeout)
    s._errno = err
    if err ~= 0 then
        errno(err)
    end
    return ready
end

function methods.readable(s, timeout)
    check_timeout(timeout)
    return wait(s, 1, timeout) ~= 0
end

function methods.writable(s, timeout)
    check_timeout(timeout)
    return wait(s, 2, timeout) ~= 0
end

function methods.wait(s, timeout)
    check_timeout(timeout)
    local ready = wait(s, 3, timeout)
    return ready ~= 0 and NAMES[ready] or ready
end

-- Data ----------------------------------------------------------------------------------

local READ_USAGE = 'Usage: s:read(delimiter|chunk|{delimiter = x, chunk = x}, timeout)'

local function check_limit(limit)
    if type(limit) ~= 'number' then
        error(('attempt to compare %s with number'):format(type(limit)))
    elseif limit < 0 then
        error('socket:read(): limit can not be negative')
    end
    return limit
end

-- The limit and the delimiters of read()'s first argument.
local function read_options(opts)
    if type(opts) == 'number' then
        return check_limit(opts), nil
    elseif type(opts) == 'string' then
        return LIMIT_MAX, {opts}
    elseif type(opts) ~= 'table' then
        error(READ_USAGE)
    end
    local limit = opts.chunk or opts.size or opts.limit
    local delimiters = opts.delimiter or opts.line
    if delimiters ~= nil and type(delimiters) ~= 'string' and type(delimiters) ~= 'table' then
        error(READ_USAGE)
    end
    return limit ~= nil and check_limit(limit) or LIMIT_MAX,
           type(delimiters) == 'string' and {delimiters} or delimiters
end

function methods.read(s, opts, timeout)
    local handle = check(s)
    local limit, delimiters = read_options(opts)
    if timeout ~= nil and type(timeout) ~= 'number' then
        error(("attempt to perform arithmetic on local 'timeout' (a %s value)"):format(
              type(timeout)))
    end
    if delimiters ~= nil and delimiters[1] == '' then
        return ''
    end
    return keep(s, core.read(handle, limit, delimiters, timeout))
end

function methods.write(s, data, timeout)
    local handle = check(s)
    if type(data) ~= 'string' then
        error(("attempt to get length of local 'octets' (a %s value)"):format(type(data)))
    elseif timeout ~= nil and type(timeout) ~= 'number' then
        error(("attempt to perform arithmetic on local 'timeout' (a %s value)"):format(
              type(timeout)))
    end
    return keep(s, core.write(handle, data, timeout))
end

-- Flags by name, number, or a list of them; nil where one is unknown.
local function flags_of(flags)
    if flags == nil then
        return 0
    elseif type(flags) == 'table' then
        local sum = 0
        for _, flag in pairs(flags) do
            local number = constant(core.SEND_FLAGS, flag)
            if number == nil then
                return nil
            end
            sum = bit.bor(sum, number)
        end
        return sum
    end
    return constant(core.SEND_FLAGS, flags)
end

local function check_octets(data)
    if type(data) ~= 'string' then
        error(("bad argument #1 to 'len' (string expected, got %s)"):format(type(data)))
    end
end

local function wrong_flags(s)
    s._errno = errno.EINVAL
    errno(errno.EINVAL)
    return nil
end

function methods.send(s, data, flags)
    local handle = check(s)
    check_octets(data)
    local number = flags_of(flags)
    if number == nil then
        return wrong_flags(s)
    end
    return keep(s, core.send(handle, data, number))
end

function methods.syswrite(s, data)
    local handle = check(s)
    check_octets(data)
    return keep(s, core.send(handle, data, 0))
end

function methods.sendto(s, host, port, data, flags)
    local handle = check(s)
    local number = flags_of(flags)
    if number == nil then
        return wrong_flags(s)
    elseif data == nil then
        return true
    end
    local ihost, iport = address(host, port)
    return keep(s, core.sendto(handle, ihost, iport, tostring(data), number))
end

local function receive(s, size, flags)
    local handle = check(s)
    local number = flags_of(flags)
    if number == nil then
        return wrong_flags(s)
    elseif size ~= nil and type(size) ~= 'number' or size ~= nil and size < 0 then
        s._errno = errno.EINVAL
        return nil
    end
    local data, from = core.recv(handle, size, number)
    if data == nil then
        s._errno = from
        return nil
    end
    s._errno = 0
    return data, from
end

function methods.recv(s, size, flags)
    return (receive(s, size, flags))
end

function methods.recvfrom(s, size, flags)
    local data, from = receive(s, size, flags)
    if data == nil then
        return nil
    end
    return data, next(from) ~= nil and from or nil
end

function methods.sysread(s, size)
    check(s)
    if size ~= nil and type(size) ~= 'number' then
        error(('attempt to compare %s with number'):format(type(size)))
    elseif size ~= nil and size < 0 then
        error('socket:sysread(): size can not be negative')
    end
    return (receive(s, size))
end

-- Printing ------------------------------------------------------------------------------

local function show_address(a)
    return ('%s:%s'):format(tostring(a.host), tostring(a.port))
end

local function to_string(s)
    local text = 'fd ' .. core.fd(check(s))
    local name, peer = core.name(s._gc_socket), nil
    if name ~= nil then
        text = text .. ', aka ' .. show_address(name)
    end
    peer = core.peer(s._gc_socket)
    if type(peer) == 'table' then
        text = text .. ', peer ' .. show_address(peer)
    end
    return text
end

local function serialize(s)
    check(s)
    local name, peer = core.name(s._gc_socket), core.peer(s._gc_socket)
    return {
        fd = core.fd(s._gc_socket), name = type(name) == 'table' and name or nil,
        peer = type(peer) == 'table' and peer or nil,
    }
end

socket_mt = {__index = methods, __tostring = to_string, __serialize = serialize}

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

-- LuaSocket -----------------------------------------------------------------------------

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
        local level, option = 'SOL_SOCKET', 'SO_' .. name:upper()
        if name == 'linger' then
            return result(s, methods.linger(s, value.on, value.timeout) ~= nil)
        elseif name:sub(1, 4) == 'tcp-' then
            level, option = 'tcp', 'TCP_' .. name:sub(5):upper()
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

function master.send()
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
    data = tostring(data)
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
    line = line:sub(1, -2)
    return prefix .. (line:sub(-1) == '\r' and line:sub(1, -2) or line)
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

return setmetatable(socket, {
    __index = luasocket,
    __call = function(_, ...)
        return create(...)
    end,
})
