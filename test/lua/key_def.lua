-- SPDX-License-Identifier: BSD-2-Clause
-- The module key_def: what came after 2.6.0, and that all kinds of values compare as in indexes.
local tap = require('tap')
local fio = require('fio')
local key_def = require('key_def')

box.cfg{work_dir = fio.tempdir(), log_level = 2}
local test = tap.test('key_def')
test:plan(22)

local k = key_def.new{{fieldno = 1, type = 'unsigned'}, {fieldno = 2, type = 'string', is_nullable = true}}

local function fails(text, f, ...)
    local ok, e = pcall(f, ...)
    test:is(not ok and tostring(e), text, text)
end

test:is(select('#', k:validate_key{}), 0, 'an empty key')
test:is(select('#', k:validate_key{1}), 0, 'a partial key')
test:is(select('#', k:validate_key(box.tuple.new{1, 'x'})), 0, 'a tuple as a key')
test:is(select('#', k:validate_key{1, box.NULL}), 0, 'nil')
fails('Supplied key type of part 0 does not match index part type: expected unsigned', k.validate_key, k, {'x'})
fails('Invalid key part count (expected [0..2], got 3)', k.validate_key, k, {1, 'x', 2})
fails('Tuple/Key must be MsgPack array', k.validate_key, k, 1)
test:is(select('#', k:validate_full_key{1, 'x'}), 0, 'a full key')
fails('Invalid key part count in an exact match (expected 2, got 1)', k.validate_full_key, k, {1})
test:is(select('#', k:validate_tuple{1}), 0, 'a tuple')
fails('Tuple field [1] required by space format is missing', k.validate_tuple, k, {})
fails('Supplied key type of part 1 does not match index part type: expected string', k.validate_tuple, k, {1, 2})
fails('Usage: key_def:validate_tuple(tuple)', k.validate_tuple, k)
test:is(k:compare_keys({1, 'a'}, {1, 'b'}), -1, 'below')
test:is(k:compare_keys({1}, {1, 'b'}), 0, 'equal as far as both go')
test:is(k:compare_keys({2}, {1, 'b'}), 1, 'above')
fails('Supplied key type of part 0 does not match index part type: expected unsigned', k.compare_keys, k, {1}, {'b'})
fails('Invalid key part count (expected [0..2], got 3)', k.compare_with_key, k, {1}, {1, 'b', 2})
test:is_deeply(key_def.new{{fieldno = 1, type = 'string', exclude_null = true}}:totable(),
               {{fieldno = 1, type = 'string', exclude_null = true, is_nullable = true}}, 'exclude_null')

-- The order of an index is the order of its key definition.
local s = box.schema.space.create('s')
s:create_index('pk')
s:create_index('sk', {unique = false, parts = {{2, 'scalar', path = 'v', is_nullable = true}}})
local values = {1, 1.5, -1, 0, -0.0, 1 / 0, -1 / 0, 0 / 0, 2 ^ 53, 9007199254740993LL, 18446744073709551615ULL,
                'a', 'b', '', true, false, box.NULL, require('uuid').new(), require('decimal').new('1.25')}
for i, v in ipairs(values) do
    s:insert{i, {v = v}}
end
s:insert{100, {w = 1}}
local def = key_def.new(s.index.sk.parts)
local last, bad = nil, 0
for _, t in s.index.sk:pairs() do
    if last ~= nil and def:compare(last, t) > 0 then
        bad = bad + 1
    end
    bad = bad + (def:compare_with_key(t, def:extract_key(t)) ~= 0 and 1 or 0)
    last = t
end
test:is(bad, 0, 'ordered as the index')
test:is(#def:extract_key{1}, 1, 'a nil for what is missing')

local before = collectgarbage('count')
for _ = 1, 10000 do
    key_def.new{{fieldno = 1, type = 'unsigned'}}
end
collectgarbage()
collectgarbage()
test:ok(collectgarbage('count') < before + 1000, 'collected')
os.exit(test:check() and 0 or 1)
