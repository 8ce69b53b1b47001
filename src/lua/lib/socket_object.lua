-- SPDX-License-Identifier: BSD-2-Clause
--
-- The objects of the module `socket`, around the handles of socket.c. Manual: module socket.
local core = require('tarn.socket')
local errno = require('errno')
local ffi = require('ffi')

local LIMIT_MAX = 0x7fffffffffff

local object = {}
local methods = {}
local socket_mt

-- Objects -------------------------------------------------------------------------------

local function check(s)
    local handle = type(s) == 'table' and s._gc_socket
    if not handle then
        error(s == nil and 'Usage: socket:method()' or 'Usage: socket:method(), called with non-socket')
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

local HOW = {
    R = 0, W = 1, RW = 2, RD = 0, WR = 1, RDWR = 2, SHUT_RD = 0, SHUT_WR = 1, SHUT_RDWR = 2,
}

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
    if list == nil then
        return nil
    end
    return type(name) == 'string' and list[name:upper()] or
           error(('Unknown socket option name: %s'):format(tostring(name)))
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
object.EVENT_NAMES = NAMES
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

local SYSWRITE_USAGE = 'Usage: socket:syswrite(data) or socket:syswrite(const char *, size)'
local SYSREAD_USAGE = 'Usage: socket:sysread([size]) or socket:sysread(char *, size)'

local function is_pointer(data)
    return type(data) == 'cdata' and (ffi.istype('char *', data) or ffi.istype('const char *', data))
end

function methods.syswrite(s, data, size)
    local handle = check(s)
    if is_pointer(data) and type(size) == 'number' and size >= 0 then
        data = ffi.string(data, size)
    elseif type(data) ~= 'string' then
        error(SYSWRITE_USAGE)
    end
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
    elseif size ~= nil and not (type(size) == 'number' and size >= 0) then
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

-- sysread(buffer, size): into memory; gives the number of bytes.
local function read_into(s, buffer, size)
    if type(size) ~= 'number' or not (size >= 0) or not is_pointer(buffer) then
        error(SYSREAD_USAGE)
    end
    local data = receive(s, size)
    if data == nil then
        return nil
    end
    ffi.copy(buffer, data, #data)
    return #data
end

function methods.sysread(s, size, count)
    check(s)
    if type(size) == 'cdata' then
        return read_into(s, size, count)
    end
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

object.check, object.wrap, object.create = check, wrap, create
object.constant, object.protocol_of = constant, protocol_of
object.methods, object.serialize = methods, serialize
object.LIMIT_MAX = LIMIT_MAX

return object
