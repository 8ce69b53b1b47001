-- SPDX-License-Identifier: BSD-2-Clause
-- What rocks that are widely used rely on beside the documented functions: how they ask for versions
-- and modules, fields of their own on objects, C functions and types, odd arguments.
local check = require('check')
ffi, fiber, fio, netbox = require('ffi'), require('fiber'), require('fio'), require('net.box')
path = fio.pathjoin(fio.cwd(), 's.sock')
function keys(t)
    local out = {}
    for k in pairs(t) do
        table.insert(out, tostring(k))
    end
    table.sort(out)
    return table.concat(out, ' ')
end
function strings(list)
    local out = ffi.new('char const*[?]', #list + 1, list)
    out[#list] = nil
    return ffi.cast('char *const*', out)
end
-- A child process by fork and exec; what it prints comes by a pipe.
function child(command)
    local fds = ffi.new('int[2]')
    ffi.C.pipe(fds)
    local pid = ffi.C.fork()
    if pid == 0 then
        ffi.C.dup2(fds[1], 1)
        ffi.C.execve('/bin/sh', strings{'/bin/sh', '-c', command}, strings{'A=1'})
    end
    ffi.C.close(fds[1])
    require('socket').iowait(fds[0], 'R', 10)
    local buffer = ffi.new('char[?]', 100)
    local count = ffi.C.read(fds[0], buffer, 100)
    ffi.C.close(fds[0])
    return pid > 0, ffi.string(buffer, count)
end
check [[
type(box.cfg) == 'function', pcall(function() return box.info.status end) ~= nil
box.cfg{log = 'log', listen = 'unix/:' .. path}
type(_TARANTOOL:split('-', 1)[1]), unpack(_TARANTOOL:split('-', 1)[1]:split('.', 2))
require('tarantool').version == _TARANTOOL, box.info.version == _TARANTOOL
package.search('no.such.module'), type(package.searchroot()), pcall(require, 'cartridge.hotreload') == true
type(table.new), #table.new(5, 0), type(require('table.new')), type(require('table.clear'))
xpcall(function(...) return select('#', ...), ... end, debug.traceback, 1, nil, 3)
select(2, pcall(error, {a = 1}, nil)).a
load('return ..., x', '@chunk', 't', {x = 5})(1)
rawget(_G, 'no_such_global'), string.strip(debug.traceback('', 1)):match('^stack traceback') ~= nil
debug.getinfo(1, 'Sl').short_src, type(debug.getinfo(1, 'Sl').currentline)
ffi.sizeof('struct tt_uuid'), ffi.istype('struct tt_uuid', require('uuid').new()), (pcall(ffi.typeof, 'struct error'))
ffi.cdef('int pipe(int fildes[2]); int dup(int oldfd); int dup2(int oldfd, int newfd); int close(int fildes);')
ffi.cdef('ssize_t read(int fd, void *buf, size_t count); ssize_t write(int fildes, const void *buf, size_t nbyte);')
ffi.cdef('pid_t fork(void); int execve(const char *pathname, char *const argv[], char *const envp[]);')
ffi.cdef('int fileno(struct FILE *stream); int get_nprocs_conf(void); int memcmp(const char *a, const char *b, size_t n);')
ffi.C.fileno(io.stdout), ffi.C.get_nprocs_conf() > 0, ffi.C.memcmp('abc', 'abd', 2)
child('echo hello $A')
keys(box.stat.vinyl()), keys(box.stat.vinyl().scheduler), box.stat.vinyl().disk.data, keys(box.info.vinyl())
keys(box.slab.info()), keys(box.runtime.info()), keys(box.info.memory())
type(fiber.info({backtrace = false})[fiber.id()].memory.total), type(fiber.info()[fiber.id()].csw)
1e3 * fiber.time64() > 0, 0ULL + 5 * 1000000 + fiber.time64() > 0, tonumber(fiber.time64() - fiber.time64()) <= 0
fiber.cond():wait(tonumber(1000ULL) / 1000000)
table.maxn(box.info.replication), box.info.replication[1].upstream, box.info.replication[1].downstream
box.cfg{replication = {'unix/:' .. path}}
s = box.schema.create_space('s', {if_not_exists = true, format = {{name = 'id', type = 'unsigned'}, {'status', 'string'}, {name = 'data', type = '*'}}})
s:create_index('pk', {type = 'tree', parts = {1, 'unsigned'}}).name
s:create_index('status', {type = 'tree', parts = {2, 'string', 1, 'unsigned'}}).name
s:insert{1, 'r', {x = 1}}, s:insert{18446744073709551615ULL, 't', box.NULL}
s.index.status:min{'r'}, s.index.status:min{'z'}, s.index.pk:max(), s.index[1]:count('r'), s.index.pk.func
s:get{1}:transform(2, 1, 'done'), s:get{1}:transform(2, 2), s.engine, s.temporary, s.is_local
box.schema.user.create('u', {password = 'x', if_not_exists = true})
box.schema.user.grant('u', 'replication', nil, nil, {if_not_exists = true})
box.schema.func.create('queue.tube.x:take', {if_not_exists = true, setuid = true})
box.schema.user.grant('u', 'execute', 'function', 'queue.tube.x:take', {if_not_exists = true})
box.schema.user.grant('guest', 'execute', 'universe')
box.session.on_disconnect(function() left = (left or 0) + 1 end) ~= nil
c = netbox.connect('unix/:' .. path, {reconnect_after = 0.5, wait_connected = false})
c.replica, c.vconnect = {'mine'}, {future = 1}
type(c), c.state, c.replica[1], c.vconnect.future
c:on_connect(function(x) connected = x == c end) ~= nil, c:wait_connected(5), connected, c.state
c.peer_uuid == box.info.uuid, c.host, c.port == path, c._fiber ~= nil
f = c:call('box.info', {}, {is_async = true})
f:is_ready(), type(f:wait_result(5)), f:is_ready(), type(f:result()), f:discard()
c:eval('return nil, 5', nil, {timeout = 5})
c:call('nosuch', nil, {timeout = 5})
c:close(), c.state
fiber.sleep(0.1)
left
io.flush(), pcall(io.input, '/no/such/file') == true
arg[0] ~= nil, type(arg[-1]), rawget(_G, 'include') == nil
]]
check.finish()
