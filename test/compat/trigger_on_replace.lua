-- SPDX-License-Identifier: BSD-2-Clause
-- space:on_replace: order, replacement, errors and what a trigger may do.
local check = require('check')
box.cfg{log_level = 4}
fiber = require('fiber')
s = box.schema.space.create('t')
s:create_index('pk')
log = {}
check [[
s:on_replace(1)
f1=function(o,n,sp,op) log[#log+1]={o,n,sp,op} end
type(s:on_replace(f1))
s:on_replace()
s:insert{30} s:replace{30,1} s:update(30,{{'=',2,5}}) s:upsert({30},{{'=',2,6}}) s:upsert({31},{{'=',2,6}}) s:delete(30) s:delete(30)
log
log={}
f2=function(o,n,sp,op) log[#log+1]='f2' end
s:on_replace(f2)
s:insert{32}
log
log={}
s:on_replace(nil,f2)
s:on_replace(nil,f2)
s:insert{33}
log
log={}
s:on_replace(f2,f1)
s:insert{34}
log
log={}
s:on_replace(f2,f1)
s:on_replace(nil,f2)
f3=function() error('no') end
s:on_replace(f3)
s:insert{35}
s:get(35)
s:on_replace(nil,f3)
f4=function() box.error(box.error.ILLEGAL_PARAMS,'no') end
s:on_replace(f4)
s:insert{35}
s:on_replace(nil,f4)
f5=function() fiber.yield() end
s:on_replace(f5)
s:insert{36}
s:get{36}
s:on_replace(nil,f5)
f6=function() box.commit() end
s:on_replace(f6)
s:insert{37}
s:on_replace(nil,f6)
f6=function() box.rollback() end
s:on_replace(f6)
s:insert{37}
s:on_replace(nil,f6)
f6=function() box.begin() end
s:on_replace(f6)
s:insert{37}
s:on_replace(nil,f6)
f6=function() box.savepoint() end
s:on_replace(f6)
s:insert{38}
s:on_replace(nil,f6)
s2=box.schema.space.create('t2') s2:create_index('pk')
f7=function(o,n) s2:insert{n[1],'copy'} end
s:on_replace(f7)
s:insert{40}
s2:select{}
s2:insert{41}
s:insert{41}
s:get{41}
s:on_replace(nil,f7)
f8=function(o,n) s:insert{n[1]+1} end
s:on_replace(f8)
s:insert{50}
s:on_replace(nil,f8)
s:select(50,{iterator='GE'})
]]
check.finish()
