-- SPDX-License-Identifier: BSD-2-Clause
-- Options of checkpoints and of the collection of old files that the reference has not, or
-- does not show: that snap_io_rate_limit is kept, wal_cleanup_delay.
local clock = require('clock')
local digest = require('digest')
local fiber = require('fiber')
local fio = require('fio')
local tap = require('tap')
local uuid = require('uuid')

box.cfg{log = 'checkpoint.log', checkpoint_interval = 0, checkpoint_count = 1}
local s = box.schema.space.create('s')
s:create_index('pk')
local test = tap.test('checkpoint')
test:plan(2)

local function count(pattern)
    return #fio.glob(pattern)
end

local function wait_until(f)
    for _ = 1, 2000 do
        if f() then
            return true
        end
        fiber.sleep(0.005)
    end
    return false
end

test:test('snap_io_rate_limit', function(t)
    t:plan(8)
    -- What does not pack, so that the file is as large as the rows.
    local row, rows = 10000, 300
    for i = 1, rows do
        s:insert{i, digest.urandom(row)}
    end
    -- Some blocks are on their way to the file when the last row was read.
    local size, unlimited = row * rows / 1e6, 1
    for _, limit in ipairs{20, 10} do
        s:replace{0, limit}
        box.cfg{snap_io_rate_limit = limit}
        local start = clock.monotonic()
        t:is(box.snapshot(), 'ok')
        t:ok(clock.monotonic() - start >= (size - unlimited) / limit, 'as slow as was asked for')
    end
    -- A limit can be lifted while the snapshot waits for it.
    box.cfg{snap_io_rate_limit = 0.001}
    s:replace{0, 'changed'}
    local done = fiber.channel(1)
    fiber.create(function() done:put(box.snapshot()) end)
    t:ok(wait_until(function() return count('*.snap.inprogress') == 1 end), 'it waits')
    s:replace{0, 'others go on'}
    box.cfg{snap_io_rate_limit = box.NULL}
    t:is(done:get(), 'ok', 'it ends')
    t:is(count('*.snap'), 1)
    t:is(count('*.inprogress'), 0)
end)

test:test('wal_cleanup_delay', function(t)
    t:plan(11)
    local function snapshots(n)
        for i = 1, n do
            s:replace{0, i}
            box.snapshot()
        end
    end
    box.cfg{wal_cleanup_delay = 1000}
    t:is(box.info.gc().is_paused, nil, 'there are no other instances')
    snapshots(3)
    t:ok(wait_until(function() return count('*.xlog') == 1 end), 'nobody needs them')
    box.space._cluster:insert{2, uuid.str()}
    t:is(box.info.gc().is_paused, true, 'there is another')
    local before = count('*.xlog')
    snapshots(3)
    t:is(count('*.snap'), 1, 'snapshots go')
    t:is(count('*.xlog'), before + 2, 'journals stay')
    box.cfg{wal_cleanup_delay = 0}
    t:is(box.info.gc().is_paused, nil)
    t:ok(wait_until(function() return count('*.xlog') == 1 end), 'and go at the end of the delay')
    -- The delay counts from the start on: this one is nearly over, or over.
    box.cfg{wal_cleanup_delay = 1000}
    snapshots(3)
    t:ok(count('*.xlog') >= 3)
    box.cfg{wal_cleanup_delay = 0.001}
    t:ok(wait_until(function() return count('*.xlog') == 1 end), 'by itself')
    box.cfg{wal_cleanup_delay = 1000}
    snapshots(1)
    box.space._cluster:delete{2}
    snapshots(1)
    t:ok(wait_until(function() return count('*.xlog') == 1 end), 'the other has left')
    t:ok(not pcall(box.cfg, {wal_cleanup_delay = -1}))
end)

-- The end does not wait for a snapshot that is held up.
box.cfg{snap_io_rate_limit = 0.001}
s:replace{0, 'last'}
fiber.create(function() pcall(box.snapshot) end)
wait_until(function() return count('*.snap.inprogress') == 1 end)
os.exit(test:check() and 0 or 1)
