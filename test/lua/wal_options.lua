-- SPDX-License-Identifier: BSD-2-Clause
-- Options of the log: where its files are, its modes, what is told of slow writes, its bounded
-- queue; and fibers that are cancelled while they wait for it.
local fiber = require('fiber')
local fio = require('fio')
local tap = require('tap')

local test = tap.test('wal_options')
test:plan(7)

local function names(dir)
    local list = {}
    for _, path in ipairs(fio.glob(fio.pathjoin(dir, '0*'))) do
        table.insert(list, fio.basename(path))
    end
    table.sort(list)
    return table.concat(list, ' ')
end

-- Runs a script in a process of its own, in the directory; gives its first line.
local function run(dir, script)
    local pipe = io.popen(("cd %s && %s -e '%s' 2>&1"):format(dir, arg[-1], script:gsub("'", '"')))
    local line = pipe:read('*l')
    pipe:close()
    return line
end

test:test('directories', function(t)
    t:plan(6)
    local dir = fio.tempdir()
    for _, name in ipairs{'logs', 'snaps', 'work'} do
        fio.mkdir(fio.pathjoin(dir, name))
    end
    local cfg = "box.cfg{log_level = 1, work_dir = 'work', wal_dir = '../logs', memtx_dir = '../snaps'} "
    run(dir, cfg .. [[
        local s = box.schema.space.create('s')
        s:create_index('pk')
        s:insert{1}
        box.snapshot()
        s:insert{2}
        os.exit(0)]])
    t:is(names(dir .. '/work'), '')
    t:is(names(dir .. '/snaps'), ('%020d.snap %020d.snap'):format(0, 4))
    t:is(names(dir .. '/logs'), ('%020d.xlog %020d.xlog'):format(0, 4))
    t:is(run(dir, cfg .. 'print(box.space.s:len(), unpack(box.backup.start())) os.exit(0)'),
         ('2\t../snaps/%020d.snap'):format(4), 'both are read')
    -- Files of one directory alone are not taken for an empty database.
    t:like(run(dir, "box.cfg{log_level = 1, memtx_dir = 'work', wal_dir = 'logs'}"), "Can't find snapshot")
    t:is(names(dir .. '/work'), '', 'and nothing is made')
    fio.rmtree(dir)
end)

test:test('without a log', function(t)
    t:plan(4)
    local dir = fio.tempdir()
    local cfg = "box.cfg{log_level = 1, wal_mode = 'none'} "
    t:is(run(dir, cfg .. [[
        local s = box.schema.space.create('s')
        s:create_index('pk')
        s:insert{1}
        box.snapshot()
        s:insert{2}
        print(box.info.lsn)
        os.exit(0)]]), '5', 'rows are numbered')
    t:is(names(dir), ('%020d.snap %020d.snap'):format(0, 4), 'no journal')
    t:is(run(dir, cfg .. 'print(box.space.s:len(), box.info.lsn) os.exit(0)'), '1\t4',
         'what the snapshot has is there')
    t:is(run(dir, 'box.cfg{log_level = 1} box.space.s:insert{3} print(box.info.lsn) os.exit(0)'), '5',
         'and a log can follow')
    fio.rmtree(dir)
end)

box.cfg{log = 'options.log', log_level = 4, wal_mode = 'fsync', checkpoint_interval = 0}
local s = box.schema.space.create('s')
s:create_index('pk')

local function count_lines(text)
    local count = 0
    for line in io.lines('options.log') do
        if line:find(text, 1, true) then
            count = count + 1
        end
    end
    return count
end

test:test('too_long_threshold', function(t)
    t:plan(3)
    box.cfg{too_long_threshold = 1000}
    local before = count_lines('too long WAL write')
    s:insert{1}
    t:is(count_lines('too long WAL write'), before)
    box.cfg{too_long_threshold = 1e-9}
    s:insert{2}
    t:is(count_lines('too long WAL write'), before + 1)
    t:is(count_lines(('too long WAL write: 1 rows at LSN %d: '):format(box.info.lsn)), 1)
    box.cfg{too_long_threshold = 0.5}
end)

