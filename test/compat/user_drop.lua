-- SPDX-License-Identifier: BSD-2-Clause
-- Users dropped by others than the admin: the right to drop is enough, whoever gave what.
local check = require('check')
box.cfg{log_level = 0, wal_mode = 'none'}
box.schema.user.create('ann')
box.schema.user.grant('ann', 'read,write,execute,create,drop,alter', 'universe')
box.schema.role.create('a_role')
user = box.schema.user
function as(name, f, ...) return box.session.su(name, pcall, f, ...) end
check [[
as('ann', user.create, 'z')
as('ann', user.drop, 'z')
as('ann', user.drop, 'z')
as('ann', user.drop, 'z', {if_exists = true})
as('ann', user.create, 'z')
user.grant('z', 'a_role') user.grant('z', 'read', 'universe')
as('ann', user.drop, 'z')
user.create('z') return as('ann', user.drop, 'z')
as('ann', user.create, 'z')
user.grant('z', 'read,write,create', 'universe')
as('z', function() box.schema.space.create('own') box.schema.func.create('own') box.schema.sequence.create('own') end)
box.space.own ~= nil, box.func.own ~= nil, box.sequence.own ~= nil
as('ann', user.drop, 'z')
box.space.own, box.func.own, box.sequence.own
as('ann', user.drop, 'ann')
as('ann', user.drop, 'guest')
as('ann', user.drop, 'a_role')
as('ann', box.schema.role.create, 'r')
as('ann', box.schema.role.drop, 'r')
user.create('poor')
user.create('z') return as('poor', user.drop, 'z')
user.exists('z')
]]
check.finish()
