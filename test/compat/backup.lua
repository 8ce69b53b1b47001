-- SPDX-License-Identifier: BSD-2-Clause
-- box.backup: which snapshot it names, and what it holds.
local check = require('check')
fio = require('fio')
fiber = require('fiber')
box.cfg{}
s = box.schema.space.create('s')
s:create_index('pk')
-- How many files there are, once they are as many, and the newest snapshot has all.
function kept(snaps, xlogs)
    local s, x, checkpoints
    for _ = 1, 500 do
        s, x, checkpoints = #fio.glob('*.snap'), #fio.glob('*.xlog'), box.info.gc().checkpoints
        if s == snaps and x == xlogs and
           checkpoints[#checkpoints].signature == box.info.signature then break end
        fiber.sleep(0.01)
    end
    return s, x
end
check [[
box.backup.start()
box.backup.start()
box.info.gc()
box.backup.stop()
box.backup.stop()
box.snapshot()
box.backup.start(1)
box.backup.stop()
box.backup.start(5)
box.backup.start(-1)
box.backup.start('x')
box.info.gc().checkpoints[1].references
box.backup.start(0)
s:insert{1}
box.snapshot()
s:insert{2}
box.snapshot()
s:insert{3}
box.snapshot()
box.info.gc()
kept(4, 3)
box.backup.stop()
kept(2, 1)
box.info.gc()
box.cfg{snap_io_rate_limit = 1000}
s:insert{4}
box.snapshot()
box.cfg{snap_io_rate_limit = box.NULL}
box.cfg{checkpoint_wal_threshold = 100}
s:insert{5, string.rep('x', 200)}
kept(2, 1)
]]
check.finish()
