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
test:plan(8)
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
os.exit(test:check() and 0 or 1)
