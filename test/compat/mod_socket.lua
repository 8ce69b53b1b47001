-- SPDX-License-Identifier: BSD-2-Clause
-- The module socket.
local check = require('check')
socket = require('socket')
errno = require('errno')
fiber = require('fiber')

-- The first value alone: later versions tell why behind nil.
function first(...)
    return (...)
end

function flat(t)
    return t and {t.host, t.family, t.type, t.protocol, type(t.port)}
end

function addresses(...)
    local out = {}
    for i, a in ipairs(socket.getaddrinfo(...) or {}) do
        out[i] = {a.host, a.family, a.type, a.protocol, a.port}
    end
    return out
end

check [[
socket()
socket('AF_INET')
socket('AF_INETX', 'SOCK_STREAM', 'tcp')
errno.strerror(errno())
socket('AF_INET', 'SOCK_X', 'tcp')
socket('AF_INET', 'SOCK_STREAM', 'xx')
socket('AF_INET', 'SOCK_STREAM', 0) ~= nil
socket('PF_INET', 'SOCK_DGRAM', 'udp') ~= nil
socket('AF_UNIX', 'SOCK_STREAM', 0) ~= nil
socket('AF_INET', 'SOCK_STREAM')
socket(2, 1, 6) ~= nil
socket('AF_INET', 'SOCK_STREAM', 'udp')
s = socket('AF_INET', 'SOCK_STREAM', 'tcp')
type(s), type(socket), s.itype
s:bind()
s:bind('127.0.0.1')
s:bind('127.0.0.1', 0)
s:errno(), s:error()
s:listen()
s:listen(5)
flat(s:name())
s:peer()
s:errno(), s:error()
s:accept()
s:errno(), s:error()
s:readable(0.01)
s:errno(), s:error()
s:writable(0.01)
s:wait(0.01)
s:getsockopt('SOL_SOCKET', 'SO_REUSEADDR')
s:getsockopt('SOL_SOCKET', 'SO_TYPE')
s:getsockopt('SOL_SOCKET', 'SO_ERROR')
s:getsockopt('SOL_SOCKET', 'SO_LINGER')
s:getsockopt('SOL_SOCKET', 'SO_XX')
s:getsockopt('XX', 'SO_TYPE')
s:getsockopt('tcp', 'TCP_NODELAY')
s:getsockopt('IPPROTO_TCP', 'TCP_NODELAY')
s:setsockopt('SOL_SOCKET', 'SO_REUSEADDR', true)
s:setsockopt('SOL_SOCKET', 'SO_REUSEADDR', 1), s:getsockopt('SOL_SOCKET', 'SO_REUSEADDR')
s:setsockopt('SOL_SOCKET', 'SO_REUSEADDR', 'x')
s:setsockopt('SOL_SOCKET', 'SO_TYPE', 1)
s:setsockopt('SOL_SOCKET', 'SO_LINGER', 1)
s:setsockopt('SOL_SOCKET', 'SO_X', 1)
s:setsockopt('XX', 'SO_REUSEADDR', 1)
s:setsockopt('tcp', 'TCP_NODELAY', true), s:getsockopt('tcp', 'TCP_NODELAY')
s:linger()
s:linger(true, 5)
s:linger()
s:linger(false)
s:linger(1)
s:nonblock()
s:nonblock(false)
s:nonblock()
s:nonblock(true)
s:shutdown('RX')
s:shutdown()
s:fd() > 2
s:sysconnect('127.0.0.1', 1)
s:errno(), s:error()
s:close()
s:close()
s:fd()
s:name()
tostring(s)
s:read(1)
s:readable(0)
s:errno()
s.name({})
s.name(5)
]]

