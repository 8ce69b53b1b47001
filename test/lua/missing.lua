-- SPDX-License-Identifier: BSD-2-Clause
-- What the server does not have is refused with its name.
local tap = require('tap')

local test = tap.test('missing')
test:plan(5)

local ok, err = pcall(require, 'swim')
test:ok(not ok, 'a module of the reference')
local line = "^module 'swim' not found:\n\ttarn does not have the module 'swim' yet, " ..
             'see docs/compatibility.md\n'
test:like(err, line, 'is called missing before all places are listed')
test:is(package.search('swim'), nil, 'is not found by package.search()')
ok, err = pcall(require, 'no.such.module')
test:like(err, "^module 'no.such.module' not found:\n\tno field", 'any other module')
package.preload['swim'] = function() return 'mine' end
test:is(require('swim'), 'mine', "an application's own under the name")

os.exit(test:check() and 0 or 1)
