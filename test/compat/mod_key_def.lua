-- SPDX-License-Identifier: BSD-2-Clause
-- The module key_def.
local check = require('check')
box.cfg{}
kd = require('key_def')
new, null = kd.new, box.NULL

check [[
type(kd.new), type(kd.extract_key), type(kd.compare), type(kd.compare_with_key), type(kd.merge), type(kd.totable)
new()
new(1)
new({})
new({}, 2)
new{{}}
new{{fieldno = 1}}
new{{type = 'unsigned'}}
new{{fieldno = 1, type = 'unsigned'}}:totable()
new{{fieldno = 1, type = 'abc'}}
new{{fieldno = 1, type = 5}}
new{{fieldno = 1, type = 'STR'}}:totable()
new{{fieldno = 1, type = 'string', collation = 'unicode_ci'}}:totable()
new{{fieldno = 1, type = 'unsigned', collation = 'unicode_ci'}}:totable()
new{{fieldno = 1, type = 'string', collation = 'zz'}}
new{{fieldno = 1, type = 'string', collation_id = 2}}:totable()
new{{fieldno = 1, type = 'string', collation_id = 2222}}
new{{fieldno = 1, type = 'string', collation_id = 2, collation = 'unicode'}}
new{{fieldno = 1, type = 'string', is_nullable = true}}:totable()
new{{fieldno = 1, type = 'string', is_nullable = 5}}:totable()
new{{fieldno = 1, type = 'string', path = 'a.b'}}:totable()
new{{fieldno = 1, type = 'string', path = 'a['}}
new{{fieldno = 1, type = 'string', path = 5}}
new{{fieldno = 1, type = 'string', path = '[*]'}}
new{{fieldno = 1, type = 'string', path = ''}}:totable()
new{{field = 7, type = 'string'}}:totable()
new{{1, 'string'}}
new{{fieldno = 1, type = 'any'}}
new{{fieldno = 1, type = 'array'}}
new{{fieldno = 1, type = 'map'}}
new{{fieldno = 1, type = '*'}}
new{{fieldno = 1, type = 'string'}, {fieldno = 1, type = 'string'}}:totable()
new{{fieldno = 1, type = 'string', foo = 1}}:totable()
a = new{{fieldno = 1, type = 'unsigned'}, {fieldno = 3, type = 'string', is_nullable = true, path = 'a.b'}, {fieldno = 2, type = 'string', collation = 'unicode'}}
tostring(a), type(a), a.x
require('json').decode(require('json').encode(a))
require('yaml').decode(require('yaml').encode(a))
require('msgpack').decode(require('msgpack').encode(a))
a == a, a == new(a:totable())
]]

check [[
k = new{{fieldno = 1, type = 'unsigned'}, {fieldno = 2, type = 'string', is_nullable = true}}
k:extract_key{1, 'x', 3}
k:extract_key{1}
k:extract_key{'x', 1}
k:extract_key{}
k:extract_key()
k:extract_key(5)
k:extract_key(box.tuple.new{1, 'x', 3})
k:extract_key{1, 5}
k:extract_key{1, null}
k:extract_key('abc')
k:extract_key({1, 'x'}, 5)
k:extract_key{1.0, 'x'}
k:compare({1, 'x'}, {1, 'y'}), k:compare({1, 'x'}, {1}), k:compare({1}, {1}), k:compare({2}, {1, 'z'})
k:compare({1})
k:compare()
k:compare({1}, {'x'})
k:compare(box.tuple.new{2}, {1})
k:compare({1.0}, {1ULL})
k:compare(1, 2)
k:compare({1, 2}, {1, 2})
k:compare_with_key({1, 'x'}, {1, 'y'}), k:compare_with_key({1, 'x'}, {1}), k:compare_with_key({1, 'x'}, {})
k:compare_with_key({1, 'x'}, 1)
k:compare_with_key({1, 'x'}, {'x'})
k:compare_with_key({1})
k:compare_with_key({1}, box.tuple.new{1})
k:compare_with_key({1}, nil)
k:compare_with_key({1, 'x'}, {1, null})
k:compare_with_key({'a'}, {1})
k:compare_with_key({1, 'x'}, {null})
k:merge()
k:merge(5)
k:merge({})
k:merge(a):totable()
a:merge(k):totable()
k:merge(k):totable()
new{{fieldno = 1, type = 'string', is_nullable = true}}:merge(new{{fieldno = 1, type = 'unsigned'}}):totable()
new{{fieldno = 1, type = 'string', path = 'a'}}:merge(new{{fieldno = 1, type = 'string', path = '["a"]'}, {fieldno = 1, type = 'string', path = 'b'}}):totable()
k.extract_key({1})
k.totable()
k.compare(1)
k.compare_with_key(1)
k.merge(1)
kd.extract_key(k, {1, 'x'})
kd.merge(k, k):totable()
]]

check [[
p = new{{fieldno = 2, type = 'unsigned', path = 'a.b'}}
p:extract_key{1, {a = {b = 5}}}
p:extract_key{1, {a = {}}}
p:extract_key{1, {a = {b = 'x'}}}
p:extract_key{1, 5}
p:extract_key{1}
p:compare({1, {a = {b = 5}}}, {2, {a = {b = 6}}})
p:compare_with_key({1, {a = {b = 5}}}, {5})
s = box.schema.space.create('s')
i = s:create_index('pk', {parts = {{1, 'unsigned'}, {2, 'string', collation = 'unicode_ci'}}})
new(i.parts):totable()
s:insert{1, 'AbC'}
new(i.parts):compare(s:get{1, 'abc'}, {1, 'aBc'}), new(i.parts):extract_key(s:get{1, 'abc'})
box.tuple.is(k:extract_key{1, 'x'})
n = new{{fieldno = 1, type = 'number'}}
n:compare({1}, {1.5}), n:compare({-1}, {18446744073709551615ULL}), n:compare({1/0}, {2}), n:compare({-0.0}, {0})
n:compare({0/0}, {1}), n:compare({0/0}, {0/0}), n:compare({9007199254740993LL}, {9007199254740992})
sc = new{{fieldno = 1, type = 'scalar'}}
sc:compare({true}, {1}), sc:compare({1}, {'x'}), sc:compare({'a'}, {'b'}), sc:compare({false}, {true})
u = new{{fieldno = 1, type = 'uuid'}}
u:compare({require('uuid').fromstr('c8f0fa1f-da29-438c-a040-393f1126ad39')}, {require('uuid').fromstr('c8f0fa1f-da29-438c-a040-393f1126ad40')}) < 0
]]
check.finish()
