-- SPDX-License-Identifier: BSD-2-Clause
-- Sockets leak no descriptors, whatever ends them, and waits end with their fiber.
local tap = require('tap')
local fiber = require('fiber')
local fio = require('fio')
local socket = require('socket')
local test = tap.test('socket')
test:plan(5)

local function descriptors()
    collectgarbage()
    collectgarbage()
    return #fio.listdir('/proc/self/fd')
end

-- Their number once it is the one that is expected: the other side of a socket closes later.
local function settled(expected)
    for _ = 1, 500 do
        if descriptors() == expected then
            break
        end
        fiber.sleep(0.01)
    end
    return descriptors()
end

-- What func(...) raises or returns when its fiber is cancelled while it waits.
local function cancelled(func, ...)
    local f = fiber.new(func, ...)
    f:set_joinable(true)
    fiber.sleep(0.01)
    f:cancel()
    local ok, err = f:join()
    return not ok and tostring(err) or 'it returned'
end

socket.tcp_connect('127.0.0.1', 1)
local before = descriptors()

test:test('closed, collected, refused', function(t)
    t:plan(6)
    for _ = 1, 50 do
        socket('AF_INET', 'SOCK_STREAM', 'tcp')
    end
    t:is(settled(before), before, 'sockets nobody holds')
    for _ = 1, 20 do
        socket.tcp_connect('127.0.0.1', 1)
        socket.tcp_connect('unix/', '/no/such/socket')
        socket.tcp_server('1.2.3.4', 0, print)
        socket.connect('127.0.0.1', 1)
        socket.bind('1.2.3.4', 0)
    end
    t:is(settled(before), before, 'attempts that fail')
    local server = socket.tcp_server('127.0.0.1', 0, function(s) s:read(1) end)
    local port = server:name().port
    for _ = 1, 20 do
        local s = socket.tcp_connect('127.0.0.1', port)
        s:write('x')
        s:read(1)
    end
    fiber.sleep(0.01)
    t:is(settled(before + 1), before + 1, 'clients of a server')
    for _ = 1, 20 do
        socket.tcp_connect('127.0.0.1', port):close()
    end
    fiber.sleep(0.01)
    t:is(settled(before + 1), before + 1, 'clients that go at once')
    server:close()
    fiber.sleep(0.01)
    t:is(settled(before), before, 'the server')
    local a, b = socket.socketpair('AF_UNIX', 'SOCK_STREAM', 0)
    local fd = a:detach()
    local again = socket.from_fd(fd)
    again:write('through')
    t:is(b:read(7), 'through', 'detach and from_fd')
    again:close()
    b:close()
end)

test:test('cancel', function(t)
    t:plan(9)
    local a, b = socket.socketpair('AF_UNIX', 'SOCK_STREAM', 0)
    local expected = 'fiber is cancelled'
    t:is(cancelled(a.read, a, 5), expected, 'read')
    t:is(cancelled(a.readable, a), expected, 'readable')
    t:is(cancelled(a.write, a, ('x'):rep(10000000)), expected, 'write')
    t:is(cancelled(a.writable, a), expected, 'writable')
    t:is(cancelled(a.wait, b, 0) ~= nil, true, 'wait that is over')
    t:is(cancelled(socket.iowait, b:fd(), 'R') ~= nil, true, 'iowait')
    local server = socket('AF_INET', 'SOCK_STREAM', 'tcp')
    server:bind('127.0.0.1', 0)
    server:listen(1)
    t:is(cancelled(server.readable, server), expected, 'a server')
    local listener = socket.bind('127.0.0.1', 0)
    t:is(cancelled(listener.accept, listener), expected, 'accept')
    a:close()
    b:close()
    server:close()
    listener:close()
    t:is(settled(before), before, 'no descriptor is left')
end)

test:test('closed while another fiber waits', function(t)
    t:plan(3)
    local a, b = socket.socketpair('AF_UNIX', 'SOCK_STREAM', 0)
    local f = fiber.new(a.read, a, 5)
    f:set_joinable(true)
    fiber.sleep(0.01)
    a:close()
    local ok, data = f:join()
    t:ok(ok and data == nil, 'read ends')
    f = fiber.new(b.readable, b, 10)
    f:set_joinable(true)
    fiber.sleep(0)
    b:close()
    t:ok(f:join(), 'readable ends')
    t:is(settled(before), before, 'no descriptor is left')
end)

test:test('many at once', function(t)
    t:plan(2)
    local server = socket.tcp_server('127.0.0.1', 0, function(s)
        for i = 1, 20 do
            local line = s:read('\n')
            s:write(line:upper())
        end
    end)
    local port = server:name().port
    local good, done = 0, fiber.channel(50)
    for i = 1, 50 do
        fiber.create(function()
            local s = socket.tcp_connect('127.0.0.1', port)
            local ok = true
            for j = 1, 20 do
                s:write(('client%d,%d\n'):format(i, j))
                ok = ok and s:read('\n') == ('CLIENT%d,%d\n'):format(i, j)
            end
            s:close()
            good = good + (ok and 1 or 0)
            done:put(true)
        end)
    end
    for _ = 1, 50 do
        done:get(20)
    end
    t:is(good, 50, 'conversations')
    server:close()
    fiber.sleep(0.01)
    t:is(settled(before), before, 'no descriptor is left')
end)

test:test('large data', function(t)
    t:plan(2)
    local a, b = socket.socketpair('AF_UNIX', 'SOCK_STREAM', 0)
    local size = 8 * 1024 * 1024
    local f = fiber.new(function() return a:write(('y'):rep(size) .. 'END') end)
    f:set_joinable(true)
    local data = b:read('END', 20)
    t:is(#data, size + 3, 'read up to a delimiter')
    t:is(select(2, f:join()), size + 3, 'written')
    a:close()
    b:close()
end)

os.exit(test:check() and 0 or 1)
