-- SPDX-License-Identifier: BSD-2-Clause
-- What depends on what: objects in use are not dropped, what belongs to one goes with it; and
-- changes of the schema in transactions.
local check = require('check')
box.cfg{log_level = 0, wal_mode = 'none'}
check [[
s=box.schema.space.create('s',{format={{'id','unsigned'},{'n','string',collation='unicode'},{'a','any'}}})
s:create_index('pk',{sequence=true}).name
s:create_index('n',{parts={{2,'string',collation='unicode_ci'}},unique=false}).name
box.schema.func.create('f',{body='function(t) return {t[1]} end',is_deterministic=true,is_sandboxed=true})
box.schema.func.create('g',{body='function(t) return {t[1]} end'})
s:create_index('f',{func='f',parts={{1,'unsigned'}}}).name
s:create_index('g',{func='g',parts={{1,'unsigned'}}})
s:create_index('nosuch',{func='nosuch',parts={{1,'unsigned'}}})
s:create_index('multi',{func='f',parts={{1,'unsigned'},{2,'string'}}})
s:create_index('bad',{func='f',parts={{2,'unsigned'}}})
box.schema.func.drop('f')
box.space._func:delete(box.func.f.id)
box.schema.sequence.drop('s_seq')
box.space._sequence:delete(box.sequence.s_seq.id)
box.space._space:delete(s.id)
box.space._index:delete{s.id,0}
s.index.pk:drop()
s.index.pk:alter{sequence=false}
s.index.pk:drop()
s.index.n:drop()
s.index.f:drop()
s.index.pk:drop()
s.index.pk
s:create_index('pk',{sequence=true}).sequence_id ~= nil
box.sequence.s_seq.name
box.schema.user.create('u')
box.schema.user.grant('u','read','space','s')
box.space._space:delete(s.id)
box.schema.role.create('r')
box.schema.role.grant('r','execute','function','f')
box.schema.user.grant('u','r')
box.schema.role.grant('r','r')
box.schema.role.create('r2')
box.schema.role.grant('r','r2')
box.schema.role.grant('r2','r')
box.space._user:delete(box.space._user.index.name:get('r')[1])
box.space._func:delete(box.func.f.id)
box.schema.func.drop('f')
box.func.f
box.schema.user.info('r')
box.schema.role.info('r')
box.schema.role.drop('r')
box.schema.user.info('u')
box.session.su('admin')
box.schema.user.grant('u','create,read,write,alter,drop,execute','universe')
box.session.su('u', box.schema.space.create, 'us').name
box.session.su('u', box.schema.sequence.create, 'uq').name
box.session.su('u', box.schema.func.create, 'uf')
box.session.su('u', box.schema.role.create, 'ur')
box.space._user:delete(box.space._user.index.name:get('u')[1])
box.schema.user.drop('u')
box.space.us, box.sequence.uq, box.func.uf, box.schema.role.exists('ur')
box.schema.user.drop('admin')
box.schema.user.drop('guest')
box.schema.role.drop('public')
box.schema.role.drop('super')
box.schema.user.create('admin')
box.schema.role.create('guest')
box.schema.user.drop('public')
box.schema.role.drop('admin')
s:format{{'id','string'}}
s:format{{'id','unsigned'},{'id','unsigned'}}
s:format{}
s:format()
s:create_index('p2',{id=0})
s:create_index('i1',{id=5}).id
s:create_index('i2').id
s:create_index('i3',{id=3}).id
s:create_index('i4',{id=5})
s.index.i1:alter{id=7}
s.index.i1.id, s.index[7] ~= nil, s.index[5]
s.index.i1:rename('i2')
s.index.i1:rename('')
s:rename('s')
s:rename('_space')
s:rename('s2')
box.space.s, box.space.s2 ~= nil, s.name
s:rename('s')
box.space._truncate:insert{s.id,1}
s:drop()
box.space._truncate:select()
]]
-- transactions
check [[
box.begin() t=box.schema.space.create('t') t:create_index('pk') t:insert{1} t:create_index('i',{parts={{2,'unsigned',is_nullable=true}}}) box.commit()
box.rollback()
t=box.space.t or box.schema.space.create('t')
t.index.pk or t:create_index('pk').name
t:replace{1}
box.begin() t:insert{2} t:truncate() t:insert{3} box.commit()
t:select()
box.begin() t:insert{4} t:truncate() t:insert{5} box.rollback()
t:select()
box.begin() t:rename('t9') box.rollback()
t.name, box.space.t9, box.space.t ~= nil
box.begin() t:format{{'a','unsigned'}} box.rollback()
t:format()
box.begin() box.schema.user.create('tu') box.rollback()
box.schema.user.exists('tu')
box.begin() box.schema.sequence.create('tq') box.sequence.tq:next() box.rollback()
box.sequence.tq
box.schema.sequence.create('tq').name
box.begin() box.sequence.tq:next() box.sequence.tq:next() box.rollback()
box.sequence.tq:next()
box.begin() box.sequence.tq:set(100) box.rollback()
box.sequence.tq:next()
box.begin() box.schema.func.create('tf') box.rollback()
box.func.tf
box.begin() box.internal.collation.create('tc','ICU','ru') box.rollback()
box.space._collation.index.name:get('tc')
x=box.schema.space.create('x') x:create_index('pk') x:insert{1}
box.begin() x:insert{3} x:create_index('j',{parts={{2,'unsigned',is_nullable=true}},unique=false}) box.commit()
box.rollback()
x.index.j
box.begin() x:create_index('j',{parts={{2,'unsigned',is_nullable=true}},unique=false}) x:insert{4,4} box.commit()
x.index.j ~= nil and x.index.j:select{4}
box.begin() x:insert{6,4} x.index.j:drop() x:insert{7} box.commit()
x.index.j, x:len()
box.begin() box.schema.user.create('tv') box.schema.user.grant('tv','read','space','x') box.rollback()
box.schema.user.exists('tv'), box.space._priv:count()
box.schema.space.create('x',{if_not_exists=true})
select(2,box.schema.space.create('x',{if_not_exists=true}))
select(2,x:create_index('pk',{if_not_exists=true}))
x:drop() t:drop() box.schema.sequence.drop('tq')
x:drop()
x:insert{1}
x.index.pk
t:select()
box.schema.space.drop(x.id)
box.schema.space.drop(x.id,'x',{if_exists=true})
box.schema.upgrade()
]]

