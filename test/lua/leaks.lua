-- SPDX-License-Identifier: BSD-2-Clause
-- What waits ends with its time or its fiber's cancel, and leaves no descriptor behind.
local tap = require('tap')
local fiber = require('fiber')
local fio = require('fio')
local socket = require('socket')
local popen = require('popen')
local http = require('http.client')
local netbox = require('net.box')
local console = require('console')

box.cfg{log_level = 1, wal_mode = 'none', listen = 'unix/:./leaks.sock'}
box.schema.user.grant('guest', 'execute', 'universe')
function wait_for_ever() fiber.sleep(1000) end

local function descriptors()
    return #fio.listdir('/proc/self/fd')
end

-- Servers that accept and say nothing.
local silent_path = fio.pathjoin(fio.cwd(), 'silent.sock')
local silent = socket.tcp_server('unix/', silent_path, function(s) s:read(1000) end)
local silent_tcp = socket.tcp_server('127.0.0.1', 0, function(s) s:read(1000) end)
local port = silent_tcp:name().port
local fifo = fio.pathjoin(fio.cwd(), 'fifo')
os.execute('mkfifo ' .. fifo)
local channel, full = fiber.channel(), fiber.channel()
local sleeper = fiber.new(function() fiber.sleep(1000) end)
sleeper:set_joinable(true)
local client = http.new()

-- Runs f in a console that ends behind it.
function in_console(f)
    console.on_start(function(self)
        self.running = false
        f(self)
    end)
    console.start()
end

-- Each waits for ever, unless it is cancelled.
local waits = {
    {'fiber.sleep', function() fiber.sleep(1000) end},
    {'fiber.join', function() sleeper:join() end},
    {'channel:get', function() channel:get() end},
    {'channel:put', function() full:put(1) end},
    {'cond:wait', function() fiber.cond():wait() end},
    {'socket.tcp_connect, read', function()
        local s = socket.tcp_connect('127.0.0.1', port)
        local ok, err = pcall(s.read, s, 1)
        s:close()
        error(ok and 'read' or err, 0)
    end},
    {'socket:accept', function()
        local s = socket('AF_INET', 'SOCK_STREAM', 'tcp')
        s:bind('127.0.0.1', 0)
        s:listen()
        local ok, err = pcall(function() s:readable(1000) fiber.testcancel() end)
        s:close()
        error(ok and 'accepted' or err, 0)
    end},
    {'socket:recvfrom', function()
        local s = socket('AF_INET', 'SOCK_DGRAM', 'udp')
        s:bind('127.0.0.1', 0)
        local ok, err = pcall(function() s:readable(1000) fiber.testcancel() end)
        s:close()
        error(ok and 'got' or err, 0)
    end},
    {'popen:read', function()
        local p = popen.new({'/bin/cat'}, {stdin = popen.opts.PIPE, stdout = popen.opts.PIPE})
        local ok, err = pcall(p.read, p)
        p:close()
        error(ok and 'read' or err, 0)
    end},
    {'popen:wait', function()
        local p = popen.new({'/bin/sleep', '1000'})
        local ok, err = pcall(p.wait, p)
        p:close()
        error(ok and 'over' or err, 0)
    end},
    {'http.client', function() client:get('http://127.0.0.1:' .. port) end},
    {'console.connect', function() in_console(function() console.connect('127.0.0.1:' .. port) end) end},
    {'console.connect, eval', function()
        in_console(function(self)
            console.connect('unix/:./leaks.sock')
            local answer = self:eval('wait_for_ever()')
            fiber.testcancel()
            error(answer, 0)
        end)
    end},
    {'net.box connect', function() netbox.connect('unix/:' .. silent_path, {connect_timeout = 1000}) end},
    {'net.box call', function()
        local c = netbox.connect('unix/:./leaks.sock')
        local ok, err = pcall(c.call, c, 'wait_for_ever')
        c:close()
        error(ok and 'done' or err, 0)
    end},
}

