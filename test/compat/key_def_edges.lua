-- SPDX-License-Identifier: BSD-2-Clause
-- The module key_def: parts, tuples and keys of every kind.
local check = require('check')
local ffi = require('ffi')
box.cfg{log_level = 0}
kd, NULL, decimal = require('key_def'), box.NULL, require('decimal')
new = kd.new
k = new{{fieldno = 1, type = 'unsigned'}}
s = new{{fieldno = 2, type = 'string', collation = 'unicode_ci'}, {fieldno = 1, type = 'number', is_nullable = true}}
cycle = {}
cycle[1] = cycle
raiser = setmetatable({1}, {__serialize = function() error('raised') end})
t = box.tuple.new{1, 'a'}
check [[
new()
new(nil)
new(NULL)
new({}, {})
new(5LL)
new(print)
new{{}}
new{{fieldno = 1}}
new{{type = 'string'}}
new{{fieldno = 1, type = 5}}
new{{fieldno = 1, type = 'STRING'}}:totable()
new{{fieldno = 1, type = 'str'}}:totable()
new{{fieldno = 1, type = 'uint'}}:totable()
new{{fieldno = 1, type = 'unsigned'}}:totable()
new{{fieldno = 1, type = 'num'}}:totable()
new{{fieldno = 1, type = 'integer'}}:totable()
new{{fieldno = 1, type = 'double'}}:totable()
new{{fieldno = 1, type = 'decimal'}}:totable()
new{{fieldno = 1, type = 'boolean'}}:totable()
new{{fieldno = 1, type = 'scalar'}}:totable()
new{{fieldno = 1, type = 'uuid'}}:totable()
new{{fieldno = 1, type = 'nosuch'}}
new{{fieldno = 2147483646, type = 'string'}}:totable()
new{{fieldno = 2147483647, type = 'string'}}:totable()
new{{fieldno = 1, type = 'string', is_nullable = 1}}:totable()
new{{fieldno = 1, type = 'string', is_nullable = 'x'}}:totable()
new{{fieldno = 1, type = 'string', is_nullable = NULL}}:totable()
new{{fieldno = 1, type = 'string', collation = 5}}
new{{fieldno = 1, type = 'string', collation = {}}}
new{{fieldno = 1, type = 'string', collation = ''}}
new{{fieldno = 1, type = 'string', collation = 'none'}}:totable()
new{{fieldno = 1, type = 'string', collation = 'binary'}}:totable()
new{{fieldno = 1, type = 'scalar', collation = 'unicode'}}:totable()
new{{fieldno = 1, type = 'unsigned', collation = 'unicode'}}
new{{fieldno = 1, type = 'string', collation_id = 'x'}}
new{{fieldno = 1, type = 'string', collation_id = 1}}:totable()
new{{fieldno = 1, type = 'string', collation_id = 9999}}
new{{fieldno = 1, type = 'string', collation_id = -1}}
new{{fieldno = 1, type = 'string', collation_id = 1, collation = 'unicode'}}
new{{fieldno = 1, type = 'string', path = 'a..b'}}
new{{fieldno = 1, type = 'string', path = '.a'}}:totable()
new{{fieldno = 1, type = 'string', path = '[1].a["x"]'}}:totable()
new{{fieldno = 1, type = 'string', path = 'a[*].b'}}
k:extract_key(cycle)
k:extract_key(raiser)
k:extract_key{raiser}
k:extract_key(print)
k:extract_key(NULL)
k:extract_key(5LL)
k:extract_key({print})
k:extract_key{-1}
k:extract_key{1.5}
k:extract_key{NULL}
k:extract_key{2^64}
k:extract_key{18446744073709551615ULL}
k:extract_key{decimal.new(1)}
k:extract_key{'1'}
k:extract_key{true}
k:extract_key{{}}
k:extract_key(t)
k:extract_key(t, t)
s:extract_key{1}
s:extract_key{1, NULL}
s:extract_key{1, '\xff'}
s:extract_key{'x', 'y'}
s:extract_key{NULL, 'y'}
s:extract_key(t)
k:compare(t, t), k:compare(t, {2}), k:compare({2}, t)
k:compare(t, 5)
k:compare(5, t)
k:compare(NULL, t)
k:compare(t, NULL)
k:compare(cycle, t)
k:compare(t, raiser)
k:compare(t, {})
k:compare({}, t)
k:compare({NULL}, t)
k:compare(t)
k:compare(t, t, t)
s:compare({1, 'A'}, {1, 'a'}), s:compare({NULL, 'A'}, {1, 'a'}), s:compare({NULL, 'b'}, {NULL, 'B'})
s:compare({1, '\xff'}, {1, '\xfe'}), s:compare({1, ''}, {1, '\0'})
k:compare_with_key(t, {1}), k:compare_with_key(t, {0}), k:compare_with_key(t, {2}), k:compare_with_key(t, {})
k:compare_with_key(t, {-1})
k:compare_with_key(t, {1.5})
k:compare_with_key(t, {'1'})
k:compare_with_key(t, {NULL})
k:compare_with_key(t, 1)
k:compare_with_key(t, NULL)
k:compare_with_key(t, 'x')
k:compare_with_key(NULL, {1})
k:compare_with_key(t, cycle)
s:compare_with_key(t, {'A'}), s:compare_with_key(t, {'A', 1}), s:compare_with_key(t, {'A', NULL})
s:compare_with_key(t, {NULL})
k:merge(NULL)
k:merge(t)
k:merge('x')
k:merge(k, k)
k:merge(s):totable()
s:merge(k):totable()
s:merge(s):totable()
k:totable(5)
k.totable(NULL)
k.totable({})
k.merge(k)
k.merge(t, k)
k:nosuch()
k[1], k[NULL], k['']
k == k, k == s, k == NULL, k == 1
tostring(k), type(k)
require('json').encode(k) == require('json').encode(k:totable())
]]
check.refused [[
new{1}
new{'x'}
new{NULL}
new{t}
k:compare_with_key(t, print)
k.x = 1
#k
k + 1
k < k
]]
check.finish()
