-- SPDX-License-Identifier: BSD-2-Clause
-- Globals and additions to Lua that applications count on.
local check = require('check')
check [[
type(box), type(require), type(package.path), type(package.cpath), type(arg), type(os.getenv), type(debug.traceback)
jit ~= nil, type(jit.version), bit.band(5, 3), type(require('ffi').cast)
type(require('fiber')), type(require('clock')), type(require('log')), type(require('json')), type(require('yaml')), type(require('msgpack')), type(require('fio')), type(require('errno')), type(require('tap')), type(require('strict'))
(select(2, pcall(require, 'nosuchmodule_for_this_test')):match('^[^\n]*'))
package.loaded.box == box, package.loaded.fiber == require('fiber')
dostring('return 1 + 1')
dostring('return ...', 7)
dostring('syntax error here')
os.getenv('NO_SUCH_VARIABLE_HERE')
type(os.exit)
_VERSION
#arg, arg[0]:match('[^/]+$')
type(box.cfg), type(box.error), type(box.tuple.new)
box.tuple.new{1, 2}[2]
math.type
collectgarbage('count') > 0
]]
check.finish()
