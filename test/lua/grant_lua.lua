-- SPDX-License-Identifier: BSD-2-Clause
-- Rights to run scripts: lua_eval, and lua_call of all functions or by name.
local tap = require('tap')
local fio = require('fio')
local netbox = require('net.box')

local dir = fio.tempdir()
box.cfg{work_dir = dir, listen = 'unix/:./sock', log_level = 3}
local test = tap.test('rights to run scripts')
test:plan(7)

rawset(_G, 'one', function() return 'one' end)
rawset(_G, 'pkg', {two = function() return 'two' end, method = function() return 'method' end})
box.schema.func.create('stored', {body = 'function() return "stored" end'})
box.schema.user.create('ann', {password = 'x'})
box.schema.role.create('caller')

local function connect()
    return netbox.connect('unix/:' .. dir .. '/sock', {user = 'ann', password = 'x'})
end
local c = connect()

-- What a call or an eval of ann's returns, or that it is denied.
local function outcome(what, ...)
    local ok, result = pcall(c[what], c, ...)
    if not ok then
        return result.code == box.error.ACCESS_DENIED and 'denied' or tostring(result)
    end
    return result
end

local BUILTINS = {
    'loadstring', 'box.session.su', 'os.getenv', 'string.rep', 'require', 'box.space._user:select', 'box.cfg', '',
}

local function builtins_are_denied(t)
    for _, name in ipairs(BUILTINS) do
        t:is(outcome('call', name, {'x'}), 'denied', name)
    end
end

test:test('nothing', function(t)
    t:plan(4 + #BUILTINS)
    t:is(outcome('call', 'one'), 'denied', 'a function')
    t:is(outcome('call', 'pkg.two'), 'denied', 'of a table')
    t:is(outcome('call', 'stored'), 'denied', 'a stored one')
    t:is(outcome('eval', 'return 1'), 'denied', 'eval')
    builtins_are_denied(t)
end)

test:test('all functions of scripts', function(t)
    t:plan(8 + #BUILTINS)
    box.schema.user.grant('ann', 'execute', 'lua_call')
    t:is(outcome('call', 'one'), 'one', 'a function')
    t:is(outcome('call', 'pkg.two'), 'two', 'of a table')
    t:is(outcome('call', 'pkg:method'), 'method', 'a method')
    t:is(outcome('call_16', 'one')[1][1], 'one', 'by the old call')
    t:is(outcome('call', 'nosuch'), "Procedure 'nosuch' is not defined", 'one that is not there')
    t:is(outcome('call', 'stored'), 'denied', 'a stored one')
    t:is(outcome('eval', 'return 1'), 'denied', 'eval')
    builtins_are_denied(t)
    box.schema.user.revoke('ann', 'execute', 'lua_call')
    t:is(outcome('call', 'one'), 'denied', 'no more')
end)

test:test('functions by name', function(t)
    t:plan(9)
    box.schema.user.grant('ann', 'execute', 'lua_call', 'one')
    box.schema.user.grant('ann', 'execute', 'lua_call', 'box.session.user')
    box.schema.user.grant('ann', 'execute', 'lua_call', 'later')
    t:is(outcome('call', 'one'), 'one', 'it')
    t:is(outcome('call', 'pkg.two'), 'denied', 'another')
    t:is(outcome('call', 'box.session.user'), 'ann', 'one of ours')
    t:is(outcome('call', 'box.session.su', {'admin'}), 'denied', 'another of ours')
    rawset(_G, 'later', function() return 'later' end)
    t:is(outcome('call', 'later'), 'later', 'made later')
    t:is_deeply(box.schema.user.info('ann')[1], {'execute', 'lua_call', 'box.session.user'}, 'info')
    local ok, err = pcall(box.schema.user.grant, 'ann', 'execute', 'lua_call', 'one')
    t:is(not ok and tostring(err), "User 'ann' already has execute access on lua_call 'one'", 'twice')
    box.schema.user.revoke('ann', 'execute', 'lua_call', 'one')
    t:is(outcome('call', 'one'), 'denied', 'no more')
    box.schema.user.revoke('ann', 'execute', 'lua_call', 'box.session.user')
    box.schema.user.revoke('ann', 'execute', 'lua_call', 'later')
    t:is(outcome('call', 'box.session.user'), 'denied', 'nor that')
end)

test:test('eval', function(t)
    t:plan(3)
    box.schema.user.grant('ann', 'execute', 'lua_eval')
    t:is(outcome('eval', 'return box.session.user()'), 'ann', 'eval')
    t:is(outcome('call', 'one'), 'denied', 'no call')
    box.schema.user.revoke('ann', 'execute', 'lua_eval')
    t:is(outcome('eval', 'return 1'), 'denied', 'no more')
end)

test:test('by a role', function(t)
    t:plan(4)
    box.schema.role.grant('caller', 'execute', 'lua_call', 'one')
    t:is(outcome('call', 'one'), 'denied', 'not yet')
    box.schema.user.grant('ann', 'caller')
    t:is(outcome('call', 'one'), 'one', 'with the role')
    box.begin()
    box.schema.user.revoke('ann', 'caller')
    box.rollback()
    t:is(outcome('call', 'one'), 'one', 'what was rolled back')
    box.schema.user.revoke('ann', 'caller')
    t:is(outcome('call', 'one'), 'denied', 'without')
end)

test:test('wrong', function(t)
    t:plan(4)
    for _, what in ipairs{'read', 'write', 'create'} do
        local ok, err = pcall(box.schema.user.grant, 'ann', what, 'lua_call')
        t:is(not ok and tostring(err), ("Unsupported lua_call privilege '%s'"):format(what), what)
    end
    t:ok(not box.session.su('ann', pcall, box.schema.user.grant, 'ann', 'execute', 'lua_eval'),
         'to oneself')
end)

test:test('a user who goes', function(t)
    t:plan(2)
    box.schema.user.grant('ann', 'execute', 'lua_call', 'one')
    box.schema.user.grant('ann', 'execute', 'sql')
    c:close()
    box.schema.user.drop('ann')
    box.schema.user.create('ann', {password = 'x'})
    c = connect()
    t:is(outcome('call', 'one'), 'denied', 'leaves no rights')
    t:is(#box.space._priv.index.object:select{'lua_call', 'one'}, 1, 'but those of the role')
end)

fio.rmtree(dir)
os.exit(test:check() and 0 or 1)
