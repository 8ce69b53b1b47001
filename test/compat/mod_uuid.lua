-- SPDX-License-Identifier: BSD-2-Clause
-- The module uuid.
local check = require('check')
uuid = require('uuid')
u = uuid.fromstr('64d22e4d-ac92-4a23-899a-e59f34af5479')
check [[
u, type(u), tostring(u), u:str(), u:isnil()
u:bin():hex(), u:bin('l'):hex(), u:bin('b'):hex(), u:bin('h'):hex(), u:bin('n'):hex()
pcall(uuid.frombin, u:bin())
#uuid.str(), #uuid.bin(), #uuid.bin('b')
uuid.fromstr('x'), uuid.fromstr('64D22E4DAC924A23899AE59F34AF5479'), uuid.fromstr('')
uuid.fromstr('64D22E4D-AC92-4A23-899A-E59F34AF5479')
uuid.fromstr('ffffffff-ffff-ffff-ffff-ffffffffffff'), uuid.fromstr('ffffffff-ffff-ffff-dfff-ffffffffffff')
uuid.frombin(u:bin()) == u, uuid.frombin(u:bin('b'), 'b') == u, uuid.frombin(u:bin('b'), 'l') == u
uuid.frombin(u:bin('network'), 'network') == u, uuid.frombin(u:bin('host'), 'host') == u
u == uuid.new(), u == 'x', u == nil, u == box.NULL, u ~= nil, u == u:str()
uuid.NULL, uuid.NULL:isnil(), uuid():isnil(), uuid.new() == uuid.new()
u.time_low, u.time_mid, u.time_hi_and_version, u.clock_seq_low, u.node[0]
u.nosuch
u.str()
u.str(1)
u.isnil()
u .. 'x'
#u
require('msgpack').encode(u):hex(), require('msgpack').decode(require('msgpack').encode(u)) == u
require('json').encode({u}), require('yaml').encode({u})
uuid.fromstr(uuid.str()) ~= nil, uuid.new():str():sub(15, 15)
]]
check.finish()
