-- SPDX-License-Identifier: BSD-2-Clause
-- count, len, min, max, random, bsize.
local check = require('check')
box.cfg{}
s = box.schema.space.create('s')
s:create_index('pk')
s:create_index('sk', {parts = {{2, 'string'}, {3, 'integer'}}, unique = false})
check [[
s:len(), s:count(), s.index.pk:len(), s.index.sk:count('a')
s.index.pk:min(), s.index.pk:max(), s.index.sk:min(), s.index.sk:max()
s.index.pk:random(0)
s:insert{1, 'a', 5}
s:insert{2, 'a', 7}
s:insert{3, 'b', -5}
s:insert{4, 'c', 0}
s:len(), s:count(), s.index.pk:len(), s.index.sk:len()
s:count(2), s:count{2}, s:count(99), s:count{}
s:count(2, {iterator = 'GE'}), s:count(2, {iterator = 'LT'}), s:count(2, {iterator = 'GT'}), s:count(2, {iterator = 'LE'}), s:count(2, {iterator = 'ALL'})
s.index.sk:count('a'), s.index.sk:count{'a', 7}, s.index.sk:count({'a', 6}, {iterator = 'GT'})
s:count('x')
s:count(1, {iterator = 'nonsense'})
s.index.sk:count{'a', 'b'}
s.index.sk:count{'a', 1, 2}
s.index.pk:min()
s.index.pk:max()
s.index.pk:min(2)
s.index.pk:max(2)
s.index.pk:min(99)
s.index.pk:min('x')
s.index.sk:min()
s.index.sk:max()
s.index.sk:min('a')
s.index.sk:max('a')
s.index.sk:max{'a', 5}
s.index.sk:min('zzz')
s.index.sk:max{'a', 5, 5}
s.index.pk:random(7) ~= nil
s.index.pk:random(-1) ~= nil
s:bsize()
s:delete(4)
s:bsize(), s:len()
s.index.pk:bsize() > 0
s.index.pk.len()
s.index.pk.count()
s.index.pk.min()
]]
check.finish()
