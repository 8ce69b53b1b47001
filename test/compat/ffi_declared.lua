-- SPDX-License-Identifier: BSD-2-Clause
-- What scripts may call by ffi.C without declaring it, and the types that go with it.
local check = require('check')
ffi = require('ffi')
function declared(name)
    return (pcall(function() return ffi.C[name] end))
end
for name in ([[getpwnam getpwuid getpwent setpwent endpwent getgrnam getgrgid getgrent setgrent endgrent getpid chdir
        umask strerror read write memcmp memmem snprintf socket bind connect listen accept shutdown send recv sendto
        setsockopt getsockopt getenv setenv gettimeofday]]):gmatch('%S+') do
    check.values(name, declared(name))
end
for _, name in ipairs{'uid_t', 'gid_t', 'pid_t', 'time_t', 'ssize_t', 'socklen_t', 'struct passwd', 'struct group'} do
    check.values(name, (pcall(ffi.typeof, name)), ffi.sizeof(name))
end
check [[
ffi.string(ffi.C.getpwnam('root').pw_dir), ffi.C.getpwuid(1).pw_gid, ffi.C.getpwnam('nobody such') == nil
ffi.string(ffi.C.getgrgid(0).gr_name), ffi.C.getgrnam('nobody such') == nil
ffi.C.getpid() == require('tarantool').pid(), ffi.C.umask(18) >= 0, ffi.C.umask(18), ffi.C.chdir('.')
ffi.string(ffi.C.strerror(2)), ffi.C.memcmp('abc', 'abd', 3) < 0, ffi.C.memmem('abc', 3, 'x', 1) == nil
b = ffi.new('char[20]')
ffi.C.snprintf(b, 20, '%d-%s', ffi.cast('int', 5), 'x'), ffi.string(b)
tonumber(ffi.C.read(-1, b, 1)), tonumber(ffi.C.write(-1, b, 1)), ffi.errno()
ffi.C.nosuch
]]
check.finish()