-- The same with a limit of time: what they give.
local short = 0.01
local limits = {
    {'channel:get', function() return channel:get(short) == nil end},
    {'channel:put', function() return full:put(1, short) == false end},
    {'cond:wait', function() return fiber.cond():wait(short) == false end},
    {'fiber.join', function() return sleeper:join(short) == false end},
    {'socket:read', function()
        local s = socket.tcp_connect('127.0.0.1', port, 5)
        local got = s:read(1, short)
        s:close()
        return got == nil
    end},
    {'socket:readable', function()
        local s = socket.tcp_connect('127.0.0.1', port, 5)
        local ready = s:readable(short)
        s:close()
        return not ready
    end},
    {'popen:read', function()
        local p = popen.new({'/bin/cat'}, {stdin = popen.opts.PIPE, stdout = popen.opts.PIPE})
        local got, err = p:read{timeout = short}
        p:close()
        return got == nil and err.type == 'TimedOut'
    end},
    {'http.client', function() return client:get('http://127.0.0.1:' .. port, {timeout = short}).status == 408 end},
    {'console.connect', function()
        local ok
        in_console(function() ok = pcall(console.connect, '127.0.0.1:' .. port, {timeout = short}) end)
        return not ok
    end},
    {'net.box connect', function()
        local c = netbox.connect('unix/:' .. silent_path, {connect_timeout = short})
        local is_up = c:is_connected()
        c:close()
        return not is_up
    end},
    {'net.box call', function()
        local c = netbox.connect('unix/:./leaks.sock')
        local ok = pcall(c.call, c, 'wait_for_ever', {}, {timeout = short})
        c:close()
        return not ok
    end},
}

-- Connections that a client has closed are closed here a moment later, those that nobody has
-- any more by the collector.
local function settled(before)
    for _ = 1, 300 do
        if descriptors() <= before then
            break
        end
        collectgarbage()
        fiber.sleep(0.01)
    end
    return descriptors()
end

local function cancel(f)
    local waiter = fiber.new(f)
    waiter:set_joinable(true)
    fiber.sleep(0.005)
    waiter:cancel()
    local ok, err = waiter:join(10)
    return not ok and tostring(err) or 'no error'
end

local test = tap.test('leaks')
test:plan(2 * (#waits + #limits) + 4)

for _, case in ipairs(waits) do
    local name, f = unpack(case)
    cancel(f) -- what is opened once stays open
    local before = settled(0 + descriptors())
    local last
    for _ = 1, 5 do
        last = cancel(f)
    end
    test:like(last, 'cancelled', name .. ' is cancelled')
    test:ok(settled(before) <= before, name .. ' leaves nothing')
end

for _, case in ipairs(limits) do
    local name, f = unpack(case)
    f()
    local before = descriptors()
    local good = true
    for _ = 1, 5 do
        good = f() and good
    end
    test:ok(good, name .. ' ends in time')
    test:ok(settled(before) <= before, name .. ' leaves nothing then')
end

-- Files: what is begun in a worker is carried through; the handle of a cancelled open is closed.
local before = descriptors()
for _ = 1, 20 do
    local f = fiber.new(function()
        local fh = fio.open('file', {'O_RDWR', 'O_CREAT'}, tonumber('644', 8))
        local ok, err = pcall(function()
            for _ = 1, 1000 do
                fh:write('x')
                fiber.testcancel()
            end
        end)
        fh:close()
        assert(ok, err)
    end)
    f:set_joinable(true)
    fiber.yield()
    f:cancel()
    f:join()
end
test:ok(settled(before) <= before, 'fio')
local opened
local f = fiber.new(function()
    opened = {pcall(fio.open, fifo, {'O_RDONLY', 'O_NONBLOCK'})}
end)
f:set_joinable(true)
fiber.yield()
f:cancel()
f:join()
if opened and opened[1] and opened[2] then
    opened[2]:close()
end
test:ok(settled(before) <= before, 'an open that is cancelled')
for _ = 1, 50 do
    pcall(fio.open, '/no/such/file')
    pcall(socket.tcp_connect, 'unix/', '/no/such.sock')
    pcall(popen.new, {'/no/such/program'}, {stdout = popen.opts.PIPE})
    pcall(netbox.connect, 'unix/:/no/such.sock')
    pcall(client.get, client, 'http://127.0.0.1:1/')
    pcall(fio.listdir, '/no/such')
    pcall(fio.copyfile, 'file', '/no/such/file')
end
test:ok(settled(before) <= before, 'what fails')
-- Handles that nobody closes go with the collector.
for _ = 1, 20 do
    socket.tcp_connect('127.0.0.1', port)
    fio.open('file', {'O_RDONLY'})
end
test:ok(settled(before) <= before, 'what was forgotten')

sleeper:cancel()
silent:close()
silent_tcp:close()
os.exit(test:check() and 0 or 1)
