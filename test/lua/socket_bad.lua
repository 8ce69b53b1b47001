-- SPDX-License-Identifier: BSD-2-Clause
-- socket with timeouts, sizes, ports and descriptors that are odd; functions the reference lacks.
local tap = require('tap')
local errno = require('errno')
local ffi = require('ffi')
local fiber = require('fiber')
local fio = require('fio')
local socket = require('socket')
local test = tap.test('socket_bad')
local NAN = 0 / 0

local function descriptors()
    collectgarbage()
    collectgarbage()
    return #fio.listdir('/proc/self/fd')
end

local function fails(t, name, pattern, f, ...)
    local ok, err = pcall(f, ...)
    t:ok(not ok and tostring(err):find(pattern, 1, true), name, {ok, err})
end

local before = descriptors()
test:plan(6)

test:test('socketpair and from_fd', function(t)
    t:plan(14)
    local a, b = socket.socketpair('AF_UNIX', 'SOCK_STREAM', 0)
    t:is(a:write('ab') and b:read(2), 'ab', 'a pair of streams')
    local c, d = socket.socketpair('AF_UNIX', 'SOCK_DGRAM', 0)
    t:is(c:send('message') and d:recv(), 'message', 'a pair for messages')
    t:is(socket.socketpair('AF_X', 'SOCK_STREAM', 0), nil, 'no such domain')
    t:is(errno(), errno.EINVAL, 'is EINVAL')
    t:is(socket.socketpair(), nil, 'nothing at all')
    local none, err = socket.socketpair('AF_INET', 'SOCK_STREAM', 'tcp')
    t:ok(none == nil and err == 'Operation not supported', 'no pairs of this kind', err)
    local fd = a:detach()
    t:ok(fd > 2, 'detach')
    fails(t, 'a detached socket', 'attempt to use closed socket', a.read, a, 1)
    fails(t, 'once more', 'attempt to use closed socket', a.detach, a)
    local e = socket.from_fd(fd)
    t:is(e:write('x') and b:read(1), 'x', 'from_fd')
    e:close()
    none, err = socket.from_fd(fd)
    t:ok(none == nil and err == 'Bad file descriptor', 'from_fd of a closed one', err)
    fails(t, 'from_fd of a text', 'fd must be a number', socket.from_fd, 'x')
    fails(t, 'from_fd of nothing', 'fd must be a number', socket.from_fd)
    none, err = socket.from_fd(-1)
    t:ok(none == nil and err == 'Bad file descriptor', 'from_fd(-1)', err)
    b:close() c:close() d:close()
end)

test:test('timeouts', function(t)
    local timeouts = {zero = 0, negative = -1, ['-inf'] = -math.huge, tiny = 1e-300}
    t:plan(5 * 4 + 5 + 2)
    local a, b = socket.socketpair('AF_UNIX', 'SOCK_STREAM', 0)
    for name, timeout in pairs(timeouts) do
        t:is(a:read(1, timeout), nil, 'read ' .. name)
        t:is(a:readable(timeout), false, 'readable ' .. name)
        t:is(socket.iowait(a:fd(), 'R', timeout), '', 'iowait ' .. name)
        t:is(a:write('x', timeout), 1, 'write ' .. name)
        t:is(b:read(1, timeout), 'x', 'what is there is read ' .. name)
    end
    for name, call in pairs{read = {a.read, a, 1}, write = {a.write, a, 'x'}, readable = {a.readable, a},
                            iowait = {socket.iowait, a:fd(), 'R'}, getaddrinfo = {socket.getaddrinfo, '127.0.0.1', '1'}} do
        local arguments = {unpack(call, 2)}
        table.insert(arguments, NAN)
        fails(t, name .. ' NaN', 'a timeout may not be NaN', call[1], unpack(arguments))
    end
    fiber.create(function()
        b:write('y')
    end)
    t:is(a:read(1, math.huge), 'y', 'without end')
    fiber.create(function()
        fiber.sleep(0.01)
        b:write('z')
    end)
    t:is(a:read(1, 1e300), 'z', 'very long')
    a:close() b:close()
end)

test:test('sizes', function(t)
    t:plan(9)
    local a, b = socket.socketpair('AF_UNIX', 'SOCK_STREAM', 0)
    b:write('0123456789')
    for _, size in ipairs{-1, NAN, 'x', {}} do
        t:is(a:recv(size), nil, 'recv of ' .. tostring(size))
    end
    t:is(a:recv(3), '012', 'recv')
    local memory = ffi.cast('char *', ffi.new('char[3]'))
    t:is(a:sysread(memory, 3), 3, 'into memory')
    t:is(a:read(4, 1), '6789', 'read')
    t:is(a:recv(math.huge), nil, 'a size without end')
    fails(t, 'into a table', 'compare table with number', a.sysread, a, {}, 3)
    a:close() b:close()
end)

test:test('ports', function(t)
    t:plan(8)
    for _, port in ipairs{-1, 65536, 1.5, 'http', 'x', '12x', {}, NAN} do
        local s = socket('AF_INET', 'SOCK_STREAM', 'tcp')
        t:ok(not s:bind('127.0.0.1', port) and s:errno() == errno.EINVAL, 'port ' .. tostring(port))
        s:close()
    end
end)

test:test('handlers', function(t)
    t:plan(4)
    local server = socket.tcp_server('127.0.0.1', 0, function() error('on purpose') end)
    for i = 1, 2 do
        local s = socket.tcp_connect('127.0.0.1', server:name().port)
        t:is(s:read(1, 5), '', 'the connection is closed where the handler raises ' .. i)
        s:close()
    end
    server:close()
    fails(t, 'a prepare that raises', 'on purpose', socket.tcp_server, '127.0.0.1', 0, {
        prepare = function() error('on purpose') end, handler = print,
    })
    fails(t, 'no handler', 'Usage: socket.tcp_server', socket.tcp_server, '127.0.0.1', 0, {prepare = print})
end)

for _ = 1, 100 do
    if descriptors() == before then
        break
    end
    fiber.sleep(0.01)
end
test:is(descriptors(), before, 'nothing stays open')
os.exit(test:check() and 0 or 1)
