-- SPDX-License-Identifier: BSD-2-Clause
-- table.equals, which Tarantool 2.11 has.
local tap = require('tap')
local test = tap.test('table.equals')
test:plan(10)
test:ok(table.equals({}, {}), 'empty tables')
test:ok(table.equals({1, {a = 2}}, {1, {a = 2}}), 'deep ones')
test:ok(not table.equals({1, {a = 2}}, {1, {a = 3}}), 'that differ deep down')
test:ok(not table.equals({1}, {1, 2}), 'more on the right')
test:ok(not table.equals({1, 2}, {1}), 'more on the left')
test:ok(not table.equals({a = 1}, {b = 1}), 'other keys')
test:ok(table.equals(1, 1) and not table.equals(1, '1') and not table.equals(nil, {}), 'no tables')
test:ok(table.equals({5LL}, {5ULL}), 'cdata by their own equality')
local by_size = {__eq = function(a, b) return #a == #b end}
test:ok(table.equals(setmetatable({1}, by_size), setmetatable({2}, by_size)), '__eq has a say')
test:ok(not table.equals({box.NULL}, {}), 'box.NULL is something')
os.exit(test:check() and 0 or 1)
