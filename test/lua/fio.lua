-- SPDX-License-Identifier: BSD-2-Clause
-- fio where it is stricter than the reference, or the reference fails: names of modes, zero bytes in
-- paths, numbers that are none, huge and negative sizes, handles that are closed or forgotten.
local tap = require('tap')
local fio = require('fio')
local fiber = require('fiber')

local dir = fio.tempdir()
local path = dir .. '/file'
local test = tap.test('fio')

local function octal(text)
    return tonumber(text, 8)
end

local function descriptors()
    return #fio.listdir('/proc/self/fd')
end

local function fails(test, name, pattern, f, ...)
    local ok, err = pcall(f, ...)
    test:ok(not ok and tostring(err):find(pattern, 1, true), name, {ok, err})
end

-- nil, false or -1, and an error with the text.
local function answers(test, name, text, value, err)
    test:ok((not value or value == -1) and tostring(err):find(text, 1, true), name, {value, err})
end

local function permissions(of)
    return fio.stat(of).mode % 512
end

local function put(text)
    local f = fio.open(path, {'O_CREAT', 'O_TRUNC', 'O_WRONLY'}, octal('644'))
    f:write(text)
    f:close()
end

test:plan(10)
put('hello world')

test:test('modes', function(test)
    test:plan(8)
    fio.umask(octal('022'))
    fio.open(dir .. '/new', {'O_CREAT', 'O_WRONLY'}):close()
    test:is(permissions(dir .. '/new'), octal('755'), 'of a new file: all that the mask leaves')
    test:ok(fio.mkdir(dir .. '/named', {'S_IRUSR', 'S_IXUSR'}), 'mkdir with names')
    test:is(permissions(dir .. '/named'), octal('500'), 'has them')
    test:ok(fio.mkdir(dir .. '/one', 'S_IRWXU') and permissions(dir .. '/one') == octal('700'), 'one name')
    fails(test, 'a name that is none', 'fio.mkdir(): unknown mode: S_X', fio.mkdir, dir .. '/x', 'S_X')
    test:ok(fio.chmod(path, {'S_IRUSR', 'S_IWUSR'}) and permissions(path) == octal('600'), 'chmod with names')
    fails(test, 'chmod of none', 'fio.chmod(): unknown mode: S_X', fio.chmod, path, {'S_X'})
    test:is(permissions(path), octal('600'), 'has changed nothing')
end)

