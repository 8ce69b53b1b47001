-- SPDX-License-Identifier: BSD-2-Clause
-- box.on_commit and box.on_rollback.
local check = require('check')
box.cfg{log_level = 4}
fiber = require('fiber')
s = box.schema.space.create('t')
s:create_index('pk')
check [[
box.on_commit()
box.on_rollback()
box.on_commit(function() end)
box.begin() box.on_commit()
box.on_commit(1)
log={}
function oc(it) log[#log+1]='c' for _,o,n,sp in it() do log[#log+1]={o,n,sp} end end
function orb(it) log[#log+1]='r' for _,o,n,sp in it() do log[#log+1]={o,n,sp} end end
box.on_commit(oc) box.on_rollback(orb)
box.on_commit()
s:insert{10} s:replace{10,1} s:delete{10} s:insert{11}
box.commit()
log
log={}
box.begin() box.on_commit(oc) box.on_rollback(orb) s:insert{12} s:delete{11} box.rollback()
log
log={}
s:get{12}
log
]]
check.finish()
