-- SPDX-License-Identifier: BSD-2-Clause
-- select on trees of several parts: whole and partial keys, unique and not.
local check = require('check')
box.cfg{}
s = box.schema.space.create('s')
s:create_index('pk')
s:create_index('ab', {parts = {{2, 'string'}, {3, 'integer'}}, unique = false})
s:create_index('bac', {parts = {{3, 'integer'}, {2, 'string'}, {4, 'number'}}})
local n = 0
for _, a in ipairs{'a', 'b', 'c'} do
    for _, b in ipairs{-1, 0, 2} do
        n = n + 1
        s:insert{n, a, b, n / 2}
    end
end
s:insert{20, 'b', 0, 100.5}
s:insert{15, 'b', 0, -7}
local iterators = {'EQ', 'REQ', 'ALL', 'LT', 'LE', 'GE', 'GT'}
for _, it in ipairs(iterators) do
    for _, key in ipairs{{'b'}, {'b', 0}, {'b', 1}, {'bb'}, {'', 5}, {'z'}, {'c', 99}} do
        check.call(it .. ' ab ' .. check.show(key), s.index.ab.select, s.index.ab, key, {iterator = it})
    end
    for _, key in ipairs{{0}, {0, 'b'}, {0, 'b', 100.5}, {0, 'b', 2}, {1}, {-5}} do
        check.call(it .. ' bac ' .. check.show(key), s.index.bac.select, s.index.bac, key, {iterator = it})
    end
end
check [[
s.index.ab:select{'b', 0, 1}
s.index.ab:select{0}
s.index.ab:select{'b', 'x'}
s.index.bac:get{0, 'b', 2.5}
s.index.bac:get{0, 'b'}
s.index.bac:select({0, 'b', 1, 1}, {iterator = 'GT'})
]]
check.finish()
