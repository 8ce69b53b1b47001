-- SPDX-License-Identifier: BSD-2-Clause
-- Custom collations: what box.internal.collation and _collation take and refuse.
local check = require('check')
box.cfg{}
function m(t)
    return setmetatable(t or {}, {__serialize = 'map'})
end
check [[
box.internal.collation ~= nil
box.internal.collation.create('a')
box.internal.collation.create('a', 'ICU')
box.internal.collation.create('a', 'ICU', 'ru-RU')
box.space._collation.index.name:get{'a'}
box.internal.collation.create('a', 'ICU', 'ru-RU')
box.internal.collation.create('a', 'ICU', 'ru-RU', {}, {if_not_exists=true})
box.internal.collation.create('a', 'ICU', 'ru-RU', {if_not_exists=true})
box.internal.collation.create('b', 'ICU', 'ru-RU', {strength='primary'})
box.internal.collation.create('b2', 'ICU', 'ru-RU', {strength='PRIMARY'})
box.internal.collation.create('b3', 'ICU', 'ru-RU', {strength='foo'})
box.internal.collation.create('b4', 'ICU', 'ru-RU', {strength=1})
box.internal.collation.create('b5', 'ICU', 'ru-RU', {strength=7})
box.internal.collation.create('b6', 'ICU', 'ru-RU', {alternate='foo'})
box.internal.collation.create('b6', 'ICU', 'ru-RU', {alternate='shifted'})
box.internal.collation.create('b7', 'ICU', 'ru-RU', {alternate='NON_IGNORABLE'})
box.internal.collation.create('b7a', 'ICU', 'ru-RU', {alternate='non-ignorable'})
box.internal.collation.create('b8', 'ICU', 'ru-RU', {case_first='upper_first'})
box.internal.collation.create('b9', 'ICU', 'ru-RU', {case_first='upper'})
box.internal.collation.create('b9', 'ICU', 'ru-RU', {case_first='OFF'})
box.internal.collation.create('c1', 'ICU', 'ru-RU', {case_first='lower_first'})
box.internal.collation.create('c2', 'ICU', 'ru-RU', {case_first='foo'})
box.internal.collation.create('c3', 'ICU', 'ru-RU', {case_level='on'})
box.internal.collation.create('c4', 'ICU', 'ru-RU', {case_level='foo'})
box.internal.collation.create('c5', 'ICU', 'ru-RU', {case_level=true})
box.internal.collation.create('c6', 'ICU', 'ru-RU', {french_collation='on'})
box.internal.collation.create('c7', 'ICU', 'ru-RU', {french_collation='foo'})
box.internal.collation.create('c8', 'ICU', 'ru-RU', {normalization_mode='on'})
box.internal.collation.create('c9', 'ICU', 'ru-RU', {normalization_mode='foo'})
box.internal.collation.create('d1', 'ICU', 'ru-RU', {numeric_collation='on'})
box.internal.collation.create('d2', 'ICU', 'ru-RU', {numeric_collation='default'})
box.internal.collation.create('d2', 'ICU', 'ru-RU', {numeric_collation='foo'})
box.internal.collation.create('d3', 'ICU', 'ru-RU', {unknown='foo'})
box.internal.collation.create('d4', 'ICU', 'ru-RU', {hiragana='on'})
box.internal.collation.create('d5', 'ICU', 'ru_RU')
box.internal.collation.create('d6', 'ICU', 'de@collation=phonebook')
box.internal.collation.create('d7', 'ICU', 'invalid')
box.internal.collation.create('d8', 'ICU', 'xx_YY_zz')
box.internal.collation.create('d9', 'ICU', '')
box.internal.collation.create('e1', 'BINARY', '')
box.internal.collation.create('e2', 'binary', 'foo')
box.internal.collation.create('e3', 'icu', '')
box.internal.collation.create('e4', 'nope', '')
box.internal.collation.create('e5', 1, '')
box.internal.collation.create(1, 'ICU', '')
box.internal.collation.create(nil, 'ICU', '')
box.internal.collation.create('', 'ICU', '')
box.internal.collation.create(('x'):rep(65001), 'ICU', '')
box.internal.collation.create('e6', 'ICU', ('x'):rep(100))
box.internal.collation.create('e6', 'ICU', ('x'):rep(2000))
box.internal.collation.create('e7', 'ICU', 1)
box.internal.collation.create('e8', 'ICU', '', 1)
box.internal.collation.create('e9', 'BINARY', '', {strength='primary'})
box.internal.collation.create('e10', 'BINARY', '', {strength='foo'})
box.internal.collation.create('e11', 'ICU', 'ru', {}, {if_not_exists='foo'})
box.internal.collation.create('e11', 'ICU', 'ru', {}, {foo='foo'})
box.internal.collation.create('e11', 'ICU', 'ru', {}, 1)
box.internal.collation.drop('nope')
box.internal.collation.drop('nope', {if_exists=true})
box.internal.collation.drop('a')
box.internal.collation.drop('a')
box.internal.collation.drop(1)
box.internal.collation.drop()
box.internal.collation.exists('b')
box.internal.collation.exists('bb')
box.internal.collation.exists()
box.internal.collation.id_by_name('b')
box.internal.collation.id_by_name('unicode_ci')
box.internal.collation.id_by_name()
box.internal.collation.id_by_name(1)
]]
check [[
box.space._collation:insert{1000, 'z', 1, 'ICU', 'ru', {}}
box.space._collation:auto_increment{'z', 1, 'ICU', 'ru', {}}
box.space._collation:auto_increment{'z2', 1, 'ICU', 'ru', {strength=box.NULL}}
box.space._collation:auto_increment{'z3', 1, 'ICU', 'ru', {strength={}}}
box.space._collation:auto_increment{'z4', 1, 'ICU', 'ru', {strength='primary', strength='foo'}}
box.space._collation:insert{254, 'z5', 1, 'ICU', 'ru', {}}
box.space._collation:insert{1001, 'z8', 1, 'ICU', 'ru', {}, 1}
box.space._collation:insert{1002, 'z9', 1, 'ICU', 'ru'}
box.space._collation:insert{1002, 'z\xff9', 1, 'ICU', 'ru',{}}
box.space._collation:replace{1000, 'z', 1, 'ICU', 'en', {}}
box.space._collation:update(1000, {{'=', 2, 'zz'}})
box.space._collation:delete(0)
box.space._collation:delete(1)
box.space._collation:delete(2)
box.space._collation:delete(3)
box.space._collation:delete(1000)
box.space._collation:delete(1000)
box.begin() box.space._collation:insert{1000, 'z', 1, 'ICU', 'ru', {}} box.rollback() 
box.space._collation:get(1000)
]]
check [[
box.internal.collation.create('b6', 'ICU', 'ru-RU', {alternate_handling='foo'})
box.internal.collation.create('b6a', 'ICU', 'ru-RU', {alternate_handling='shifted'})
box.internal.collation.create('b7', 'ICU', 'ru-RU', {alternate_handling='NON_IGNORABLE'})
box.internal.collation.create('b7a', 'ICU', 'ru-RU', {alternate_handling='non-ignorable'})
box.internal.collation.create('b9', 'ICU', 'ru-RU', {strength='default'})
box.internal.collation.create('b10', 'ICU', 'ru-RU', {case_first='default'})
box.internal.collation.create('b11', 'ICU', 'ru-RU', {strength=''})
box.internal.collation.create('b11', 'ICU', 'ru-RU', {strength='prim'})
box.internal.collation.create('b11', 'ICU', 'ru-RU', {strength='primaryx'})
box.internal.collation.create('b11', 'ICU', 'ru-RU', {case_first=''})
box.internal.collation.create('b11', 'ICU', 'ru-RU', {french_collation='foo', strength='bar', case_first='foo'})
box.internal.collation.create('b11', 'ICU', 'ru-RU', {french_collation='foo', case_level='bar', numeric_collation='foo'})
box.internal.collation.create('b11', 'ICU', 'ru-RU', {normalization_mode='foo', numeric_collation='bar'})
box.internal.collation.create('b11', 'ICU', 'ru-RU', {case_level='foo', normalization_mode='bar'})
box.internal.collation.create('b11', 'ICU', 'ru-RU', {case_first='foo', normalization_mode='bar'})
box.internal.collation.create('b11', 'ICU', 'ru-RU', {alternate_handling='foo', normalization_mode='bar'})
box.internal.collation.create('b11', 'ICU', 'ru-RU', {alternate_handling='foo', case_first='bar'})
box.internal.collation.create('nope', 'ICU', ('x'):rep(16))
box.internal.collation.create('nope', 'ICU', ('x'):rep(17))
box.internal.collation.create('loc1', 'ICU', '\xff\xff')
box.internal.collation.create('loc2', 'ICU', 'a b')
box.internal.collation.create('loc3', 'ICU', 'de@collation=nope')
box.internal.collation.create('loc4', 'ICU', '@')
box.internal.collation.create('loc5', 'ICU', '---')
box.space._collation:insert{1000, 'z', 1, 'ICU', 'ru', m()}
box.space._collation:insert{1004, 'z0', 1, 'ICU', 'ru', m()}
box.space._collation:insert{1005, 'z0', 1, 'ICU', 'ru', m()}
box.space._collation:auto_increment{'z1', 1, 'ICU', 'ru', m()}
box.space._collation:insert{1001, 'z8', 1, 'ICU', 'ru', m(), 1}
box.space._collation:insert{1002, 'z\xff9', 1, 'ICU', 'ru',m()}
box.space._collation:insert{1003, 'z\n9', 1, 'ICU', 'ru',m()}
box.space._collation:insert{1003, 'z10', 77, 'ICU', 'ru',m()}
box.space._collation:replace{1000, 'z', 1, 'ICU', 'en', m()}
box.space._collation:replace{1000, 'zz', 1, 'ICU', 'en', m()}
box.space._collation:update(1000, {{'=', 2, 'zz'}})
box.space._collation:insert{1009, 'a', 1, 'ICU', 'en', m{alternate='shifted'}}
]]
check [[
box.internal.collation.create('', 'nope', '')
box.internal.collation.create('', 'nope', '', {foo=1})
box.internal.collation.create('x', 'nope', '', {foo=1})
box.internal.collation.create('', 'ICU', ('x'):rep(40))
box.internal.collation.create('x', 'nope', ('x'):rep(40))
box.internal.collation.create('x', 'ICU', ('x'):rep(40), {foo=1})
box.internal.collation.create(('x'):rep(70000), 'ICU', ('x'):rep(40), {foo=1})
box.internal.collation.create(('x'):rep(70000), 'nope', 'a\xff', {foo=1})
box.internal.collation.create('', 'ICU', 'a\xff', {foo=1})
box.internal.collation.create('', 'ICU', '', {foo=1})
box.internal.collation.create('x', 'ICU', 'a\xff', {strength='foo'})
box.internal.collation.create('x', 'ICU', ('x'):rep(17), {strength='foo'})
box.internal.collation.create('x', 'ICU', 'a\xff', {strength=1})
box.internal.collation.create('x', 'BINARY', ('x'):rep(17), {strength='Primary'})
box.space._collation:insert{'1', 'g', 1, 'ICU', 'ru', m()}
box.space._collation:insert{1000, 'g', 1, 'ICU', 'ru', setmetatable({},{__serialize='map'})}
box.internal.collation.create('x', 'ICU', 'ru', 'foo')
box.internal.collation.create('x', 'ICU', 'ru', nil)
box.internal.collation.create('x', 'ICU', 'ru', nil, {if_not_exists=true})
box.internal.collation.create('x', 'ICU', 'ru', nil, 'foo')
box.internal.collation.create('x', 'ICU', 'ru', box.NULL, 'foo')
box.internal.collation.create('x', 'ICU', 'ru', m(), {if_not_exists=false})
box.internal.collation.create('x', 'ICU', 'ru', {if_not_exists=5})
box.internal.collation.create('x', 'ICU', 'ru', {if_not_exists=1, french_collation='on'})
box.internal.collation.create('xk', 'ICU', 'ru', {if_not_exists=1, french_collation='on'})
box.space._collation.index.name:get{'xk'}
box.internal.collation.drop('xk', {})
box.internal.collation.drop('xk', {})
box.internal.collation.drop('xk', {if_exists=false})
box.internal.collation.drop('xk', {foo=false})
box.internal.collation.create('xk', 'ICU')
box.internal.collation.create('xk')
box.internal.collation.create()
]]
for n = 1, 12 do
    check.call('locale of ' .. n + 21, box.internal.collation.create, 'n' .. n, 'ICU',
               'de@collation=phonebook' .. ('x'):rep(n - 1))
end
for _, t in box.space._collation:pairs({276}, {iterator = 'GT'}) do
    check.values('row', t)
end
check [[
box.schema.user.create('u')
box.schema.user.grant('u', 'read,write', 'space', '_collation')
box.schema.user.grant('u', 'create', 'universe')
box.session.su('u', box.internal.collation.create, 'y', 'ICU', 'ru')
box.session.su('u', box.internal.collation.drop, 'y')
box.session.su('u', box.internal.collation.drop, 'y', 'ICU')
]]
check.finish()
