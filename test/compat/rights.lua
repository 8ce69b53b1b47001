-- SPDX-License-Identifier: BSD-2-Clause
-- What a user with some rights may do: many sets of rights, and actions of all kinds with each. What
-- is refused is compared, not which of several missing rights it tells of.
local check = require('check')
box.cfg{log_level = 0, wal_mode = 'none'}

local s = box.schema.space.create('test', {format = {{'id', 'unsigned'}, {'name', 'string'}}})
s:create_index('primary')
s:create_index('name', {parts = {2, 'string'}, unique = false})
s:insert{1, 'one'}
box.schema.func.create('stored', {body = 'function(a, b) return a + b end'})
box.schema.sequence.create('numbers')
box.schema.user.create('other', {password = 'x'})
box.schema.user.create('p')

local SETS = {
    '', 'create space', 'create space; write space _space', 'create space; write space _space; write space _schema',
    'read,write space _space; write space _schema', 'create universe; write space _space; write space _schema',
    'create function; read,write space _func', 'create sequence; read,write space _sequence',
    'create user; read,write space _user; write space _priv', 'create role; read,write space _user; write space _priv',
    'alter user other; read,write space _user', 'read,write universe', 'read,write,create universe',
    'read,write,create,drop universe', 'read,write,create,drop,alter universe',
    'alter space test; read,write space _space', 'create,read space test; write space _index',
    'alter space test; read,write space _index', 'drop space test; write space _space; write space _index',
    'write space _priv', 'execute universe', 'execute function', 'execute function stored', 'usage space test',
    'read sequence', 'read,write sequence numbers', 'write space', 'read space test', 'write space test',
    'read,write space test', 'execute role super',
}
local ACTIONS = {
    "box.schema.space.create('ps')", "box.space.test:rename('tt')",
    "box.space.test:create_index('x', {parts = {2, 'string'}, unique = false})", "box.space.test.index.name:alter{unique = true}",
    "box.space.test.index.name:drop()", "box.space.test:format({})", "box.space.test:truncate()", "box.space.test:drop()",
    "box.schema.func.create('pf')", "box.schema.func.drop('stored')", "box.schema.sequence.create('pq')",
    "box.sequence.numbers:next()", "box.sequence.numbers:set(5)", "box.sequence.numbers:alter{step = 2}",
    "box.sequence.numbers:drop()", "box.schema.user.create('pu')", "box.schema.user.drop('other')",
    "box.schema.role.create('pr')", "box.schema.user.grant('other', 'read', 'space', 'test')",
    "box.schema.user.revoke('other', 'session', 'universe')", "box.schema.user.passwd('other', 'q')",
    "box.schema.user.passwd('q')", "box.space.test:insert{900, 'x'}", "box.space.test:replace{1, 'x'}",
    "box.space.test:update(1, {{'=', 2, 'x'}})", "box.space.test:upsert({1, 'x'}, {})", "box.space.test:delete(1)",
    "box.space.test:select(1)", "box.space.test:get(1)", "box.space.test:count()", "box.space.test:pairs():totable()",
    "box.space.test.index.name:min()", "box.space.test:len()", "box.func.stored:call{1, 2}", "box.schema.user.info('other')",
    "box.space._user:get(1)", "box.space._user:delete(999)", "box.space._vuser:select(1)", "box.session.su('admin')",
}

local function each(set, f)
    for privileges, kind, name in set:gmatch('([%w,]+) ([%w_]+) ?([%w_]*)') do
        f('p', privileges, kind, name ~= '' and name or nil)
    end
end

local function outcome(action)
    box.begin()
    local ok, err = box.session.su('p', pcall, loadstring('return ' .. action))
    box.rollback()
    local text = tostring(err)
    if ok then
        return 'done'
    elseif text:find('is denied for user', 1, true) or text:find('does not exist', 1, true) or
        text:find('is not found', 1, true) then
        return 'refused'
    end
    return (text:gsub('builtin/[%w/_]+%.lua:%d+: ', ''))
end

for _, set in ipairs(SETS) do
    each(set, box.schema.user.grant)
    local done = {}
    for _, action in ipairs(ACTIONS) do
        local result = outcome(action)
        if result ~= 'refused' then
            table.insert(done, action .. (result ~= 'done' and ': ' .. result or ''))
        end
    end
    check.values(set, done)
    each(set, box.schema.user.revoke)
end

-- Who may give has not to be who may take: 'super' may take.
box.schema.role.create('r')
box.schema.user.create('q')
box.schema.user.grant('p', 'super')
box.schema.user.grant('q', 'read,write', 'universe')
local RIGHTS = {
    {'session', 'universe'}, {'read', 'space', 'test'}, {'read,write', 'space', 'test'},
    {'execute', 'function', 'stored'}, {'read', 'sequence', 'numbers'}, {'execute', 'role', 'r'},
    {'execute', 'role', 'public'}, {'execute', 'role', 'super'},
}
for _, name in ipairs{'p', 'q'} do
    for _, right in ipairs(RIGHTS) do
        pcall(box.schema.user.grant, 'other', unpack(right))
        local part = right[1]:match('^%w+')
        local ok, err = box.session.su(name, pcall, box.schema.user.revoke, 'other', part, right[2], right[3])
        check.values(name .. ' takes ' .. table.concat(right, ' '), ok, tostring(err))
        local given, why = box.session.su(name, pcall, box.schema.user.grant, 'other', part, right[2], right[3])
        check.values(name .. ' gives ' .. table.concat(right, ' '), given, tostring(why))
    end
end
check.values('what is left', box.schema.user.info('other'))
check.finish()
