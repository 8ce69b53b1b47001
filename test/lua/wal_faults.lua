-- SPDX-License-Identifier: BSD-2-Clause
-- A log that can't be written: commits fail and are undone, reads go on, and writing goes on
-- once the cause is gone. The system's limits of a process are the cause here.
local ffi = require('ffi')
local fiber = require('fiber')
local fio = require('fio')
local tap = require('tap')

ffi.cdef[[
struct limit { uint64_t soft, hard; };
int getrlimit(int what, struct limit *limit);
int setrlimit(int what, const struct limit *limit);
]]
local FSIZE, NOFILE = 1, 7

-- Sets the soft limit; returns what it was.
local function set_limit(what, value)
    local limit = ffi.new('struct limit')
    assert(ffi.C.getrlimit(what, limit) == 0)
    local old = limit.soft
    limit.soft = value
    assert(ffi.C.setrlimit(what, limit) == 0)
    return old
end

box.cfg{log = 'faults.log', log_level = 4, wal_max_size = 20000, checkpoint_interval = 0}
local s = box.schema.space.create('s')
s:create_index('pk')
s:create_index('sk', {parts = {{2, 'string'}}})
for i = 1, 10 do
    s:insert{i, 'row ' .. i}
end

local test = tap.test('wal_faults')
test:plan(4)

local function code(f, ...)
    local ok, e = pcall(f, ...)
    return not ok and e.code or nil
end

local function newest()
    local files = fio.glob('*.xlog')
    table.sort(files)
    return files[#files]
end

test:test('a file that may not grow', function(t)
    t:plan(14)
    local lsn = box.info.lsn
    local old = set_limit(FSIZE, fio.stat(newest()).size + 30)
    t:is(code(s.insert, s, {11, 'x'}), box.error.WAL_IO)
    t:is(code(s.delete, s, {1}), box.error.WAL_IO)
    t:is(code(s.update, s, 2, {{'=', 2, 'changed'}}), box.error.WAL_IO)
    box.begin()
    local undone = 0
    box.on_rollback(function(it) for _ in it() do undone = undone + 1 end end)
    s:insert{12, 'y'}
    s:replace{3, 'changed'}
    t:is(code(box.commit), box.error.WAL_IO)
    t:is(undone, 2, 'triggers hear of it')
    t:ok(not box.is_in_txn())
    local codes = {}
    local fibers = {}
    for i = 1, 20 do
        fibers[i] = fiber.new(function() codes[i] = code(s.replace, s, {4, 'by fiber ' .. i}) end)
        fibers[i]:set_joinable(true)
    end
    for i = 1, 20 do
        fibers[i]:join()
    end
    local all = true
    for i = 1, 20 do
        all = all and codes[i] == box.error.WAL_IO
    end
    t:ok(all, 'a batch of them')
    t:is(s:len(), 10, 'nothing came')
    t:is(s.index.sk:len(), 10)
    t:is_deeply({s:get(1)[2], s:get(2)[2], s:get(3)[2], s:get(4)[2]},
                {'row 1', 'row 2', 'row 3', 'row 4'}, 'nothing was changed')
    t:is(box.info.lsn, lsn)
    set_limit(FSIZE, old)
    t:is(code(s.insert, s, {11, 'x'}), nil, 'writing goes on')
    t:is(box.info.lsn, lsn + 1, 'numbers have no holes')
    t:is(s.index.sk:get('x')[1], 11)
end)

-- Lines of the log with a text.
local function count_lines(text)
    local count = 0
    for line in io.lines('faults.log') do
        if line:find(text, 1, true) then
            count = count + 1
        end
    end
    return count
end

test:test('what the log says', function(t)
    t:plan(5)
    local first, again = count_lines('File too large'), count_lines('can be written again')
    t:is(again, first, 'a word when writing works again')
    local old = set_limit(FSIZE, fio.stat(newest()).size + 30)
    local failed = 0
    for i = 1, 1000 do
        failed = failed + (code(s.insert, s, {100 + i, 'new ' .. i}) == box.error.WAL_IO and 1 or 0)
    end
    t:is(failed, 1000)
    set_limit(FSIZE, old)
    local lines = count_lines('File too large') - first
    t:ok(lines >= 1 and lines < 20, 'not a line for each commit')
    s:replace{11, 'x'}
    t:is(count_lines('can be written again') - again, 1)
    t:is(count_lines(' s: 1000'), 1, 'how many there were')
end)

test:test('no descriptor for the next file', function(t)
    t:plan(5)
    -- The file is full: the next commit begins another.
    local noise = {}
    for i = 1, 10000 do
        noise[i] = tostring(math.random())
    end
    s:replace{13, table.concat(noise)}
    local old = set_limit(NOFILE, 3)
    t:is(code(s.insert, s, {14, 'w'}), box.error.WAL_IO)
    t:ok(not pcall(box.snapshot))
    t:is(s:get(14), nil)
    set_limit(NOFILE, old)
    t:is(code(s.insert, s, {14, 'w'}), nil)
    t:is(box.snapshot(), 'ok')
end)

test:test('all is there after a restart', function(t)
    t:plan(1)
    local reader = [[
        box.cfg{log_level = 0}
        local s = box.space.s
        print(s:len(), s:get(1)[2], s:get(11)[2], s:get(12), s:get(14)[2])
        os.exit(0)
    ]]
    local copy = fio.tempdir()
    for _, name in ipairs(fio.glob('*.xlog')) do
        fio.copyfile(name, copy)
    end
    for _, name in ipairs(fio.glob('*.snap')) do
        fio.copyfile(name, copy)
    end
    local pipe = io.popen(("cd %s && %s -e '%s'"):format(copy, arg[-1], reader:gsub("'", '"')))
    t:is(pipe:read('*l'), '13\trow 1\tx\tnil\tw')
    pipe:close()
    fio.rmtree(copy)
end)

os.exit(test:check() and 0 or 1)
