-- SPDX-License-Identifier: BSD-2-Clause
-- The server of the client tests. arg[1]: what to listen on.
local fiber = require('fiber')

box.cfg{listen = arg[1], log_level = 4}

local s = box.schema.space.create('test', {
    id = 600,
    format = {{'id', 'unsigned'}, {'name', 'string'}, {'n', 'integer', is_nullable = true}},
})
s:create_index('primary')
s:create_index('name', {parts = {'name'}})
s:create_index('n', {parts = {{'n', is_nullable = true}, 'id'}, unique = false})
for i = 1, 10 do
    s:insert{i, 'row' .. i, i * 10}
end
local private = box.schema.space.create('private', {id = 601})
private:create_index('primary')

function empty() end
function echo(...) return ... end
function returns_table() return {1, 2, {a = 1}} end
function returns_nil() return nil end
function returns_tuple() return box.space.test:get(1) end
function returns_rows() return box.space.test:select({}, {limit = 2}) end
function fails() error('on purpose') end
function fails_code() box.error{code = 321, reason = 'own reason'} end
function sleeps(seconds) fiber.sleep(seconds) return 'slept' end
function who() return box.session.user(), box.session.type() end
function big(n) return ('x'):rep(n) end
function add_space(name)
    local new = box.schema.space.create(name)
    new:create_index('pk')
    new:insert{1, name}
end
function pushes(n)
    for i = 1, n do
        box.session.push({i, 'message'})
    end
    return n
end
pkg = {inner = {f = function(x) return x end}, method = function(self, x) return self == pkg, x end}

box.schema.func.create('stored', {body = 'function(a, b) return a + b end'})
box.schema.func.create('echo')
box.schema.user.create('ann', {password = 'secret'})
box.schema.user.grant('ann', 'read,write,execute,create,drop,alter', 'universe')
box.schema.user.create('poor', {password = 'x'})
box.schema.user.grant('poor', 'read', 'space', 'test')
box.schema.user.grant('poor', 'execute', 'function', 'echo')
box.schema.user.create('nopass')

print('ready')
io.stdout:flush()
