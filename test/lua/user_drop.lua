-- SPDX-License-Identifier: BSD-2-Clause
-- A drop of a user that is refused changes nothing, also in a transaction that goes on. (Tarantool
-- 2.6 takes the rights of the user away by then.)
local tap = require('tap')
box.cfg{log_level = 3, wal_mode = 'none'}
local test = tap.test('drop of a user')
test:plan(6)

box.schema.user.create('poor')
box.schema.user.grant('poor', 'read,write', 'space', '_user')
box.schema.user.grant('poor', 'read,write', 'space', '_priv')
box.schema.user.create('victim')
box.schema.user.grant('victim', 'read,write,create', 'universe')
box.session.su('victim', box.schema.space.create, 'own')
local function state()
    return {box.schema.user.info('victim'), box.space.own ~= nil}
end
local before = state()

local ok, err = box.session.su('poor', pcall, box.schema.user.drop, 'victim')
test:ok(not ok and err.code == box.error.ACCESS_DENIED, 'refused')
test:is_deeply(state(), before, 'nothing has changed')
test:ok(box.session.su('poor', pcall, function()
    box.begin()
    pcall(box.schema.user.drop, 'victim')
    box.commit()
end), 'in a transaction that is committed')
test:is_deeply(state(), before, 'neither')

-- One that goes through in a transaction.
box.begin()
box.schema.user.drop('victim')
box.rollback()
test:is_deeply(state(), before, 'a drop that is rolled back')
box.begin()
box.schema.user.drop('victim')
box.commit()
test:ok(not box.schema.user.exists('victim') and box.space.own == nil, 'one that is committed')
os.exit(test:check() and 0 or 1)
