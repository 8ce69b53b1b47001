-- SPDX-License-Identifier: BSD-2-Clause
-- box.info and box.stat: the shape, and what does not change from run to run.
local check = require('check')
box.cfg{}
s = box.schema.space.create('s')
s:create_index('pk')
before = box.info.lsn
s:insert{1}
check [[
box.info.lsn - before
box.info.id, box.info.ro, box.info.status, box.info.pid > 0, box.info.uptime >= 0
#box.info.uuid, #box.info.cluster.uuid, box.info.uuid == box.info.cluster.uuid
box.info.signature == box.info.lsn, box.info.vclock[1] == box.info.lsn
box.info.vclock
type(box.info.version), box.info.version:match('^%d+%.%d+%.%d+') ~= nil
type(box.info.replication), type(box.info.memory()), type(box.info.gc())
box.info.replication[1].id, box.info.replication[1].uuid == box.info.uuid, box.info.replication[1].lsn == box.info.lsn
box.info.nosuch
type(box.info()), box.info().id
box.info.listen
type(box.stat()), box.stat.INSERT.total, box.stat.DELETE.total, box.stat.INSERT.rps >= 0
s:insert{2}
box.stat.INSERT.total
box.stat.reset()
box.stat.INSERT.total
type(box.stat.net()), box.stat.net.SENT ~= nil
type(box.slab.info()), type(box.slab.info().arena_used), type(box.runtime.info().used)
type(_TARANTOOL), _TARANTOOL:match('^%d+%.%d+') ~= nil
box.NULL == nil, type(box.NULL), box.NULL == box.NULL
type(box.once), type(box.ctl), type(box.ctl.wait_rw), type(box.internal)
n = 0
box.once('key', function() n = n + 1 end)
box.once('key', function() n = n + 1 end)
n
box.space._schema:get('oncekey')
]]
check.finish()
