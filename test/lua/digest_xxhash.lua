-- SPDX-License-Identifier: BSD-2-Clause
-- xxHash: the sums that its description gives; in pieces as at once.
local tap = require('tap')
local digest = require('digest')

local test = tap.test('xxhash')
test:plan(17)

test:is(digest.xxhash32(''), 0x02cc5d05, 'nothing, 32 bits')
test:is(digest.xxhash64(''), 0xef46db3751d8e999ULL, 'nothing, 64 bits')
test:is(digest.xxhash32('abc'), 0x32d153ff, 'abc, 32 bits')
test:is(digest.xxhash64('abc'), 0x44bc2cf5ad770999ULL, 'abc, 64 bits')
test:isnt(digest.xxhash32('abc', 1), digest.xxhash32('abc'), 'a seed changes it')

for _, name in ipairs{'xxhash32', 'xxhash64'} do
    local hash = digest[name]
    local text = ('0123456789'):rep(100)
    local h = hash.new(7)
    local same = true
    for at = 1, #text, 7 do
        h:update(text:sub(at, at + 6))
        same = same and h:result() == hash(text:sub(1, at + 6), 7)
    end
    test:ok(same, name .. ' in pieces')
    h:clear()
    test:is(h:result(), hash('', 7), 'with its seed again')
    h:clear(8)
    h:update('x')
    test:is(h:result(), hash('x', 8ULL), 'with another')
    test:is(select(2, pcall(hash, 5)), ('Usage: digest.%s(string[, unsigned number])'):format(name), 'no string')
    test:like(select(2, pcall(hash.new, -1)), 'Usage: digest.' .. name .. '.new', 'a negative seed')
    test:like(select(2, pcall(h.update, h, nil)), 'Usage: ' .. name .. ':update', 'no string to add')
end

os.exit(test:check() and 0 or 1)
