-- SPDX-License-Identifier: BSD-2-Clause
-- box.watch, box.watch_once, box.broadcast: who is told what, and what cannot be told.
local tap = require('tap')
local fiber = require('fiber')
local msgpack = require('msgpack')

local test = tap.test('watch')
test:plan(9)
local seen = {}
local watcher = box.watch('own', function(name, value) table.insert(seen, {name, value}) end)
fiber.sleep(0)
test:is_deeply(seen, {{'own'}}, 'a watcher is told at first that there is no value')
box.broadcast('own', 1)
box.broadcast('own', {a = 2})
fiber.sleep(0)
test:is_deeply(seen[2], {'own', {a = 2}}, 'then the newest')
test:is(#seen, 2, 'and nothing else')
test:is_deeply(box.watch_once('own'), {a = 2}, 'the value may be asked for')
test:is(box.watch_once('nothing'), nil, 'where there is one')

-- An extension that nobody knows.
box.broadcast('own', msgpack.object_from_raw('\212\85\0'))
fiber.sleep(0.01)
test:is(#seen, 2, 'what scripts have no value for is not told')
box.broadcast('own', 3)
fiber.sleep(0.01)
test:is_deeply(seen[3], {'own', 3}, 'which ends neither the watcher nor the server')

watcher:unregister()
box.broadcast('own', 4)
fiber.sleep(0)
test:is(#seen, 3, 'nothing comes any more')
test:ok(not pcall(watcher.unregister, watcher), 'it ends once')
os.exit(test:check() and 0 or 1)
