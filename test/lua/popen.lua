-- SPDX-License-Identifier: BSD-2-Clause
-- popen leaves nothing behind: descriptors, children, exit codes of others.
local tap = require('tap')
local fiber = require('fiber')
local fio = require('fio')
local popen = require('popen')
local pid = require('tarantool').pid()

local function descriptors()
    return #fio.listdir('/proc/self/fd')
end

local function children()
    local count = 0
    for _, name in ipairs(fio.listdir('/proc')) do
        local f = name:match('^%d+$') and io.open(('/proc/%s/stat'):format(name))
        if f then
            local parent = (f:read('*a') or ''):match('%) %a (%d+)')
            f:close()
            count = count + (tonumber(parent) == pid and 1 or 0)
        end
    end
    return count
end

local function wait_until(f)
    for _ = 1, 500 do
        if f() then
            return true
        end
        fiber.sleep(0.01)
    end
    return false
end

local test = tap.test('popen')
test:plan(10)
popen.new({'/bin/true'}):wait() -- worker threads and their descriptors are there now
local fds = descriptors()

for _ = 1, 20 do
    local h = popen.shell('cat', 'rw')
    h:write('x')
    assert(h:read() == 'x')
    h:close()
end
test:ok(wait_until(function() return children() == 0 end), 'closed handles leave no child')
test:is(descriptors(), fds, 'and no descriptor')

for _ = 1, 20 do
    popen.shell('sleep 100', 'rw')
end
collectgarbage()
collectgarbage()
test:ok(wait_until(function() return children() == 0 end), 'nor do handles that are garbage')
test:is(descriptors(), fds, 'and no descriptor')

local h = popen.new({'/bin/sleep', '100'}, {keep_child = true})
local number = h.pid
h:close()
fiber.sleep(0.02)
test:ok(fio.path.exists(('/proc/%d'):format(number)), 'a child may be kept')
os.execute(('kill %d'):format(number))
test:ok(wait_until(function() return not fio.path.exists(('/proc/%d'):format(number)) end),
        'whose end is seen all the same')

local pipe = io.popen('sleep 0.05; exit 7')
fiber.sleep(0.15)
test:is(select(3, pipe:close()) or 7, 7, 'io.popen gets its own exit code')
local others = popen.shell('sleep 0.05')
test:is(os.execute('exit 3') ~= nil and others:wait().exit_code, 0, 'beside others')
test:test('bad input', function(t)
    t:plan(15)
    local function fails(name, pattern, f, ...)
        local ok, err = pcall(f, ...)
        t:ok(not ok and tostring(err):find(pattern, 1, true), name, {ok, tostring(err)})
    end
    fails('a zero byte in the program', 'zero byte', popen.new, {'/bin/cat\0x'})
    fails('in an argument', 'zero byte', popen.new, {'/bin/cat', 'a\0b'})
    fails('in a command', 'zero byte', popen.shell, 'echo a\0b')
    fails('in a variable', 'zero byte', popen.new, {'/bin/cat'}, {env = {A = 'b\0c'}})
    fails("in a variable's name", 'zero byte', popen.new, {'/bin/cat'}, {env = {['A\0'] = 'b'}})
    local h, err = popen.new({'/bin/echo', ('x'):rep(10000000)}, {stdout = 'devnull'})
    t:ok(h == nil and err.type == 'SystemError' or h:wait().exit_code ~= 0, 'an argument of 10 MB')
    h = popen.shell('cat', 'rw')
    for name, timeout in pairs{NaN = 0 / 0, negative = -1} do
        fails('read ' .. name, 'Bad params', h.read, h, {timeout = timeout})
        fails('write ' .. name, 'Bad params', h.write, h, 'x', {timeout = timeout})
    end
    t:is(h:read({timeout = 0}), nil, 'no time')
    t:ok(h:write('x', {timeout = math.huge}), 'time without end')
    t:is(h:read({timeout = 1e300}), 'x', 'nearly so')
    t:is(h:signal(1000), nil, 'a signal that is none')
    t:is(h:signal(-1), nil, 'another')
    h:close()
end)
others, pipe = nil, nil
collectgarbage()
collectgarbage()
-- The end of a process whose handle was closed is waited for.
test:ok(wait_until(function() return descriptors() == fds end), 'nothing stays open')
os.exit(test:check() and 0 or 1)
