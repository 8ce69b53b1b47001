-- SPDX-License-Identifier: BSD-2-Clause
-- Fibers: create, new, order of running, names, ids, status.
local check = require('check')
fiber = require('fiber')
json, yaml, msgpack = require('json'), require('yaml'), require('msgpack')
log = {}
function note(x) table.insert(log, x) end
check [[
type(fiber.self()), type(fiber.id()), fiber.self():id() == fiber.id(), fiber.status(), fiber.self():status()
note('a') fiber.create(function() note('b') end) note('c')
log
log = {} note('a') fiber.new(function() note('b') end) note('c')
log
fiber.yield()
log
log = {}
for i = 1, 3 do fiber.new(function(...) note({i, ...}) end, i, 'arg', nil, i) end
log
fiber.yield()
log
f = fiber.create(function() fiber.sleep(0.01) end)
f:status(), fiber.status(f), type(f:id())
fiber.find(f:id()) == nil, fiber.find(f:id()):id() == f:id()
fiber.sleep(0.03)
f:status()
fiber.find(99999999)
fiber.find()
fiber.find('x')
f = fiber.create(function() end)
f:status()
f = fiber.new(function() end)
f:status()
f:name()
f:name('mine')
f:name()
fiber.self():name('self')
fiber.name()
fiber.name('again')
fiber.self().name(fiber.self())
fiber.name(('n'):rep(300))
fiber.name(('n'):rep(300), {truncate = true})
#fiber.name()
fiber.name(5)
fiber.name()
fiber.create()
fiber.create(5)
fiber.create('x')
fiber.new()
fiber.create(function() error('inside') end):status()
fiber.create(function(...) note(select('#', ...)) end, nil, nil):status()
fiber.self().id() == fiber.id()
fiber.self().nosuch
type(fiber.self().storage)
fiber.self().storage.x = 5
fiber.self().storage.x, fiber.self().storage.y
type(fiber.time()), type(fiber.time64()), type(fiber.clock()), type(fiber.clock64())
type(fiber.info()), type(fiber.info()[fiber.id()]), fiber.info()[fiber.id()].name, fiber.info()[fiber.id()].fid == fiber.id()
fiber.self().foo()
fiber.self().testcancel()
fiber.self():testcancel()
f = fiber.new(function() end) fiber.yield()
tostring(f)
f.storage
f == f
f == fiber.self(), fiber.self() == fiber.self(), f == 5
f:id() ~= fiber.id(), f:status()
f:name()
f:wakeup()
f:cancel()
f:join()
f:set_joinable(true)
fiber.join(f)
fiber.name(f)
json.encode(f)
json.encode({f})
yaml.encode(f)
t = json.decode(json.encode(fiber.self()))
t.id == fiber.id(), t.name == fiber.name(), t.status
t = msgpack.decode(msgpack.encode({fiber.self()}))[1]
t.id == fiber.id(), t.name == fiber.name(), t.status
json.encode(fiber.channel())
fiber.name({})
fiber.status({})
fiber.status(5)
fiber.id(5)
fiber.cancel({})
fiber.join({})
fiber.wakeup({})
fiber.set_joinable({}, 1)
fiber.find({})
fiber.find(1, 2)
fiber.find(-1)
fiber.find(0 / 0)
fiber.find(1e300)
]]
check.finish()
