-- SPDX-License-Identifier: BSD-2-Clause
-- Random users, roles and grants from seeds; then each user tries things, and looks at the views.
local check = require('check')
package.path = (debug.getinfo(1, 'S').source:match('^@(.*/)') or './') .. '../random/?.lua;' .. package.path
local draw = require('draw')
local random, chance, pick = draw.random, draw.chance, draw.pick
box.cfg{log_level = 0, wal_mode = 'none'}

local USERS, ROLES = {'u1', 'u2', 'u3', 'u4'}, {'r1', 'r2', 'r3'}
local RIGHTS = {'read', 'write', 'execute', 'create', 'drop', 'alter', 'usage', 'session', 'read,write', 'insert'}
local KINDS = {'universe', 'space', 'space', 'function', 'sequence', 'role', 'user', 'space'}

local function names_of(space)
    local out = {}
    for _, t in box.space[space]:pairs() do
        if space ~= '_vspace' and not t[3]:match('^[A-Z_]+$') or t[1] >= 512 then
            table.insert(out, t[3])
        end
    end
    table.sort(out)
    return table.concat(out, ' ')
end

local function object_of(kind)
    if kind == 'universe' or chance(15) then
        return nil
    elseif kind == 'role' or kind == 'user' then
        -- In the reference, rights on a role beside execute change who is a member, and those on a
        -- user outlive it.
        return nil
    end
    return pick{kind:sub(1, 1) .. 1, kind:sub(1, 1) .. 2}
end

local function set_up()
    for i = 1, 2 do
        local s = box.schema.space.create('s' .. i)
        s:create_index('pk')
        s:insert{1}
        box.schema.func.create('f' .. i, {body = 'function() return 1 end', setuid = i == 2})
        box.schema.sequence.create('s' .. i)
    end
    for _, name in ipairs(USERS) do
        box.schema.user.create(name)
    end
    for _, name in ipairs(ROLES) do
        box.schema.role.create(name)
    end
end

local function clean_up()
    box.session.su('admin')
    for _, t in ipairs(box.space._space:select(512, {iterator = 'GE'})) do
        pcall(box.schema.space.drop, t[1])
    end
    for _, t in ipairs(box.space._func:select()) do
        if t[5] == 'LUA' and t[3]:match('^[fn]%d') then
            pcall(box.schema.func.drop, t[3])
        end
    end
    for _, t in ipairs(box.space._sequence:select()) do
        pcall(box.schema.sequence.drop, t[3])
    end
    for _, t in ipairs(box.space._user:select(32, {iterator = 'GE'})) do
        check.call('drop ' .. t[3], box.schema[t[4]].drop, t[3])
    end
end

local function change_rights()
    local to = chance(60) and {'user', pick(USERS)} or {'role', pick(ROLES)}
    local method = chance(85) and 'grant' or 'revoke'
    if chance(25) then
        local name = pick(ROLES)
        check.call(('%s %s %s'):format(method, to[2], name), box.schema[to[1]][method], to[2], name)
        return
    end
    local rights, kind = pick(RIGHTS), pick(KINDS)
    local name = object_of(kind)
    check.call(('%s %s %s on %s %s'):format(method, to[2], rights, kind, tostring(name)),
               box.schema[to[1]][method], to[2], rights, kind, name)
end

local ACTIONS = {
    function(n) return box.space['s' .. n]:select{} end,
    function(n) return box.space['s' .. n]:replace{2} end,
    function(n) return box.space['s' .. n]:insert{random(1000) + 10} ~= nil end,
    function(n) return box.space['s' .. n]:delete{2} end,
    function(n) return box.space['s' .. n]:create_index('i', {parts = {{2, 'any'}}}) end,
    function(n) return box.func['f' .. n]:call() end,
    function(n) return box.sequence['s' .. n]:next() ~= nil end,
    function(n) return box.sequence['s' .. n]:set(5) end,
    function(n) return box.schema.space.create('n' .. n .. random(1000)) ~= nil end,
    function(n) return box.schema.sequence.create('n' .. n .. random(1000)) ~= nil end,
    function(n) return box.schema.func.create('n' .. n .. random(1000)) end,
    function(n) return box.schema.user.passwd('u' .. n, 'x') end,
    function(n) return box.space['s' .. n]:rename('s' .. n) end,
    function(n) return box.space['s' .. n]:truncate() end,
    function(n) return box.space._space:count() > 0 end,
}

local function act(user)
    for _ = 1, 8 do
        local i, n = 1 + random(#ACTIONS), 1 + random(2)
        check.call(('%s does %d with %d'):format(user, i, n), ACTIONS[i], n)
    end
    for _, view in ipairs{'_vspace', '_vsequence', '_vuser', '_vfunc'} do
        check.call(view, names_of, view)
    end
    for _, view in ipairs{'_vpriv', '_vindex', '_vcollation', '_vspace', '_vfunc'} do
        check.call('count of ' .. view, function() return box.space[view]:count() end)
    end
end

for seed = 1, tonumber(arg[1]) or 25 do
    draw.start(seed)
    check.values('seed', seed)
    set_up()
    for _ = 1, 12 + random(12) do
        change_rights()
    end
    for _, user in ipairs(USERS) do
        local ok = pcall(box.session.su, user)
        check.values(user, ok)
        if ok then
            act(user)
            box.session.su('admin')
        end
    end
    clean_up()
end
check.finish()
