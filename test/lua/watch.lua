-- SPDX-License-Identifier: BSD-2-Clause
-- box.watch, box.watch_once, box.broadcast: who is told what, and what cannot be told.
local tap = require('tap')
local fiber = require('fiber')
local fio = require('fio')
local msgpack = require('msgpack')
local uuid = require('uuid')

local test = tap.test('watch')
test:plan(20)
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

-- The server's own events.
test:is_deeply(box.watch_once('box.id'), {}, 'who the server is, is not known yet')
test:is_deeply(box.watch_once('box.election'), {}, 'nor anything of an election')
test:is_deeply(box.watch_once('box.schema'), {}, 'nor the schema')
test:is(box.watch_once('box.status').status, 'unconfigured', 'its status is')
local dir = fio.tempdir()
box.cfg{work_dir = dir, log_level = 3}
local id = box.watch_once('box.id')
test:is(id.id, 1, 'the number')
test:ok(uuid.is_uuid(id.instance_uuid) and tostring(id.instance_uuid) == box.info.uuid, 'the UUID')
test:ok(uuid.is_uuid(id.replicaset_uuid), 'that of the replica set')
test:is(box.watch_once('box.schema').version, box.internal.schema_version(), 'the version of the schema')
test:is_deeply(box.watch_once('box.status'), {status = 'running', is_ro = false, is_ro_cfg = false}, 'running')
box.cfg{read_only = true}
test:ok(box.watch_once('box.status').is_ro and box.watch_once('box.election').is_ro, 'read-only, in both')
local _, err = pcall(box.broadcast, 'box.own', 1)
test:is(err.code, box.error.ILLEGAL_PARAMS, 'such names are not for others')
fio.rmtree(dir)
os.exit(test:check() and 0 or 1)
