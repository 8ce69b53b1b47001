-- SPDX-License-Identifier: BSD-2-Clause
--
-- The module `fio`: files, directories and paths. Work on files is done by worker
-- threads: these functions yield. A failure is nil (or false) and an error.
-- Manual: module fio.
local core = require('tarn.fio')
local errno = require('errno')
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

-- A path; the reference takes numbers, too.
local function path_of(value, usage)
    if type(value) == 'number' then
        return tostring(value)
    elseif type(value) ~= 'string' then
        error(usage, 3)
    end
    return value
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
    if suffix ~= nil then
        suffix = tostring(suffix)
        if suffix ~= '' and name:sub(-#suffix) == suffix then
            name = name:sub(1, -#suffix - 1)
        end
    end
    return name
end

function fio.dirname(path)
    check_string(path, 'Usage: fio.dirname(path)')
    local dir = path:gsub('/+$', ''):match('^(.*)/[^/]*$')
    if dir == nil and path:sub(1, 1) ~= '/' then
        return '.'
    end
    dir = (dir or ''):gsub('/+$', '')
    if dir == '' then
        -- Two slashes at the start are a root of their own, as POSIX has it.
        return path:find('^//[^/]') and '//' or path == '//' and '//' or '/'
    end
    return dir
end

function fio.pathjoin(...)
    local parts = {}
    for i = 1, select('#', ...) do
        local part = select(i, ...)
        if part == nil then
            error('fio.pathjoin(): undefined path part ' .. i, 2)
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
    path = path_of(path, 'Usage: fio.abspath(path)')
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

local function has_type(name, method)
    local bits, mask = core.type[name], core.type.S_IFMT
    return function(st)
        if type(st) ~= 'table' then
            error(('usage: stat:%s()'):format(method), 2)
        end
        return bit.band(st.mode, mask) == bits
    end
end

local stat_mt = {__index = {
    is_blk = has_type('S_IFBLK', 'is_blk'), is_chr = has_type('S_IFCHR', 'is_chr'),
    is_dir = has_type('S_IFDIR', 'is_dir'), is_fifo = has_type('S_IFIFO', 'is_fifo'),
    is_link = has_type('S_IFLNK', 'is_link'), is_reg = has_type('S_IFREG', 'is_reg'),
    is_sock = has_type('S_IFSOCK', 'is_sock'),
}}

local function stat_object(st, err)
    if st == nil then
        return nil, err
    end
    return setmetatable(st, stat_mt)
end

local STAT_USAGE, LSTAT_USAGE = 'Usage: fio.stat(pathname)', 'pathname is absent'

function fio.stat(path)
    return stat_object(core.stat(path_of(path, STAT_USAGE)))
end

function fio.lstat(path)
    return stat_object(core.lstat(path_of(path, LSTAT_USAGE)))
end

-- A question about a path. One with a zero byte in it, which no call of the system can
-- ask for, is nowhere.
local function question(stat, usage, method)
    return function(path)
        path = path_of(path, usage)
        local st = not path:find('\0', 1, true) and stat(path) or nil
        return st ~= nil and (method == nil or stat_mt.__index[method](st))
    end
end
fio.path.exists = question(core.stat, STAT_USAGE)
fio.path.lexists = question(core.lstat, LSTAT_USAGE)
fio.path.is_file = question(core.stat, STAT_USAGE, 'is_reg')
fio.path.is_dir = question(core.stat, STAT_USAGE, 'is_dir')
fio.path.is_link = question(core.lstat, LSTAT_USAGE, 'is_link')

-- Files -------------------------------------------------------------------

-- A number from a number, a name or a list of them.
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
        local known = type(name) == 'number' and name or names[name]
        if known == nil then
            error(('fio.%s: unknown %s: %s'):format(what[1], what[2], tostring(name)), 3)
        end
        bits = bit.bor(bits, known)
    end
    return bits
end

ffi.cdef('struct fio_handle { int fh; };')
local file = {}

-- A file that nobody closes is closed by the collector.
local file_type = ffi.metatype('struct fio_handle', {
    __index = file,
    __gc = function(self)
        if self.fh >= 0 then
            core.close(self.fh)
        end
    end,
    __serialize = function(self)
        return {fh = self.fh}
    end,
})

function fio.open(path, flags, mode)
    check_string(path, 'Usage: fio.open(path[, flags[, mode]])')
    flags = bits_of(flags, core.flag, core.flag.O_RDONLY, {'open()', 'flag'})
    mode = bits_of(mode, core.mode, 0x1ff, {'open()', 'mode'})
    local fd, err = core.open(path, flags, mode)
    if fd == nil then
        return nil, err
    end
    return file_type(fd)
end

-- What one call reads at most, like the system's own: the longest string.
local SIZE_MAX = 0x7fffff00

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
    if type(size) ~= 'number' or not (size >= 0) then
        error('fio: the size to read must be a number from 0 on', 3)
    end
    size = math.min(size, SIZE_MAX)
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

-- Where to read or write; from 0 on where nothing is said.
local function check_offset(offset)
    if offset == nil then
        return 0
    end
    local number = tonumber(offset)
    if number == nil or number ~= number then
        error('fio: the offset must be a number', 3)
    end
    return number
end

function file:pread(buf, size, offset)
    if not ffi.istype('char *', buf) then
        offset = size
    end
    return read_from(self.fh, buf, size, check_offset(offset))
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
    if not is_buffer then
        offset = size
    end
    return action(core.write(self.fh, text, check_offset(offset)))
end

function file:seek(offset, whence)
    if whence == nil then
        whence = core.seek_from.SEEK_SET
    elseif type(whence) == 'string' then
        local name = whence
        whence = core.seek_from[name]
        if whence == nil then
            error('fio.seek(): unknown whence: ' .. name, 2)
        end
    end
    local position, err = core.seek(self.fh, tonumber(offset) or 0, tonumber(whence) or core.seek_from.SEEK_SET)
    if position == nil then
        return -1, err
    end
    return position
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
    return action(core.close(fh))
end

-- Names and directories -------------------------------------------------------

-- An action on one path, or two, that takes nothing else.
local function path_action(name, usage, count)
    local call = core[name]
    fio[name] = function(path, path2)
        path = path_of(path, usage)
        if count == 2 then
            path2 = path_of(path2, usage)
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
    path = path_of(path, 'Usage fio.mkdir(pathname[, mode])')
    return action(core.mkdir(path, bits_of(mode, core.mode, 0x1ff, {'mkdir()', 'mode'})))
end

function fio.readlink(path)
    return core.readlink(path_of(path, 'Usage: fio.readlink(pathname)'))
end

function fio.chmod(path, mode)
    if mode == nil then
        error('Usage: fio.chmod(pathname, mode)', 2)
    end
    path = path_of(path, 'Usage: fio.chmod(pathname, mode)')
    return action(core.chmod(path, bits_of(mode, core.mode, nil, {'chmod()', 'mode'})))
end

-- Owner and group are numbers, or names that the system's tables have; nil where they have not.
local function id_of(file_name, value)
    if type(value) == 'number' then
        return value
    end
    for line in io.lines(file_name) do
        local name, id = line:match('^([^:]*):[^:]*:(%d+)')
        if name == value then
            return tonumber(id)
        end
    end
end

function fio.chown(path, owner, group)
    local usage = 'Usage: fio.chown(pathname, owner, group)'
    if owner == nil or group == nil then
        error(usage, 2)
    end
    path = path_of(path, usage)
    local uid, gid = id_of('/etc/passwd', owner), id_of('/etc/group', group)
    if uid == nil then
        return nil, 'fio.chown(): user was not found: ' .. tostring(owner)
    elseif gid == nil then
        return nil, 'fio.chown(): group was not found: ' .. tostring(group)
    end
    return action(core.chown(path, uid, gid))
end

local function check_time(value, name)
    if value ~= nil and type(value) ~= 'number' then
        error(('fio.utime: %s should be a number'):format(name), 3)
    end
end

function fio.utime(path, atime, mtime)
    path = path_of(path, 'Usage: fio.utime(filepath[, atime[, mtime]])')
    check_time(atime, 'atime')
    check_time(mtime, 'mtime')
    atime = atime or require('fiber').time()
    return action(core.utime(path, atime, mtime or atime))
end

function fio.truncate(path, size)
    path = path_of(path, 'Usage: fio.truncate(pathname[, newlen])')
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
    path = fio.abspath(path_of(path, 'Usage: fio.mktree(path[, mode])'))
    local current = ''
    for part in path:gmatch('[^/]+') do
        current = current .. '/' .. part
        local st = fio.stat(current)
        if st ~= nil and not st:is_dir() then
            return false, ('Error creating directory %s: %s'):format(current, errno.strerror(errno.EEXIST))
        elseif st == nil then
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

local function copy_link(from, to)
    local target, err = core.readlink(from)
    if target == nil then
        return nil, err
    elseif fio.lstat(to) ~= nil then
        return nil, "can't create symlink in place of existing file " .. to
    end
    return fio.symlink(target, to)
end

function fio.copytree(from, to)
    check_string(from, 'Usage: fio.copytree(from, to)')
    check_string(to, 'Usage: fio.copytree(from, to)')
    local st = fio.stat(from)
    if st == nil then
        return false, ('Directory %s does not exist'):format(from)
    elseif not st:is_dir() then
        return false, errno.strerror(errno.ENOTDIR)
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
        st = fio.lstat(source)
        if st == nil then
            return false, ('failed to copy %s: it is gone'):format(source)
        elseif st:is_dir() then
            ok, err = fio.copytree(source, target)
        elseif st:is_link() then
            ok, err = copy_link(source, target)
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
    local number = tonumber(mask)
    if number == nil then
        error('Usage: fio.umask([mask])', 2)
    end
    return core.umask(number)
end

function fio.chdir(path)
    check_string(path, 'Usage: fio.chdir(path)')
    return action(core.chdir(path))
end

fio.cwd = core.cwd

return fio