-- Addresses.
check [[
addresses('127.0.0.1', 80)
addresses('127.0.0.1', '80')
addresses('127.0.0.1', 'http')
addresses('127.0.0.1', '80', 1, {type = 'SOCK_STREAM'})
addresses('127.0.0.1', '80', {type = 'SOCK_DGRAM', family = 'AF_INET', protocol = 'udp'})
addresses('127.0.0.1', '80', {flags = {'AI_PASSIVE', 'AI_NUMERICHOST'}})
addresses('127.0.0.1', '80', {flags = 'AI_PASSIVE'})
addresses('127.0.0.1', '80', {type = 'X'})
addresses('::1', '80', {type = 'SOCK_STREAM'})
addresses('127.0.0.1', '80', 'x')
first(socket.getaddrinfo('nosuch.invalid', '80'))
first(socket.getaddrinfo('127.0.0.1', 'nosuchservice'))
]]
for _, host in ipairs{'0.0.0.0', '::', '::1', 'localhost', '', '*'} do
    local s = socket('AF_INET', 'SOCK_STREAM', 'tcp')
    check.values('bind ' .. host, s:bind(host, 0), s:errno())
end
for _, host in ipairs{'::', '::1'} do
    local s = socket('AF_INET6', 'SOCK_STREAM', 'tcp')
    check.values('bind v6 ' .. host, s:bind(host, 0), s:errno(), flat(s:name()))
end

-- Waiting for descriptors.
check [[
socket.iowait()
socket.iowait(0, 'X', 0)
socket.iowait(nil, nil, 0.01)
socket.iowait(-1, 'R', 0.01)
s = socket('AF_INET', 'SOCK_STREAM', 'tcp') s:bind('127.0.0.1', 0) s:listen()
socket.iowait(s:fd(), 'R', 0.01), socket.iowait(s:fd(), 1, 0.01)
c = socket.tcp_connect('127.0.0.1', s:name().port)
s:readable(1), s:wait(1), socket.iowait(s:fd(), 'RW', 1), socket.iowait(s:fd(), 3, 1)
a, from = s:accept()
from.host, from.family, from.port == c:name().port, from.type
a:nonblock()
c:wait(1), socket.iowait(c:fd(), 'RW', 1), socket.iowait(c:fd(), 2)
]]

-- Reading and writing.
check [[
c:write('abc\ndef\nx')
a:read('\n'), a:errno()
a:read(2), a:read{delimiter = {'f', '\n'}}, a:read{chunk = 1}, a:read{limit = 1, delimiter = 'x'}
a:read(5, 0.01)
a:errno(), a:error()
c:write('12')
a:read(5, 0.01), a:errno()
a:read(2, 0.01)
c:write('a;b,c')
a:read{delimiter = {',', ';'}}, a:read{delimiter = {';', ','}}, a:read(1)
c:write(('x'):rep(100000) .. 'END' .. 'more')
#a:read('END', 5), a:read(4)
c:write('abcdefgh')
a:read({delimiter = 'h', chunk = 3}), a:read({delimiter = 'h', chunk = 30})
a:read(0)
a:read()
a:read(true)
a:read(-1)
a:read({chunk = 5, delimiter = 5}, 0.1)
a:read({chunk = 'a'}, 0.1)
a:read('\n', 'x')
a:read('\n', -1)
a:recv()
a:errno()
c:write('hello')
fiber.sleep(0.01)
a:sysread(3), a:recv(1), a:sysread()
a:sysread(-1)
a:sysread('x')
a:syswrite('q'), a:send('w', 'MSG_DONTWAIT')
a:send()
c:read(2)
c:write()
c:write(5)
c:write('x', 'y')
c:write('', 1)
a:readable('x')
flat(c:peer()), c:peer().port == s:name().port
c:shutdown('W')
a:read(100), a:read(10)
a:read('\n'), a:readable(0)
a:shutdown('R'), a:shutdown('W')
c:close(), a:close()
]]