test:test('a zero byte in a path', function(test)
    local calls = {
        {fio.open, 'O_RDONLY'}, {fio.stat}, {fio.lstat}, {fio.mkdir}, {fio.rmdir}, {fio.unlink},
        {fio.rename, 'x'}, {fio.link, 'x'}, {fio.symlink, 'x'}, {fio.readlink}, {fio.chmod, 1},
        {fio.chown, 0, 0}, {fio.utime}, {fio.truncate, 0}, {fio.listdir}, {fio.glob}, {fio.chdir},
        {fio.copyfile, dir .. '/x'}, {fio.mktree}, {fio.rmtree},
    }
    test:plan(#calls + 7)
    for i, call in ipairs(calls) do
        fails(test, 'call ' .. i, 'zero byte', call[1], path .. '\0x', unpack(call, 2))
    end
    for _, name in ipairs{'exists', 'lexists', 'is_file', 'is_dir', 'is_link'} do
        test:is(fio.path[name](path .. '\0x'), false, name)
    end
    fails(test, 'where a copy goes', 'zero byte', fio.copyfile, path, path .. '\0x')
    fails(test, 'a second path', 'zero byte', fio.rename, path, path .. '\0x')
end)

test:test('names that are not UTF-8, or long', function(test)
    test:plan(5)
    local odd = dir .. '/\255\254\n'
    local f = fio.open(odd, {'O_CREAT', 'O_WRONLY'})
    test:ok(f and f:close() and fio.path.is_file(odd), 'a file')
    test:is(fio.glob(dir .. '/\255*')[1], odd, 'is found')
    test:ok(fio.unlink(odd), 'and goes')
    answers(test, 'a name of 300 bytes', 'File name too long', fio.open(dir .. '/' .. ('x'):rep(300), 'O_RDONLY'))
    answers(test, 'a path of 1 MB', 'File name too long', fio.mkdir(('x/'):rep(500000)))
end)

test:test('sizes and offsets', function(test)
    test:plan(21)
    local f = fio.open(path, {'O_RDWR'})
    for name, size in pairs{['below zero'] = -1, NaN = 0 / 0, text = 'x', table = {}} do
        fails(test, 'read ' .. name, 'must be a number from 0 on', f.read, f, size)
        fails(test, 'pread ' .. name, 'must be a number from 0 on', f.pread, f, size, 0)
    end
    test:is(f:read(1e14), 'hello world', 'read of 100 TB')
    test:is(f:pread(math.huge, 6), 'world', 'pread without end')
    answers(test, 'pread before the start', 'Invalid argument', f:pread(5, -1))
    answers(test, 'pwrite before the start', 'Invalid argument', f:pwrite('x', -1))
    fails(test, 'pread at a table', 'the offset must be a number', f.pread, f, 5, {})
    fails(test, 'pwrite at NaN', 'the offset must be a number', f.pwrite, f, 'x', 0 / 0)
    answers(test, 'seek before the start', 'Invalid argument', f:seek(-1))
    answers(test, 'truncate below zero', 'Invalid argument', f:truncate(-1))
    fails(test, 'truncate to a text', 'number expected', f.truncate, f, 'x')
    fails(test, 'truncate to a table', 'number expected', fio.truncate, path, {})
    test:is(f:pread(100, 0), 'hello world', 'nothing has changed')
    test:is(f:pread(5, 2 ^ 40), '', 'pread far behind the end')
    test:ok(f:close(), 'closed')
end)

test:test('closed handles', function(test)
    test:plan(12)
    local f = fio.open(path, {'O_RDWR'})
    f:close()
    for _, call in ipairs{{'read'}, {'read', 1}, {'pread', 1, 0}, {'write', 'x'}, {'pwrite', 'x', 0}, {'seek', 0},
                          {'truncate', 0}, {'fsync'}, {'fdatasync'}, {'stat'}, {'close'}} do
        answers(test, call[1], 'Bad file descriptor', f[call[1]](f, unpack(call, 2)))
    end
    test:is(f.fh, -1, 'no number of a file that another may have')
end)

test:test('forgotten handles', function(test)
    test:plan(2)
    collectgarbage()
    local before = descriptors()
    for _ = 1, 20 do
        fio.open(path, {'O_RDONLY'})
    end
    test:ok(descriptors() > before, 'are open')
    collectgarbage()
    collectgarbage()
    test:is(descriptors(), before, 'until they are collected')
end)

test:test('owners and times', function(test)
    test:plan(7)
    answers(test, 'no such user', 'user was not found: nobody such', fio.chown(path, 'nobody such', 0))
    answers(test, 'no such group', 'group was not found: nobody such', fio.chown(path, 0, 'nobody such'))
    test:ok(fio.utime(path, -1, -2) and fio.stat(path).mtime == -2, 'before 1970')
    fails(test, 'at a text', 'atime should be a number', fio.utime, path, '5')
    test:ok(pcall(fio.utime, path, 0 / 0, math.huge), 'NaN does no harm')
    fails(test, 'a mask that is none', 'Usage: fio.umask', fio.umask, 'x')
    fails(test, 'another', 'Usage: fio.umask', fio.umask, {})
end)

test:test('errors', function(test)
    test:plan(4)
    local ok, err = fio.chdir('/nosuch')
    test:is(ok, false, 'chdir')
    test:is(err.type, 'SystemError', 'says why')
    test:is(err.errno, 2, 'with the number')
    answers(test, 'rmtree of nothing', "can't listdir", fio.rmtree(''))
end)

test:test('in many fibers', function(test)
    test:plan(2)
    local before, done = descriptors(), 0
    local fibers = {}
    for i = 1, 50 do
        fibers[i] = fiber.new(function()
            local name = dir .. '/many' .. i
            local f = fio.open(name, {'O_CREAT', 'O_RDWR'})
            f:write(('x'):rep(1000 * i))
            local size = #f:pread(1e6, 0)
            done = done + (size == 1000 * i and 1 or 0)
            f:close()
            fio.unlink(name)
        end)
        fibers[i]:set_joinable(true)
    end
    for _, f in ipairs(fibers) do
        f:join()
    end
    test:is(done, 50, 'each has its own')
    test:is(descriptors(), before, 'nothing stays open')
end)

test:ok(fio.rmtree(dir), 'gone')
os.exit(test:check() and 0 or 1)
