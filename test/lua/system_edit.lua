-- SPDX-License-Identifier: BSD-2-Clause
-- Rows of system spaces changed by hand: what is accepted can be read back by the next start.
local fio = require('fio')
local test = require('tap').test('system_edit')
test:plan(16)

box.cfg{log = 'tarn.log'}

--- Starts another process from a copy of this one's files and returns what it prints.
local function restarted(expression)
    box.snapshot()
    local copy = fio.tempdir()
    for _, name in ipairs(fio.glob('*.snap')) do
        fio.copyfile(name, copy)
    end
    local script = fio.pathjoin(copy, 'start.lua')
    local file = fio.open(script, {'O_CREAT', 'O_WRONLY'}, tonumber('644', 8))
    file:write(("box.cfg{log = 'tarn.log'} io.write(tostring(%s)) os.exit(0)"):format(expression))
    file:close()
    local pipe = io.popen(('cd %s && %s start.lua 2>&1'):format(copy, fio.abspath(arg[-1])))
    local out = pipe:read('*a')
    pipe:close()
    fio.rmtree(copy)
    return out
end

local function refused(what, text, action, ...)
    local ok, err = pcall(action, ...)
    test:ok(not ok and tostring(err):find(text, 1, true), what)
    if ok or not tostring(err):find(text, 1, true) then
        test:diag(tostring(err))
    end
end

-- A row of _func_index whose index is gone.
local s = box.schema.space.create('s')
s:create_index('pk')
box.schema.func.create('f', {body = 'function(t) return {t[1]} end', is_deterministic = true,
                             is_sandboxed = true})
s:create_index('by_func', {func = 'f', parts = {{1, 'unsigned'}}})
s:insert{1}
box.space._index:delete{s.id, 1}
test:is(#box.space._func_index:select(), 1, 'the row of _func_index stays')
test:is(restarted('#box.space.s:select()'), '1', 'and a start does without the index')

-- Roles that are granted.
box.schema.role.create('r')
box.schema.user.create('u')
box.schema.user.grant('u', 'r')
local by_name = box.space._user.index.name
refused('a granted role becomes no user', 'is granted', by_name.update, by_name, 'r',
        {{'=', 4, 'user'}})
box.schema.user.revoke('u', 'r')
by_name:update('r', {{'=', 4, 'user'}})
test:is(box.space._user.index.name:get('r').type, 'user', 'one that nobody has does')
test:is(restarted("box.schema.user.exists('r')"), 'true', 'and is a user after a start')

-- The space of settings, whose rows are not stored.
local space, index = box.space._space, box.space._index
refused('field count', 'does not support other formats', space.update, space, 380, {{'=', 5, 3}})
refused('format', 'does not support other formats', space.update, space, 380,
        {{'=', 7, {{name = 'name', type = 'string'}, {name = 'value', type = 'string'}}}})
refused('another key', 'does not support altering', index.update, index, {380, 0},
        {{'=', 6, {{5, 'string'}}}})
refused('another index', 'does not support secondary', index.insert, index,
        {380, 1, 'value', 'tree', {unique = false}, {{1, 'scalar'}}})
space:insert{600, 1, 'copy', 'service', 0, setmetatable({}, {__serialize = 'map'}), {}}
refused('a key that the rows do not have', 'Tuple field 2 type', index.insert, index,
        {600, 0, 'pk', 'tree', {unique = true}, {{1, 'unsigned'}}})
index:insert{600, 0, 'pk', 'tree', {unique = true}, {{0, 'string'}}}
test:is(#box.space.copy:select(), #box.space._session_settings:select(), 'another such space')
test:is(restarted('#box.space.copy:select()'), tostring(#box.space.copy:select()),
        'is there after a start')
box.space.copy:drop()
test:is(restarted('box.space.copy'), 'nil', 'and can be dropped')

-- Names of system spaces, by which the server itself finds them.
for _, name in ipairs{'_sequence', '_vspace', '_schema'} do
    refused('the name of ' .. name, 'can not rename a system space', space.update, space,
            box.space[name].id, {{'=', 3, 'another'}})
end

os.exit(test:check() and 0 or 1)
