-- SPDX-License-Identifier: BSD-2-Clause
-- box.once runs a function once in the life of the data.
local check = require('check')
box.cfg{log_level = 4}
fiber = require('fiber')
check [[
-- once
box.once('a', function(...) print('once',...) end, 1, 2)
box.once('a', function(...) print('once',...) end, 1, 2)
box.once()
box.once('x')
box.once(1, print)
box.once('err', error, 'e')
box.once('err', error, 'e')
-- session
]]
check.finish()
