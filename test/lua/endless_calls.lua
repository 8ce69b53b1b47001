-- SPDX-License-Identifier: BSD-2-Clause
-- Triggers that cause themselves, and other calls without an end from C to Lua and back: they end
-- in an error, not with the fiber's C stack.
local tap = require('tap')
local trigger = require('trigger')
local yaml = require('yaml')

local test = tap.test('calls without an end')
test:plan(9)
box.cfg{log_level = 0, wal_mode = 'none'}

local space = box.schema.space.create('space')
space:create_index('pk')

local calls = 0
trigger.set('box.on_commit', 'again', function()
    calls = calls + 1
    space:replace{calls}
end)
space:replace{0}
trigger.del('box.on_commit', 'again')
test:ok(calls > 10, 'a commit causes the next one')
test:ok(space:len() >= calls, 'each of them is done')

calls = 0
local function again()
    calls = calls + 1
    box.begin()
    box.on_commit(again)
    space:replace{calls}
    box.commit()
end
again()
test:ok(calls > 10, 'the same with a function of the transaction')

calls = 0
trigger.set('box.on_rollback', 'again', function()
    calls = calls + 1
    box.begin()
    space:replace{1}
    box.rollback()
end)
box.begin()
space:replace{1}
box.rollback()
trigger.del('box.on_rollback', 'again')
test:ok(calls > 10, 'a rollback causes the next one')

box.schema.user.create('stranger')
calls = 0
box.session.on_access_denied(function()
    calls = calls + 1
    space:get{1}
end)
local ok, err = pcall(box.session.su, 'stranger', space.get, space, {1})
test:ok(not ok and tostring(err):find('denied') ~= nil, 'a denial causes the next one')
test:ok(calls > 10, 'each one is told of')

local function su()
    return box.session.su('admin', su)
end
ok, err = pcall(su)
test:ok(not ok and tostring(err):find('stack overflow') ~= nil, 'session.su')

local mt = {}
mt.__serialize = function() return yaml.encode(setmetatable({}, mt)) end
ok, err = pcall(yaml.encode, setmetatable({}, mt))
test:ok(not ok and tostring(err):find('stack overflow') ~= nil, '__serialize in YAML')

local depth = 0
local function loader()
    return function()
        depth = depth + 1
        return require('endless' .. depth)
    end
end
table.insert(package.loaders, 1, loader)
ok, err = pcall(require, 'endless')
table.remove(package.loaders, 1)
test:ok(not ok and tostring(err):find('stack overflow') ~= nil, 'a loader that requires')

os.exit(test:check() and 0 or 1)
