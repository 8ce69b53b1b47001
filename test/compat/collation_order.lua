-- SPDX-License-Identifier: BSD-2-Clause
-- Collations in formats and indexes: order, equality, hashes, of every collation there is.
local check = require('check')
box.cfg{}
check [[
s = box.schema.space.create('s', {format={{'a','string',collation='unicode_ci'},{'b','unsigned'},{'c','scalar',collation='unicode', is_nullable=true}}})
s:create_index('pk', {parts={'a'}}).parts
s:create_index('pk', {parts={1}}).parts
s:create_index('sk', {parts={'a','b'}}).parts
s:create_index('sk2', {parts={{'a', collation='unicode'}}}).parts
s:create_index('sk3', {parts={{'a', collation='none'}}}).parts
s:create_index('sk4', {parts={{'a', collation='binary'}}}).parts
s:create_index('sk5', {parts={1, 'string'}}).parts
s:create_index('sk6', {parts={{1, 'string'}}}).parts
s:create_index('sk7', {parts={{field=1, type='string'}}}).parts
s:create_index('sk8', {parts={{'a', 'string'}}}).parts
s:create_index('sk9', {parts={{'a', 'scalar'}}, unique=false}).parts
s:create_index('sk10', {parts={{'c'}}, unique=false}).parts
s:create_index('sk11', {parts={{'c', 'string'}}, unique=false}).parts
s:create_index('sk12', {parts={{'b', 'unsigned', collation='unicode'}}, unique=false}).parts
s:create_index('sk13', {parts={{'a', collation='unicode'}, {'a', collation='unicode_ci'}}, unique=false}).parts
s:create_index('sk14', {parts={{4, collation='unicode'}}, unique=false}).parts
s:create_index('sk15', {parts={{4, 'any', collation='unicode'}}, unique=false}).parts
s:create_index('sk16', {parts={{4, 'string', collation=1}}, unique=false}).parts
s:create_index('sk17', {parts={{4, 'string', collation={}}}, unique=false}).parts
s:create_index('sk18', {parts={{4, 'string', collation=''}}, unique=false}).parts
s:create_index('sk19', {parts={{4, 'string', collation='Unicode'}}, unique=false}).parts
s:create_index('sk19', {parts={{4, 'string', collation='UNICODE_CI'}}, unique=false}).parts
s:create_index('sk19', {parts={{4, 'string', collation=box.NULL}}, unique=false}).parts
s:create_index('sk20', {parts={{4, 'string', collation=100000}}, unique=false}).parts
box.space._index:select{s.id}
s:format({{'a','string',collation='nope'}})
s:format({{'a','unsigned',collation='unicode'}})
s:format({{'a','string',collation=1}})
s:format({{'a','string',collation={}}})
s:drop()
t = box.schema.space.create('t')
_ = t:create_index('pk', {parts={{1,'string'}}})
_ = t:create_index('ci', {parts={{1,'string',collation='unicode_ci'}}, unique=false})
_ = t:create_index('u', {parts={{1,'string',collation='unicode'}}, unique=true})
t:replace{'Straße'}
t:replace{'strasse'}
t:replace{'STRASSE'}
t:replace{'a'}
t:replace{'A'}
t:replace{'á'}
t:replace{'b'}
t:replace{'ё'}
t:replace{'е'}
t:replace{'Е'}
t:replace{'ж'}
t:replace{'\xff'}
t:replace{'\xff\xfe'}
t:replace{'a\xff'}
t:replace{'\xc0\x80'}
t:replace{'\xed\xa0\x80'}
t:replace{'a\0b'}
t:replace{'ab'}
t:replace{'a\0c'}
t:replace{'\0'}
t:replace{''}
t:replace{'\1'}
t:replace{'\239\191\189'}
t.index.ci:select()
t.index.u:select()
t.index.ci:select('STRASSE')
t.index.ci:select('A')
t.index.ci:select('A', {iterator='GE'})
t.index.ci:select('A', {iterator='LT'})
t.index.u:get('STRASSE')
t.index.u:get('a\0b')
t.index.ci:count('e')
t.index.ci:min('a')
t.index.ci:max('a')
t:drop()
h = box.schema.space.create('h')
_ = h:create_index('pk', {type='hash', parts={{1,'string',collation='unicode_ci'}}})
h:insert{'abc'}
h:insert{'ABC'}
h:replace{'ÁBC'}
h:get('abc')
h:select('abC')
h:update('abC', {{'=', 2, 1}})
h:update('abC', {{'=', 1, 'aBc'}})
h:upsert({'ABc', 1}, {{'=', 2, 7}})
h:delete('äbc')
h:delete('äbc')
h:drop()
n = box.schema.space.create('n')
_ = n:create_index('pk')
_ = n:create_index('ci', {parts={{2,'scalar',collation='unicode_ci', is_nullable=true}}, unique=true})
n:insert{1, 'a'}
n:insert{2, 'A'}
n:insert{2, 5}
n:insert{3, true}
n:insert{4, box.NULL}
n:insert{5}
n:insert{6, 'b'}
n:insert{7, 1.5}
n.index.ci:select()
n.index.ci:select('B')
n.index.ci:alter{parts={{2,'scalar',collation='unicode', is_nullable=true}}}
n:insert{8, 'A'}
n.index.ci:select()
n.index.ci:alter{parts={{2,'scalar',collation='unicode_ci', is_nullable=true}}}
n.index.ci:select()
n:drop()
box.internal.collation.create('num', 'ICU', 'ru', {numeric_collation='on'})
box.internal.collation.create('up', 'ICU', 'ru', {case_first='upper_first'})
box.internal.collation.create('low', 'ICU', 'ru', {case_first='lower_first'})
box.internal.collation.create('shift', 'ICU', 'en', {alternate_handling='shifted'})
box.internal.collation.create('shiftq', 'ICU', 'en', {alternate_handling='shifted', strength='quaternary'})
box.internal.collation.create('ident', 'ICU', 'en', {strength='identical'})
box.internal.collation.create('fr', 'ICU', 'fr', {french_collation='on'})
box.internal.collation.create('cl', 'ICU', 'en', {strength='primary', case_level='on'})
box.internal.collation.create('norm', 'ICU', 'en', {normalization_mode='on'})
box.internal.collation.create('bin', 'BINARY', '', {})
]]
words = {'a', 'A', 'b', 'B', 'a1', 'a10', 'a9', 'a 1', 'a-1', 'a_1', 'cote', 'coté', 'côte', 'côté', 'résumé', 'Resume', 'resume', 'Résumé',
 'black bird', 'black-bird', 'blackbird', 'blackbirds', 'Blackbird', 'e\204\129', 'é', 'ё', 'Ё', 'е', 'Е', 'ж', 'я', 'ß', 'ss', 'SS', 'æ', 'ae', 'ø', 'o', 'z', 'ö', 'ä', 'å', 'ch', 'c', 'd', 'ñ', 'n', '中', '文', 'あ', 'ア', 'ア', '1', '10', '2', '½', '\xff', 'a\xff', '\xc3', '', '\0', 'a\0', 'i', 'I', 'ı', 'İ', '\204\129\204\163', '\204\163\204\129', 'a\204\129\204\163', 'a\204\163\204\129' }
for _, r in box.space._collation:pairs() do
  local s = box.schema.space.create('x')
  s:create_index('pk')
  s:create_index('c', {parts={{2,'string',collation=r[2]}}, unique=false})
  for i, w in ipairs(words) do s:insert{i, w} end
  local o, last = {}, nil
  for _, t in s.index.c:pairs() do table.insert(o, t[1]) end
  local g = {}
  for i, w in ipairs(words) do g[i] = s.index.c:count(w) end
  check.values(r[2], table.concat(o, ' '), table.concat(g, ' '))
  s.index.c:drop()
  local h = box.schema.space.create('h')
  h:create_index('c', {type='hash', parts={{2,'string',collation=r[2]}}})
  for i, w in ipairs(words) do g[i] = pcall(h.insert, h, {i, w}) and 1 or 0 end
  check.values(r[2], h:len(), table.concat(g))
  h:drop()
  s:drop()
end
check.finish()
