-- SPDX-License-Identifier: BSD-2-Clause
--
-- The module `fio`: files, directories and paths. Work on files is done by worker
-- threads: these functions yield. A failure is nil (or false) and an error.
-- Manual: module fio.
local core = require('tarn.fio')
local ffi = require('ffi')

local fio = {
    c = {flag = core.flag, mode = core.mode, seek = core.seek_from},
    path = {},
}

local function check_string(value, usage)
    if type(value) ~= 'string' then
        error(usage, 3)
    end
end

-- The reference answers false, not nil, where an action (not a question) fails.
local function action(ok, err)
    if ok then
        return true
    end
    return false, err
end

-- Paths -----------------------------------------------------------------

function fio.basename(path, suffix)
    check_string(path, 'Usage: fio.basename(path[, suffix])')
    local name = path:match('[^/]*$')
    if type(suffix) == 'string' and #suffix > 0 and #name > #suffix
       and name:sub(-#suffix) == suffix then
        name = name:sub(1, -#suffix - 1)
    end
    return name
end

function fio.dirname(path)
    check_string(path, 'Usage: fio.dirname(path)')
    local trimmed = path:gsub('/+$', '')
    if trimmed == '' then
        return path:sub(1, 1) == '/' and '/' or '.'
    end
    local dir = trimmed:match('^(.*)/[^/]*$')
    if dir == nil then
        return '.'
    end
    dir = dir:gsub('/+$', '')
    return dir == '' and '/' or dir
end

function fio.pathjoin(...)
    local parts = {}
    for i = 1, select('#', ...) do
        local part = select(i, ...)
        if part == nil then
            error('Undefined path part ' .. i, 2)
        end
        part = tostring(part)
        if part ~= '' then
            parts[#parts + 1] = part
        end
    end
    if #parts == 0 then
        return '.'
    end
    local path = table.concat(parts, '/'):gsub('/+', '/')
    if path ~= '/' then
        path = path:gsub('/$', '')
    end
    return path
end

function fio.abspath(path)
    check_string(path, 'Usage: fio.abspath(path)')
    if path:sub(1, 1) ~= '/' then
        path = core.cwd() .. '/' .. path
    end
    local parts = {}
    for part in path:gmatch('[^/]+') do
        if part == '..' then
            parts[#parts] = nil
        elseif part ~= '.' then
            parts[#parts + 1] = part
        end
    end
    return '/' .. table.concat(parts, '/')
end

-- Attributes --------------------------------------------------------------

local function has_type(name)
    local bits, mask = core.type[name], core.type.S_IFMT
    return function(st)
        return bit.band(st.mode, mask) == bits
    end
end

local stat_mt = {__index = {
    is_blk = has_type('S_IFBLK'), is_chr = has_type('S_IFCHR'), is_dir = has_type('S_IFDIR'),
    is_fifo = has_type('S_IFIFO'), is_link = has_type('S_IFLNK'), is_reg = has_type('S_IFREG'),
    is_sock = has_type('S_IFSOCK'),
}}

local function stat_object(st, err)
    if st == nil then
        return nil, err
    end
    return setmetatable(st, stat_mt)
end

function fio.stat(path)
    check_string(path, 'Usage: fio.stat(pathname)')
    return stat_object(core.stat(path))
end

function fio.lstat(path)
    check_string(path, 'Usage: fio.lstat(pathname)')
    return stat_object(core.lstat(path))
end

function fio.path.exists(path)
    return core.stat(path) ~= nil
end

function fio.path.lexists(path)
    return core.lstat(path) ~= nil
end

local function is_a(stat, method)
    return function(path)
        local st = stat(path)
        return st ~= nil and stat_mt.__index[method](st)
    end
end
fio.path.is_file = is_a(core.stat, 'is_reg')
fio.path.is_dir = is_a(core.stat, 'is_dir')
fio.path.is_link = is_a(core.lstat, 'is_link')

-- Files -------------------------------------------------------------------

-- A number from a number, a name or a list of names.
local function bits_of(value, names, default, what)
    if value == nil then
        return default
    elseif type(value) == 'number' then
        return value
    elseif type(value) ~= 'table' then
        value = {value}
    end
    local bits = 0
    for _, name in ipairs(value) do
        if names[name] == nil then
            error(('fio.open(): unknown %s: %s'):format(what, tostring(name)), 3)
        end
        bits = bit.bor(bits, names[name])
    end
    return bits
end

local file = {}
local file_mt = {__index = file}

-- A file that nobody closes is closed by the collector.
local descriptor = ffi.typeof('int[1]')
local function close_forgotten(d)
    core.close(d[0])
end

function fio.open(path, flags, mode)
    check_string(path, 'Usage: fio.open(path[, flags[, mode]])')
    flags = bits_of(flags, core.flag, core.flag.O_RDONLY, 'flag')
    mode = bits_of(mode, core.mode, 0x1ff, 'mode')
    local fd, err = core.open(path, flags, mode)
    if fd == nil then
        return nil, err
    end
    return setmetatable({fh = fd, _gc = ffi.gc(descriptor(fd), close_forgotten)}, file_mt)
end

-- read(size): a string. read(buf, size): into a char buffer, the number of bytes.
-- With neither: to the end of the file.
local function read_from(fh, buf, size, offset)
    if not ffi.istype('char *', buf) then
        buf, size = nil, buf
    end
    if size == nil then
        local st, err = core.fstat(fh)
        if st == nil then
            return nil, err
        end
        size = math.max(st.size, 4096)
    end
    if type(size) ~= 'number' or size < 0 then
        error('fio: the size to read must be a number that is not negative', 3)
    end
    local data, err = core.read(fh, size, offset)
    if data == nil then
        return nil, err
    elseif buf == nil then
        return data
    end
    ffi.copy(buf, data, #data)
    return #data
end

function file:read(buf, size)
    return read_from(self.fh, buf, size)
end

function file:pread(buf, size, offset)
    if not ffi.istype('char *', buf) then
        offset = size
    end
    return read_from(self.fh, buf, size, offset or 0)
end

local function data_of(data, size)
    if ffi.istype('const char *', data) or ffi.istype('char *', data) then
        return ffi.string(data, size), true
    end
    return tostring(data), false
end

function file:write(data, size)
    return action(core.write(self.fh, (data_of(data, size))))
end

function file:pwrite(data, size, offset)
    local text, is_buffer = data_of(data, size)
    return action(core.write(self.fh, text, is_buffer and offset or size or 0))
end

function file:seek(offset, whence)
    if whence == nil then
        whence = core.seek_from.SEEK_SET
    elseif type(whence) == 'string' then
        whence = core.seek_from[whence]
        if whence == nil then
            error('fio.seek(): unknown whence', 2)
        end
    end
    return core.seek(self.fh, tonumber(offset) or 0, tonumber(whence))
end

function file:truncate(size)
    return action(core.ftruncate(self.fh, size or 0))
end

function file:fsync()
    return action(core.fsync(self.fh, false))
end

function file:fdatasync()
    return action(core.fsync(self.fh, true))
end

function file:stat()
    return stat_object(core.fstat(self.fh))
end

function file:close()
    local fh = self.fh
    self.fh = -1
    if self._gc ~= nil then
        ffi.gc(self._gc, nil)
        self._gc = nil
    end
    return action(core.close(fh))
end

-- Names and directories -------------------------------------------------------

-- An action on one path, or two, that takes nothing else.
local function path_action(name, usage, count)
    local call = core[name]
    fio[name] = function(path, path2)
        check_string(path, usage)
        if count == 2 then
            check_string(path2, usage)
        end
        return action(call(path, path2))
    end
end
path_action('rmdir', 'Usage: fio.rmdir(pathname)', 1)
path_action('unlink', 'Usage: fio.unlink(pathname)', 1)
path_action('rename', 'Usage: fio.rename(oldpath, newpath)', 2)
path_action('link', 'Usage: fio.link(target, linkpath)', 2)
path_action('symlink', 'Usage: fio.symlink(target, linkpath)', 2)

function fio.mkdir(path, mode)
    check_string(path, 'Usage fio.mkdir(pathname[, mode])')
    return action(core.mkdir(path, mode or 0x1ff))
end

function fio.readlink(path)
    check_string(path, 'Usage: fio.readlink(pathname)')
    return core.readlink(path)
end

function fio.chmod(path, mode)
    check_string(path, 'Usage: fio.chmod(pathname, mode)')
    return action(core.chmod(path, bits_of(mode, core.mode, 0x1ff, 'mode')))
end

-- Owner and group are numbers, or names that the system's tables have.
local function id_of(what, file_name, value)
    if type(value) == 'number' then
        return value
    end
    for line in io.lines(file_name) do
        local name, id = line:match('^([^:]*):[^:]*:(%d+)')
        if name == value then
            return tonumber(id)
        end
    end
    error(('fio.chown(): %s was not found: %s'):format(what, tostring(value)), 3)
end

function fio.chown(path, owner, group)
    check_string(path, 'Usage: fio.chown(pathname, owner, group)')
    return action(core.chown(path, id_of('user', '/etc/passwd', owner),
                             id_of('group', '/etc/group', group)))
end

function fio.utime(path, atime, mtime)
    check_string(path, 'Usage: fio.utime(filepath[, atime[, mtime]])')
    atime = atime or require('fiber').time()
    return action(core.utime(path, atime, mtime or atime))
end

function fio.truncate(path, size)
    check_string(path, 'Usage: fio.truncate(pathname[, newsize])')
    return action(core.truncate(path, size or 0))
end

function fio.listdir(path)
    check_string(path, 'Usage: fio.listdir(path)')
    local names, err = core.listdir(path)
    if names == nil then
        return nil, ("can't listdir %s: %s"):format(path, tostring(err))
    end
    return names
end

function fio.glob(pattern)
    check_string(pattern, 'Usage: fio.glob(pattern)')
    return core.glob(pattern)
end

function fio.tempdir()
    return core.tempdir(os.getenv('TMPDIR') or '/tmp')
end

function fio.mktree(path, mode)
    check_string(path, 'Usage: fio.mktree(path[, mode])')
    path = fio.abspath(path)
    local current = ''
    for part in path:gmatch('[^/]+') do
        current = current .. '/' .. part
        if not fio.path.exists(current) then
            local ok, err = fio.mkdir(current, mode)
            if not ok then
                return false, ('Error creating directory %s: %s'):format(current, tostring(err))
            end
        end
    end
    return true
end

function fio.rmtree(path)
    check_string(path, 'Usage: fio.rmtree(path)')
    local names, err = fio.listdir(path)
    if names == nil then
        return nil, err
    end
    for _, name in ipairs(names) do
        local inner = fio.pathjoin(path, name)
        local st = fio.lstat(inner)
        local ok
        if st ~= nil and st:is_dir() then
            ok, err = fio.rmtree(inner)
        else
            ok, err = fio.unlink(inner)
        end
        if not ok then
            return ok, err
        end
    end
    local ok
    ok, err = fio.rmdir(path)
    if not ok then
        return false, ('failed to remove %s: %s'):format(path, tostring(err))
    end
    return true
end

function fio.copyfile(from, to)
    check_string(from, 'Usage: fio.copyfile(from, to)')
    check_string(to, 'Usage: fio.copyfile(from, to)')
    if fio.path.is_dir(to) then
        to = fio.pathjoin(to, fio.basename(from))
    end
    local ok, err = core.copyfile(from, to)
    if not ok then
        return false, ('failed to copy %s to %s: %s'):format(from, to, tostring(err))
    end
    return true
end

function fio.copytree(from, to)
    check_string(from, 'Usage: fio.copytree(from, to)')
    check_string(to, 'Usage: fio.copytree(from, to)')
    if fio.stat(from) == nil then
        return false, ('Directory %s does not exist'):format(from)
    end
    local names, err = fio.listdir(from)
    if names == nil then
        return false, err
    end
    local ok
    ok, err = fio.mktree(to)
    if not ok then
        return false, err
    end
    for _, name in ipairs(names) do
        local source, target = fio.pathjoin(from, name), fio.pathjoin(to, name)
        local st = fio.lstat(source)
        if st == nil then
            return false, ('failed to copy %s: it is gone'):format(source)
        elseif st:is_dir() then
            ok, err = fio.copytree(source, target)
        elseif st:is_link() then
            ok, err = fio.symlink(core.readlink(source), target)
        else
            ok, err = fio.copyfile(source, target)
        end
        if not ok then
            return false, err
        end
    end
    return true
end

function fio.sync()
    return action(core.sync())
end

function fio.umask(mask)
    if mask == nil then
        local before = core.umask(0)
        core.umask(before)
        return before
    end
    return core.umask(tonumber(mask))
end

function fio.chdir(path)
    check_string(path, 'Usage: fio.chdir(path)')
    return action(core.chdir(path))
end

fio.cwd = core.cwd

return fio
