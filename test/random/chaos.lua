-- SPDX-License-Identifier: BSD-2-Clause
-- A load that mixes everything: all kinds of indexes, changes of the schema, savepoints, triggers that throw, yield
-- and write, snapshots, a tiny queue of the log; then every index against a full scan. No test: run it by hand,
-- in an empty directory, as often as you like (what the processor's time brings about differs each time):
--
--     WQ=300 tarn test/random/chaos.lua SEED [SECONDS [wal_mode]]
local seed = tonumber(arg[1]); local secs=tonumber(arg[2] or 3); local mode=arg[3] or 'write'
math.randomseed(seed)
local fiber=require'fiber'; local decimal,uuid=require'decimal',require'uuid'
local key_def=require'key_def'
box.cfg{log='tarn.log', log_level=4, wal_mode=mode, memtx_memory=tonumber(os.getenv'MEM' or 64)*1024*1024, checkpoint_interval=0, wal_queue_max_size=tonumber(os.getenv'WQ') , checkpoint_count=2, wal_max_size=tonumber(os.getenv'WMAX' or 200000)}
local function R(n) return math.random(n) end
local function pick(t) return t[R(#t)] end
local out=io.open('out.log','a'); out:setvbuf('line')
local function bad(...) out:write('BAD '..table.concat({...},' ')..'\n'); print('BAD',...) end
if not box.func.f1 then
 box.schema.func.create('f1',{body='function(t) return {(t[2] or 0) % 7} end',is_deterministic=true,is_sandboxed=true})
 box.schema.func.create('fm',{body='function(t) local r={} for i=1,(t[2] or 0)%4 do r[i]={i,(t[3] or ""):sub(1,2)} end return r end',is_deterministic=true,is_sandboxed=true,opts={is_multikey=true}})
 box.schema.func.create('fbad',{body='function(t) if t[2]%13==0 then error("no") end return {t[2]} end',is_deterministic=true,is_sandboxed=true})
end
local strs={'a','A','b','ä','Ä','aa','ß','ss','Straße','','z','Z','éa','e\204\129a','\0','x'}
local function str() return R(3)==1 and pick(strs)..pick(strs) or pick(strs) end
local function num() local r=R(8); if r==1 then return decimal.new(R(20))/4 elseif r==2 then return R(20)/4 elseif r==3 then return -R(10) elseif r==4 then return 2^53+R(3) elseif r==5 then return 9007199254740992ULL+R(3) elseif r==6 then return decimal.new('9007199254740993') else return R(20) end end
local uu={} for i=1,12 do uu[i]=uuid.fromstr(('%08x-ac92-4a23-899a-e59f34af5479'):format(i)) end
local function arr() local r={} for i=1,R(4)-1 do r[i]={k=R(8),s=R(3)==1 and box.NULL or str()} end return r end
local function row(id) return {id, R(40), str(), R(5)==1 and box.NULL or num(), pick(uu), {a={b=R(4)==1 and box.NULL or R(30)},m=arr()}, {R(30),R(30)}, R(5)==1 and string.rep('p',R(3000)) or 'q'} end
local IDX={
 {'n',{parts={{2,'unsigned'}},unique=false}},
 {'ci',{parts={{3,'string',collation='unicode_ci'},{1,'unsigned'}}}},
 {'num',{parts={{4,'number',is_nullable=true}},unique=false}},
 {'numx',{parts={{4,'scalar',is_nullable=true,exclude_null=true}},unique=false}},
 {'uu',{parts={{5,'uuid'},{2,'unsigned'},{1,'unsigned'}}}},
 {'jp',{parts={{6,'unsigned',path='a.b',is_nullable=true}},unique=false}},
 {'mk',{parts={{6,'unsigned',path='m[*].k'},{2,'unsigned'}},unique=false}},
 {'mku',{parts={{6,'unsigned',path='m[*].k'},{1,'unsigned'}}}},
 {'mks',{parts={{6,'string',path='m[*].s',is_nullable=true,exclude_null=true,collation='unicode'}},unique=false}},
 {'fn',{func='f1',parts={{1,'unsigned'}},unique=false}},
 {'fmm',{func='fm',parts={{1,'unsigned'},{2,'string'}},unique=false}},
 {'fbad',{func='fbad',parts={{1,'unsigned'}},unique=false}},
 {'rt',{type='rtree',parts={{7,'array'}},unique=false}},
 {'bs',{type='bitset',parts={{2,'unsigned'}},unique=false}},
 {'hs',{type='hash',parts={{3,'string',collation='unicode_ci'},{1,'unsigned'}}}},
 {'desc',{parts={{2,'unsigned',sort_order='desc'},{4,'number',is_nullable=true}},unique=false}},
 {'uqn',{parts={{2,'unsigned'},{3,'string'}},unique=true}},
}
local FMT={{},{{'id','unsigned'}},{{'id','unsigned'},{'n','unsigned'},{'s','string'}},{{'id','unsigned'},{'n','integer'},{'s','scalar'},{'x','number',is_nullable=true},{'u','uuid'},{'m','map'},{'r','array'},{'p','any'}}}
local function mk(name)
  local s=box.schema.space.create(name); s:create_index('pk',{parts={{1,'unsigned'}},type=R(6)==1 and 'hash' or 'tree'})
  if R(2)==1 then for _,d in ipairs(IDX) do if R(3)==1 then pcall(s.create_index,s,d[1],d[2]) end end end
  return s end
local names={'s1','s2','s3'}
for _,n in ipairs(names) do if not box.space[n] then mk(n) end end
if not box.space.pa then box.schema.space.create('pa'):create_index('pk'); box.schema.space.create('pb'):create_index('pk') end
local expect={mk=true,mku=true,mks=true,fmm=true}
local function check(s)
  local name=s.name
  if not s.index[0] then return end
  local rows={} local n=0
  for _,t in s.index[0]:pairs(nil,{iterator='ALL'}) do rows[t[1]]=t; n=n+1 end
  if n~=s.index[0]:len() then bad(name,'pk len',n,s.index[0]:len()) end
  local multi={mk=0,mku=0,mks=0,fmm=0,numx=0,bs=n}
  for id,t in pairs(rows) do
    local seen,ss={},{}
    for _,e in ipairs(type(t[6])=='table' and type(t[6].m)=='table' and t[6].m or {}) do if not seen[e.k] then seen[e.k]=1; multi.mk=multi.mk+1; multi.mku=multi.mku+1 end
       if e.s~=nil then local utf8=require'utf8'; local f=false for k in pairs(ss) do if utf8.cmp(k,e.s)==0 then f=true end end if not f then ss[e.s]=1 multi.mks=multi.mks+1 end end end
    multi.fmm=multi.fmm+(type(t[2])=='number' and t[2]%4 or 0)
    if t[4]~=nil then multi.numx=multi.numx+1 end
  end
  for iid,ix in pairs(s.index) do if type(iid)=='number' and iid>0 then
    local exp=multi[ix.name] or n
    local c,prev=0,nil
    local kd= (ix.type=='TREE' and not ix.func and not ix.name:find'^mk') and key_def.new(ix.parts)
    local iter = ix.type=='BITSET' and 'ALL' or 'ALL'
    for _,t in ix:pairs(nil,{iterator=iter}) do c=c+1
      local r=rows[t[1]]; if r==nil or tostring(r)~=tostring(t) then bad(name,ix.name,'row differs',tostring(t):sub(1,100),tostring(r):sub(1,100)) end
      if kd and prev and kd:compare(prev,t)>0 then bad(name,ix.name,'order',tostring(prev):sub(1,150),tostring(t):sub(1,150)) end
      prev=t
    end
    if c~=exp then bad(name,ix.name,ix.type,'count',c,'expected',exp) end
    if ix.type~='BITSET' and ix.name~='numx' and ix:len()~=exp and not expect[ix.name] then bad(name,ix.name,'len',ix:len(),exp) end
    -- get by key
    if ix.type=='TREE' and not ix.func and not ix.name:find'^mk' then
      local m=0 for _,t in pairs(rows) do if m<10 and not (ix.name=='numx' and t[4]==nil) then m=m+1; local k=kd:extract_key(t); local f=false; for _,q in ix:pairs(k,{iterator='EQ'}) do if q[1]==t[1] then f=true end end; if not f then bad(name,ix.name,'EQ misses',tostring(t):sub(1,120)) end end end
    end
  end end
end
local function checkall(where)
  for _,n in ipairs(names) do local s=box.space[n]; if s then local ok,e=pcall(check,s); if not ok then bad(where,n,tostring(e)) end end end
  local a,b={},{}
  for _,t in box.space.pa:pairs() do a[#a+1]=tostring(t) end for _,t in box.space.pb:pairs() do b[#b+1]=tostring(t) end
  if table.concat(a)~=table.concat(b) then bad(where,'pair differs') end
  local ok,e=pcall(box.slab.check); if not ok then bad(where,'slab.check',tostring(e)) end
end
checkall('start')
local stop=false; local cnt={}
local function T(k,ok,e) cnt[k]=(cnt[k] or 0)+1; if not ok then e=tostring(e); cnt['err:'..e:gsub('%d+','#'):sub(1,90)]=(cnt['err:'..e:gsub('%d+','#'):sub(1,90)] or 0)+1 end end
local function dml(s)
  local id=R(150); local r=R(12)
  if r<=3 then return s:replace(row(id))
  elseif r==4 then return s:insert(row(id))
  elseif r==5 then return s:delete(id)
  elseif r==6 then return s:update(id,(function() local f=pick{2,3,4,5,6,7}; return {{'=',f,row(id)[R(12)==1 and pick{2,3,4,5,6,7} or f]}} end)())
  elseif r==7 then return s:update(id,{{'+',2,R(3)},{'=',3,str()}})
  elseif r==8 then return s:upsert(row(id),{{pick{'+','=','#','!'},pick{2,4},1}})
  elseif r==9 then return s:update(id,{{'=','[6].a.b',R(30)}})
  elseif r==10 then return s:update(id,{{'!','[6].m[1]',{k=R(8),s=str()}}})
  elseif r==11 then local ix=s.index.ci or s.index.uqn or s.index.uu; if ix then local t=ix:min(); if t then local kd=key_def.new(ix.parts); if R(2)==1 then return ix:delete(kd:extract_key(t)) else return ix:update(kd:extract_key(t),{{'=',2,R(40)}}) end end end
  else local ix=s.index[R(12)]; if ix then local pos; for i=1,3 do local a=ix:select(nil,{limit=7,fullscan=true}); end; local c=0; for _,t in ix:pairs() do c=c+1; if R(6)==1 then s:delete(t[1]) end; if R(6)==1 then s:replace(row(R(150))) end if c>40 then break end end end
  end
end
local function sp() return box.space[pick(names)] end
local function txn()
  local k=R(6); box.begin()
  local svs={}
  local hooks=R(4)
  if hooks==1 then box.on_commit(function() if R(2)==1 then fiber.yield() end; if R(3)==1 then error('trigger') end; if R(2)==1 then pcall(dml,sp()) end end); box.on_rollback(function(it) for _ in it() do end; if R(3)==1 then error('rb') end if R(2)==1 then pcall(dml,sp()) end end) end
  for i=1,k do
    pcall(dml,sp())
    if R(3)==1 then svs[#svs+1]=box.savepoint() end
    if #svs>0 and R(4)==1 then pcall(box.rollback_to_savepoint,svs[R(#svs)]) end
    if R(20)==1 then local s=sp() if s then pcall(s.truncate,s) end end
    if R(40)==1 then fiber.yield() end
  end
  if R(3)==1 then box.rollback() else box.commit() end
end
local function pair()
  local id,v=R(50),R(1e6); box.begin(); local ok,e=pcall(function() if R(4)==1 then box.space.pa:delete(id) box.space.pb:delete(id) else box.space.pa:replace{id,v}; box.space.pb:replace{id,v} end end)
  if not ok then box.rollback() error(e) end
  if R(5)==1 then box.rollback() else box.commit() end
end
local ddl={
 function(s) local d=pick(IDX); if s.index[d[1]] then s.index[d[1]]:drop() else s:create_index(d[1],d[2]) end end,
 function(s) local d=pick(IDX); if not s.index[d[1]] then s:create_index(d[1],d[2]) end end,
 function(s) s:truncate() end,
 function(s) if R(3)==1 then s:drop(); mk(s.name) end end,
 function(s) s:format(pick(FMT)) end,
 function(s) local d=pick(IDX); local e=pick(IDX); local ix=s.index[d[1]]; if ix and R(2)==1 then ix:alter{parts=d[2].parts,unique=d[2].unique} end end,
 function(s) local d=pick(IDX); local ix=s.index[d[1]]; if ix then ix:alter{unique=R(2)==1} end end,
 function(s) s.index.pk:alter{parts={{1,pick{'unsigned','integer','number','scalar'}}}} end,
 function(s) s.index.pk:alter{type=pick{'hash','tree'}} end,
 function(s) box.begin(); local ok,e=pcall(function() if R(2)==1 then dml(s) end; s:create_index('tmp',{parts={{2,'unsigned'}},unique=false}) ; dml(s) end); if R(2)==1 then box.rollback() else box.commit() end; if s.index.tmp then s.index.tmp:drop() end end,
 function(s) box.snapshot() end,
 function(s) s:rename(s.name..'x'); s:rename((s.name:gsub('x',''))) end,
 function(s) local f=s:before_replace(function(o,n,name,op) if n and R(3)==1 then return n:update{{'=',2,R(40)},{'=',3,str()}} end; if R(9)==1 then return o end; if R(11)==1 then error('br') end; if n and R(10)==1 then pcall(dml,sp()) end return n end); fiber.sleep(R(5)/100); if s.before_replace then pcall(function() s:before_replace(nil,f) end) end end,
 function(s) local f=s:on_replace(function(o,n) if R(9)==1 then error('or') end; if R(12)==1 then pcall(dml,sp()) end end); fiber.sleep(R(5)/100); pcall(function() s:on_replace(nil,f) end) end,
}
if os.getenv'FILL' then for i=1,tonumber(os.getenv'FILL') do pcall(function() box.space.s1:replace(row(1000+i)) end) end end
local fs={}
local function worker(f,k) fs[#fs+1]=fiber.new(function() while not stop do local s=sp(); local ok,e=pcall(f,s); T(k,ok,e); if box.is_in_txn() then box.rollback() end; if R(10)==1 then fiber.sleep(0.001) else fiber.yield() end end end); fs[#fs]:set_joinable(true) end
local function ddlw(s) if s then pick(ddl)(s) end fiber.sleep(0.004) end
for i=1,3 do worker(function(s) if s then dml(s) end end,'dml') end
for i=1,2 do worker(txn,'txn') end
for i=1,2 do worker(pair,'pair') end
worker(ddlw,'ddl'); worker(ddlw,'ddl')
worker(function() local f=fiber.new(function() pcall(pair) end); f:set_joinable(true); fiber.yield(); if R(2)==1 then pcall(f.cancel,f) end; f:join() end,'cancel')
local t0=fiber.clock()
local err
while fiber.clock()-t0<secs do fiber.sleep(0.15); checkall('run') end
stop=true
for i,f in ipairs(fs) do f:join() end
checkall('end')
local k={} for a,b in pairs(cnt) do k[#k+1]=a..'='..b end table.sort(k)
out:write(table.concat(k,'\n')..'\n')
os.exit(0)
