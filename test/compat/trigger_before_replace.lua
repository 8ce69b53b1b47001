-- SPDX-License-Identifier: BSD-2-Clause
-- space:before_replace: what it sees, and what its result does.
local check = require('check')
box.cfg{log_level = 4}
fiber = require('fiber')
s = box.schema.space.create('t')
s:create_index('pk')
log = {}
check [[
b1=function(o,n,sp,op) log[#log+1]={o,n,sp,op} return n end
s:before_replace(b1)
s:insert{60} s:replace{60,1} s:update(60,{{'=',2,2}}) s:upsert({60},{{'=',2,3}}) s:delete(60) s:delete(60)
log
s:before_replace(nil,b1)
b2=function(o,n) return box.tuple.update(n,{{'=',2,'upd'}}) end
s:before_replace(b2)
s:insert{61}
s:before_replace(nil,b2)
b3=function(o,n) return nil end
s:before_replace(b3)
s:insert{62}
s:get{62}
s:delete{61}
s:get{61}
s:before_replace(nil,b3)
b4=function(o,n) return o end
s:before_replace(b4)
s:insert{63}
s:insert{61}
s:replace{61,5}
s:delete{61}
s:get{61}
s:before_replace(nil,b4)
b5=function(o,n) end
s:before_replace(b5)
s:insert{64}
s:replace{61,7}
s:before_replace(nil,b5)
b6=function(o,n) return 1 end
s:before_replace(b6)
s:insert{65}
s:before_replace(nil,b6)
b7=function(o,n) return {66,'t'} end
s:before_replace(b7)
s:insert{66}
s:before_replace(nil,b7)
b8=function(o,n) return box.tuple.new{67,'t'} end
s:before_replace(b8)
s:insert{66}
s:insert{67}
s:before_replace(nil,b8)
b8=function(o,n) return nil, 1 end
s:before_replace(b8)
s:insert{68}
s:before_replace(nil,b8)
]]
check.finish()
