-- SPDX-License-Identifier: BSD-2-Clause
-- fio: the parts that tests and applications' start-up use.
local check = require('check')
fio = require('fio')
errno = require('errno')
check [[
fio.basename('/a/b/c.txt'), fio.basename('/a/b/c.txt', '.txt'), fio.basename('c'), fio.basename('/a/b/'), fio.basename('')
fio.dirname('/a/b/c.txt'), fio.dirname('c'), fio.dirname('/'), fio.dirname('/a')
fio.pathjoin('a', 'b', 'c'), fio.pathjoin('/a/', '/b/'), fio.pathjoin('/'), fio.pathjoin('a', '..', 'b')
fio.abspath('/a/../b/./c'), fio.cwd() == fio.abspath('.')
d = fio.tempdir()
fio.path.is_dir(d), fio.path.exists(d), fio.path.is_file(d), fio.path.is_link(d)
p = fio.pathjoin(d, 'file')
fio.path.exists(p)
f = fio.open(p, {'O_CREAT', 'O_RDWR', 'O_TRUNC'}, tonumber('644', 8))
f:write('hello world')
f:seek(0)
f:read()
f:read()
f:seek(6, 'SEEK_SET'), f:read(3)
f:pread(5, 0)
f:pwrite('HE', 0)
f:pread(5, 0)
f:stat().size, f:stat():is_reg(), f:stat():is_dir()
f:truncate(5)
f:stat().size
f:fsync(), f:fdatasync()
f:close()
f:close()
fio.stat(p).size, fio.lstat(p).size, fio.path.is_file(p)
(fio.stat(p .. 'x'))
fio.open(p .. 'x')
fio.open(p .. 'x', {'O_RDONLY'})
errno(), errno.strerror(errno.ENOENT)
fio.open(d .. '/no/such', {'O_CREAT', 'O_WRONLY'}) == nil
f = fio.open(p, 'O_WRONLY')
f:read(1) == nil, f:write('x')
f:close()
fio.rename(p, p .. '2'), fio.path.exists(p), fio.path.exists(p .. '2')
fio.rename(p, p .. '3') == nil
fio.copyfile(p .. '2', p), fio.path.exists(p)
fio.mkdir(d .. '/sub'), fio.mkdir(d .. '/sub') == nil
fio.mktree(d .. '/x/y/z'), fio.path.is_dir(d .. '/x/y/z')
names = fio.listdir(d) table.sort(names)
names
names = fio.glob(d .. '/f*') table.sort(names) for i, n in ipairs(names) do names[i] = fio.basename(n) end
names
fio.glob(d .. '/nothing*')
(fio.listdir(d .. '/nosuch'))
fio.symlink(p, d .. '/link'), fio.path.is_link(d .. '/link'), fio.readlink(d .. '/link') == p
fio.chmod(p, tonumber('600', 8)), fio.stat(p).mode % 512
fio.unlink(d .. '/link'), fio.unlink(d .. '/link')
fio.rmdir(d), fio.rmdir(d .. '/sub')
fio.rmtree(d), fio.path.exists(d)
fio.umask(18), fio.umask(18)
fio.open()
fio.open(p, {'O_NONSENSE'})
fio.basename()
fio.dirname()
fio.pathjoin()
fio.mkdir()
]]
check.finish()
