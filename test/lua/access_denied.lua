-- SPDX-License-Identifier: BSD-2-Clause
-- Triggers of denied access that raise, are denied themselves, or yield. (Tarantool 2.6 dies of
-- some of these, so they are not compared.)
local tap = require('tap')
local fiber = require('fiber')
local fio = require('fio')
local netbox = require('net.box')

local dir = fio.tempdir()
box.cfg{work_dir = dir, listen = 'unix/:./sock', log = dir .. '/log'}
box.schema.space.create('t'):create_index('pk')
local test = tap.test('denials')
test:plan(16)

local DENIED = "Read access to space 't' is denied for user 'guest'"
local function as_guest()
    return box.session.su('guest', pcall, box.space.t.get, box.space.t, 1)
end
local function denial()
    local ok, err = as_guest()
    return not ok and tostring(err)
end
local c = netbox.connect('unix/:' .. dir .. '/sock')
local function remote_denial(what, ...)
    local ok, err = pcall(c[what], c, ...)
    return not ok and tostring(err)
end

local seen, current = {}, nil
local function set(f)
    seen = {}
    box.session.on_access_denied(f, current)
    current = f
end

set(function(...) table.insert(seen, {...}) error('from the trigger') end)
test:is(denial(), DENIED, 'the denial, not what the trigger raises')
test:is(remote_denial('call', 'f'), "Execute access to function 'f' is denied for user 'guest'", 'over the network')
test:is(remote_denial('eval', ''), "Execute access to universe '' is denied for user 'guest'", 'of eval')
test:ok(c:ping(), 'the connection lives')
test:is_deeply(seen, {{'Read', 'space', 't'}, {'Execute', 'function', 'f'}, {'Execute', 'universe', ''}}, 'all called')
local log = fio.open(dir .. '/log', {'O_RDONLY'}):read(1000000)
test:is(select(2, log:gsub('from the trigger', '')), 3, 'logged')

set(function() box.error{code = box.error.NO_SUCH_PROC, reason = 'own'} end)
test:is(denial(), DENIED, 'an error object')
test:is(remote_denial('call', 'f'), "Execute access to function 'f' is denied for user 'guest'", 'over the network')

set(function(...)
    table.insert(seen, {...})
    if #seen < 5 then
        as_guest()
    end
end)
test:is(denial(), DENIED, 'one that is denied itself')
test:ok(#seen >= 1 and #seen <= 5, 'ends')
test:is(remote_denial('call', 'f'), "Execute access to function 'f' is denied for user 'guest'", 'over the network')

set(function() fiber.sleep(0.001) table.insert(seen, box.session.user()) end)
test:is(denial(), DENIED, 'one that yields')
test:is(remote_denial('call', 'f'), "Execute access to function 'f' is denied for user 'guest'", 'over the network')
test:is(#seen, 2, 'to its end')

local two = function() table.insert(seen, 'two') end
set(function() table.insert(seen, 'one') error('x') end)
box.session.on_access_denied(two)
denial()
table.sort(seen)
test:is_deeply(seen, {'one', 'two'}, 'the others are called, too')
box.session.on_access_denied(nil, two)
box.session.on_access_denied(nil, current)
denial()
test:is(#seen, 2, 'none any more')

c:close()
fio.rmtree(dir)
os.exit(test:check() and 0 or 1)