test:test('wal_queue_max_size', function(t)
    t:plan(7)
    box.cfg{wal_queue_max_size = 10000}
    local row, refused = ('x'):rep(1000)
    -- No yield: nothing is written meanwhile.
    for i = 101, 200 do
        box.begin()
        s:insert{i, row}
        local ok, e = pcall(box.commit, {wait = 'none'})
        if not ok then
            refused = {i, e.code}
            break
        end
    end
    t:is(refused[2], box.error.WAL_IO, 'the queue is full')
    t:ok(refused[1] > 105 and refused[1] < 115, 'at its size')
    t:is(s:get(refused[1]), nil, 'what was refused is undone')
    t:ok(not box.is_in_txn())
    -- Those that may wait do, in their order.
    local done = fiber.channel(100)
    for i = 201, 300 do
        fiber.create(function()
            s:insert{i, row}
            done:put(i)
        end)
    end
    local in_order = true
    for i = 201, 300 do
        in_order = in_order and done:get() == i
    end
    t:ok(in_order, 'commits that wait for room end in order')
    t:is(s:count{101, }, 1)
    t:is(s:len(), 2 + (refused[1] - 101) + 100, 'all of them')
    box.cfg{wal_queue_max_size = 16 * 1024 * 1024}
end)

test:test('a cancel while a commit waits for the log', function(t)
    t:plan(9)
    local after, outcome
    local f = fiber.new(function()
        local row = s:insert{1000}
        outcome = {row[1], pcall(fiber.testcancel)}
        s:insert{1001}
        after = true
    end)
    f:set_joinable(true)
    local lsn = box.info.lsn
    fiber.sleep(0)
    t:is(box.info.lsn, lsn, 'it waits')
    t:is(s:get(1000)[1], 1000, 'its row is in memory')
    f:cancel()
    f:join()
    t:is(outcome[1], 1000, 'the commit has succeeded')
    t:is(outcome[2], false, 'the fiber hears of the cancel behind it')
    t:ok(after, 'and may commit again')
    t:is(box.info.lsn, lsn + 2)
    -- One of several that wait in line.
    local fibers, results = {}, {}
    for i = 1, 10 do
        fibers[i] = fiber.new(function() results[i] = pcall(s.insert, s, {2000 + i}) end)
        fibers[i]:set_joinable(true)
    end
    fiber.yield()
    fibers[5]:cancel()
    for i = 1, 10 do
        fibers[i]:join()
    end
    local good = 0
    for i = 1, 10 do
        good = good + (results[i] and s:get(2000 + i) ~= nil and 1 or 0)
    end
    t:is(good, 10, 'all are written')
    -- One that has not begun is cancelled before it does anything.
    local begun = false
    f = fiber.new(function() begun = true s:insert{3000} end)
    f:set_joinable(true)
    f:cancel()
    f:join()
    t:is(s:get(3000) ~= nil, begun)
    t:is(s:get(3000) ~= nil, box.info.lsn == lsn + 13)
end)

test:test('checkpoint_interval', function(t)
    t:plan(2)
    local before = #fio.glob('*.snap')
    box.cfg{checkpoint_interval = 0.01, checkpoint_count = 100}
    for i = 1, 2000 do
        s:replace{1, i}
        if #fio.glob('*.snap') >= before + 2 then
            break
        end
        fiber.sleep(0.005)
    end
    t:ok(#fio.glob('*.snap') >= before + 2, 'they are made by themselves')
    box.cfg{checkpoint_interval = 0}
    fiber.sleep(0.05)
    local now = #fio.glob('*.snap')
    s:replace{1, 'last'}
    fiber.sleep(0.1)
    t:is(#fio.glob('*.snap'), now, 'or not')
end)

test:test('all of it is there', function(t)
    t:plan(1)
    local copy = fio.tempdir()
    for _, path in ipairs(fio.glob('0*')) do
        fio.copyfile(path, copy)
    end
    t:is(run(copy, 'box.cfg{log_level = 1} print(box.space.s:len()) os.exit(0)'), tostring(s:len()))
    fio.rmtree(copy)
end)

os.exit(test:check() and 0 or 1)
