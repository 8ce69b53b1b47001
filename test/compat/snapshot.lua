-- SPDX-License-Identifier: BSD-2-Clause
-- box.snapshot, and a data directory that is opened again within the same test.
local check = require('check')
local fio = require('fio')
box.cfg{}
s = box.schema.space.create('s')
s:create_index('pk')
function files(pattern)
    local out = fio.glob(pattern)
    table.sort(out)
    for i, f in ipairs(out) do out[i] = fio.basename(f) end
    return out
end
check [[
box.snapshot()
#files('*.snap')
s:insert{1}
box.snapshot()
#files('*.snap')
box.snapshot()
#files('*.snap')
files('*.inprogress')
files('*.snap')[1]:match('^%d+%.snap$') ~= nil, #files('*.snap')[1]
#files('*.xlog') >= 1
s:len()
box.begin() s:insert{2} box.snapshot()
box.rollback()
]]
if box.is_in_txn() then box.rollback() end
check.finish()
