-- SPDX-License-Identifier: BSD-2-Clause
-- The module xlog: rows of a journal and a snapshot.
local check = require('check')
box.cfg{}
xlog = require('xlog')
s = box.schema.space.create('s')
s:create_index('pk')
l = box.schema.space.create('l', {is_local = true})
l:create_index('pk')
s:insert{1, 'x', -1, 1.5, box.NULL, true, {a = 1}, {1, 2}}
s:update(1, {{'=', 2, 'y'}})
s:upsert({1}, {{'=', 3, 2}})
s:upsert({2, 'z'}, {{'=', 3, 2}})
s:replace{3}
s:delete{3}
box.begin() s:insert{4} s:insert{5} box.commit()
box.begin() s:insert{6} l:insert{1} box.commit()
box.snapshot()
-- Rows of the file, without times and what differs by program.
function rows(path)
    local all = {}
    for lsn, row in xlog.pairs(path) do
        row.HEADER.timestamp = type(row.HEADER.timestamp)
        if row.BODY == nil or row.BODY.space_id >= 512 then
            table.insert(all, {lsn, row})
        end
    end
    return all
end
-- Snapshots count all their rows.
function snapshot_rows(path)
    local all = rows(path)
    for _, item in ipairs(all) do
        item[1] = type(item[1])
        item[2].HEADER.lsn = type(item[2].HEADER.lsn)
    end
    return all
end
check [[
rows('00000000000000000000.xlog')
snapshot_rows(('%020d.snap'):format(tonumber(box.info.signature)))
xlog.pairs('00000000000000000000.xlog'):length() > 10
xlog.pairs('00000000000000000000.xlog'):map(function(_, r) return r.HEADER.type end):take(3):totable()
select(2, pcall(xlog.pairs, 'nosuch')).type
]]
check.finish()