-- Datagrams.
check [[
u1 = socket('AF_INET', 'SOCK_DGRAM', 'udp')
u2 = socket('AF_INET', 'SOCK_DGRAM', 'udp')
u1:bind('127.0.0.1', 0)
u2:sendto('127.0.0.1', u1:name().port, 'dgram')
u1:readable(1)
data, from = u1:recvfrom(100)
data, from.host, from.family, from.port == u2:name().port
u1:recvfrom(100)
u1:errno(), u1:error()
u2:sendto('127.0.0.1', u1:name().port, 'dgram')
u1:readable(1), u1:recv()
u2:sysconnect('127.0.0.1', u1:name().port)
u2:send('zz')
u1:readable(1), u1:recv(1)
u2:sendto('127.0.0.1', u1:name().port, 'dgram', 'MSG_X')
u1:name().type, u1:name().protocol
u1:listen()
u1:errno(), u1:error()
]]

-- Servers.
check [[
socket.tcp_server()
socket.tcp_server('127.0.0.1', 0)
socket.tcp_server('127.0.0.1', 0, 5)
socket.tcp_server('127.0.0.1', 0, {prepare = print})
first(socket.tcp_server('1.2.3.4', 0, print))
errno.strerror()
]]
log = {}
handler = function(s, from)
    table.insert(log, {from.host, from.family, type(from.port), (fiber.name():gsub('%d+$', 'N'))})
    while true do
        local line = s:read('\n')
        if line == nil or line == '' then
            break
        end
        s:write('echo ' .. line)
    end
end
prepare = function(s)
    table.insert(log, {'prepare', s:name().port})
    return 7
end
check [[
srv, addr = socket.tcp_server('127.0.0.1', 0, {handler = handler, prepare = prepare, name = 'zz'}, 1)
flat(srv:name()), addr
c = socket.tcp_connect('127.0.0.1', srv:name().port)
c:write('one\ntwo\n')
c:read('\n'), c:read('\n')
log
c:close()
port = srv:name().port
srv:close()
first(socket.tcp_connect('127.0.0.1', port))
srv = socket.tcp_server('127.0.0.1', 0, function(s) error('on purpose') end)
c = socket.tcp_connect('127.0.0.1', srv:name().port)
c:read(1, 5)
c:close(), srv:close()
path = require('fio').tempdir() .. '/sock'
srv, addr = socket.tcp_server('unix/', path, function(s) s:write('hi') end)
addr.port == path, addr.host, addr.family, addr.protocol
c = socket.tcp_connect('unix/', path)
c:read(2)
c:name().host, c:name().port, c:peer().port == path, c:name().protocol
first(socket.tcp_server('unix/', path, function(s) s:write('hi2') end))
srv:close(), c:close()
srv = socket.tcp_server('unix/', path, function(s) s:write('again') end)
c = socket.tcp_connect('unix/', path)
c:read(5)
c:close(), srv:close()
first(socket.tcp_connect('unix/', '/nonexistent'))
errno.strerror()
first(socket.tcp_connect('127.0.0.1', 1))
errno.strerror()
first(socket.tcp_connect('127.0.0.1', 'nosuch'))
socket.tcp_connect('127.0.0.1', 1, 'x')
]]

-- LuaSocket.
check [[
t = socket.tcp()
t:bind('127.0.0.1', 0)
t:listen(5)
t:getsockname() == '127.0.0.1', select(3, t:getsockname())
t:settimeout(1)
c = socket.connect('127.0.0.1', select(2, t:getsockname()))
a = t:accept()
a:send('line1\nline2\nrest')
c:receive()
c:receive('*l')
c:receive(2)
c:settimeout(0.01)
c:receive(20)
c:receive('*l')
c:receive('x')
c:receive(-1)
c:receive({})
c:send('abc', 2)
c:send('abcdef', 2, 3)
a:receive(4)
c:getpeername() == '127.0.0.1'
c:shutdown('both')
c:shutdown()
a:receive('*a')
a:receive()
c:close()
c:close()
c:send('x')
socket.connect('127.0.0.1', 1)
socket.connect('127.0.0.1')
socket.bind('127.0.0.1', 0) ~= nil
socket.bind('127.0.0.1', 0, 5) ~= nil
socket.bind('1.2.3.4', 0)
t:close()
t:accept()
b = socket.bind('127.0.0.1', 0)
b:settimeout(0.01)
b:accept()
b:setoption('reuseaddr', true)
]]
check.finish()