-- What a user made, and what stays of it.
local function show(title)
    check.call(title, function() return box.space._user:select(32, {iterator = 'GE'}) end)
    check.call('rights', function() return box.space._priv:select(32, {iterator = 'GE'}) end)
end

local function make()
    box.schema.user.create('maker')
    box.schema.user.grant('maker', 'create,read,write,alter,drop,execute', 'universe')
end

for _, t in ipairs(box.space._user:select(32, {iterator = 'GE'})) do
    box.schema[t[4]].drop(t[3])
end
make()
box.session.su('maker', box.schema.role.create, 'made_role')
check.call('a role', box.schema.user.drop, 'maker')
show('the role stays')
box.schema.role.drop('made_role')
make()
box.session.su('maker', box.schema.user.create, 'made_user')
show('a user')
check.call('a user', box.schema.user.drop, 'maker')
box.schema.user.drop('made_user')
check.call('alone', box.schema.user.drop, 'maker')
show('nobody is left')

-- Who may grant and take back roles that they have made, or that everybody has.
for _, name in ipairs{'a', 'b', 'c'} do
    box.schema.user.create(name)
    box.schema.user.grant(name, 'create,read,write,alter,drop,execute', 'universe')
end
local function id(name)
    return box.space._user.index.name:get(name)[1]
end
box.schema.role.create('r')
box.session.su('a', box.schema.role.create, 'ra')
for i, row in ipairs{{id('a'), id('c'), 'role', 2, 4}, {1, id('c'), 'role', 2, 4}, {id('b'), id('c'), 'role', 2, 4},
                     {id('a'), id('c'), 'role', id('ra'), 4}, {1, id('c'), 'role', id('r'), 4},
                     {1, id('c'), 'role', id('ra'), 4}} do
    local key = {row[2], row[3], row[4]}
    for _, who in ipairs{'admin', 'a', 'b', 'c'} do
        box.space._priv:delete(key)
        check.call(('%s grants %d'):format(who, i), box.session.su, who, box.space._priv.replace, box.space._priv, row)
        box.space._priv:replace(row)
        check.call(('%s revokes %d'):format(who, i), box.session.su, who, box.space._priv.delete, box.space._priv, key)
    end
end
check.finish()
