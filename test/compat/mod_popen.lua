-- SPDX-License-Identifier: BSD-2-Clause
-- popen: starting, reading, writing, ending, and what each refuses.
local check = require('check')
popen = require('popen')
fiber = require('fiber')
-- What does not depend on the run.
function info(h)
    local i = h:info()
    i.pid = type(i.pid)
    return i
end
function failure(ok, err)
    return ok, err and err.type, err and tostring(err):gsub('%d+', 'N') or nil
end
function all_of(h, options)
    local out = {}
    repeat
        local piece = h:read(options)
        table.insert(out, piece)
    until piece == ''
    return table.concat(out)
end
function cancelled(method)
    local h = popen.shell('sleep 10', 'r')
    local ok, err
    local f = fiber.new(function() ok, err = pcall(h[method], h) end)
    f:set_joinable(true)
    fiber.sleep(0.02)
    f:cancel()
    f:join()
    h:close()
    return ok, err.type
end
check [[
popen.opts, popen.state, popen.stream
popen.signal
h = popen.new({'/bin/echo', 'hello'}, {stdout = popen.opts.PIPE})
h:wait(), info(h), h:read(), h:read()
h.status, h.stdout, h.stdin, h.command, h.nothing
h:close(), h:close()
h:info()
h:read()
h:write('x')
h:wait()
h:kill()
h:signal(15)
h:shutdown({stdin = true})
h:read(5)
h:signal('x')
h.read()
h.read({})
h.write({}, 'x')
h.signal()
h.info()
h.wait()
h.close({})
h.terminate()
h.shutdown()
popen.new()
popen.new('x')
popen.new({1})
popen.new({'/bin/echo'}, 5)
popen.new({'/bin/echo'}, {stdin = 'x'})
popen.new({'/bin/echo'}, {stdout = 5})
popen.new({'/bin/echo'}, {env = 5})
popen.new({'/bin/echo'}, {env = {a = 1}})
popen.new({'/bin/echo'}, {env = {'a'}})
popen.new({'/bin/echo'}, {shell = 'x'})
popen.new({'/bin/echo'}, {keep_child = 1})
popen.new({'/bin/echo'}, {group_signal = true})
popen.new({'/nonexistent'}):wait()
popen.shell()
popen.shell(5)
popen.shell('x', 5)
popen.shell('x', 'q')
h = popen.shell('echo out; echo err >&2; exit 3', 'rR')
h:wait(), info(h), all_of(h), all_of(h, {stderr = true}), all_of(h, {stdout = false})
h:read({stdout = true, stderr = true})
h:read({timeout = -1})
h:read({timeout = 'x'})
h:read({stdout = 5})
h:write('x')
h:shutdown({stdin = true})
h:shutdown()
h:shutdown({})
h:shutdown({stdout = 5})
h:shutdown({stdout = true}), info(h)
h:read()
failure(h:kill())
failure(h:signal(1000))
failure(h:terminate())
h = popen.shell('cat', 'rw')
h:write('abc'), h:read(), h:write('x', {timeout = 1}), h:read({timeout = 1})
h:write(5)
h:write()
failure(h:read({timeout = 0.02}))
h:shutdown({stdin = true}), h:read()
h:write('x')
h:wait(), h:close()
h = popen.shell('sleep 10', 'r')
failure(h:signal(1000)), h:signal(0), h:terminate(), h:wait(), info(h).status
h = popen.shell('exec <&-; sleep 10', 'w')
fiber.sleep(0.1)
failure(h:write('x'))
h:close()
h = popen.shell('sleep 10', 'w')
failure(h:write(('x'):rep(1000000), {timeout = 0.02}))
h:kill(), h:wait()
cancelled('read'), cancelled('wait')
all_of(popen.new({'/usr/bin/env'}, {env = {A = '1'}, stdout = 'pipe'}))
all_of(popen.new({'/usr/bin/env'}, {env = {}, stdout = 'pipe'}))
all_of(popen.new({'/bin/sh', '-c', 'ls /proc/self/fd | wc -l'}, {stdout = 'pipe'}))
all_of(popen.new({'/bin/sh', '-c', 'echo $0 $1 "$2"', 'a', 'b  c'}, {stdout = 'pipe'}))
all_of(popen.new({'echo a | cat', 'x'}, {shell = true, stdout = 'pipe'}))
popen.new({'/bin/sh', '-c', 'kill -9 $$'}):wait(), popen.new({'/bin/sh', '-c', 'kill -34 $$'}):wait()
popen.new({'/bin/true'}, {stdin = 'close', stdout = 'devnull', stderr = 'close', env = {}}):info().opts
popen.new({'/bin/true'}, {close_fds = false, setsid = true, keep_child = true, restore_signals = false}):info().opts
popen.new({'a b', "c'd", '$x'}, {shell = true, stderr = 'devnull'}):info().command
popen.new({'/bin/true', 'a b', "c'd"}):info().command
]]
check.finish()
