-- SPDX-License-Identifier: BSD-2-Clause
-- Fills a data directory with a bit of everything: a snapshot and a log after it.
-- arg[1]: 'stop' ends cleanly, 'kill' ends without a word.
box.cfg{checkpoint_interval = 0}

local s = box.schema.space.create('things', {
    format = {{'id', 'unsigned'}, {'name', 'string'}, {'n', 'number', is_nullable = true}},
})
s:create_index('pk')
s:create_index('name', {parts = {'name'}})
s:create_index('n', {parts = {{'n', is_nullable = true}, 'id'}, unique = false})
local h = box.schema.space.create('hashed', {field_count = 2})
h:create_index('pk', {type = 'hash', parts = {{1, 'string'}}})
local any = box.schema.space.create('any')
any:create_index('pk')
local temp = box.schema.space.create('temp', {temporary = true})
temp:create_index('pk')
local here = box.schema.space.create('here', {is_local = true})
here:create_index('pk')
box.internal.collation.create('german', 'ICU', 'de', {strength = 'secondary'})
local kinds = box.schema.space.create('kinds', {
    format = {{'id', 'unsigned'}, {'at', 'array'}, {'flags', 'unsigned'},
              {'text', 'string', collation = 'german'}},
})
kinds:create_index('pk')
kinds:create_index('at', {type = 'rtree', parts = {'at'}, dimension = 3, distance = 'manhattan'})
kinds:create_index('flags', {type = 'bitset', parts = {'flags'}})
kinds:create_index('text', {parts = {{'text', collation = 'german'}}, unique = false})
kinds:create_index('words', {type = 'hash', parts = {{'text', collation = 'unicode'}}})

local typed = box.schema.space.create('typed', {format = {
    {'id', 'unsigned'}, {'i', 'integer'}, {'d', 'double'}, {'b', 'boolean'}, {'u', 'uuid'},
    {'any', 'scalar'}, {'m', 'map'}, {'a', 'array'},
    {'s', 'string', is_nullable = true},
}})
typed:create_index('pk')
for i, name in ipairs{'i', 'd', 'u', 'any'} do
    typed:create_index(name, {id = i, parts = {name}, unique = false})
end
typed:create_index('flags', {type = 'hash', parts = {'b', 'id'}})
local ffi, uuid = require('ffi'), require('uuid')
local function insert_typed(i)
    local id = uuid.fromstr(('%08x-0000-4000-8000-000000000000'):format(i))
    local any = ({i, 'text' .. i, i % 2 == 0, -i / 4})[i % 4 + 1]
    typed:insert{i, -i * 1000007, ffi.cast('double', i / 3), i % 2 == 0, id, any, {k = i},
                 {i, {i}}, i % 3 ~= 0 and 's' .. i or box.NULL}
end

-- Keys inside of fields, of many elements, and of functions that are made before and after.
local function pure_function(name, body, is_multikey)
    box.schema.func.create(name, {body = body, is_deterministic = true, is_sandboxed = true,
                                  opts = {is_multikey = is_multikey or false}})
end
pure_function('half', 'function(t) return {math.floor(t[1] / 2), t[2].name} end')
pure_function('marks', 'function(t) local r = {} for i, v in ipairs(t[2].tags) do r[i] = {v .. "!"} end return r end',
              true)
local keyed = box.schema.space.create('keyed')
keyed:create_index('pk')
keyed:create_index('name', {parts = {{2, 'string', path = 'name'}, {2, 'unsigned', path = '["n"][1]', is_nullable = true}}})
keyed:create_index('tags', {unique = false, parts = {{2, 'string', path = 'tags[*]'}}})
keyed:create_index('half', {func = 'half', unique = false, parts = {{1, 'unsigned'}, {2, 'string'}}})
keyed:create_index('hash', {type = 'hash', parts = {{2, 'string', path = 'name'}}})
local function insert_keyed(i)
    local tags = {}
    for k = 1, i % 4 do
        tags[k] = 'tag' .. i % (k + 2)
    end
    keyed:insert{i, {name = 'name' .. i % 100, n = i % 3 ~= 0 and {i} or nil, tags = tags}}
end

local seq = box.schema.sequence.create('ids', {start = 100, step = 5, max = 100000})
box.schema.sequence.create('cycle', {min = 1, max = 3, cycle = true})
local auto = box.schema.space.create('auto')
auto:create_index('pk', {sequence = 'ids'})
local own = box.schema.space.create('own')
own:create_index('pk', {sequence = true})

box.schema.user.create('ann', {password = 'secret'})
box.schema.user.grant('ann', 'read,write', 'space', 'things')
box.schema.role.create('reader')
box.schema.role.grant('reader', 'read', 'universe')
box.schema.user.grant('ann', 'reader')
box.schema.func.create('sum', {body = 'function(a, b) return a + b end'})
box.schema.func.create('plain', {setuid = true})

local function fill(from, to)
    for i = from, to do
        s:insert{i, 'name' .. i, i % 3 == 0 and box.NULL or i / 2}
        h:replace{'key' .. i % 17, i}
        here:replace{i % 5, i}
        insert_typed(i)
        auto:insert{box.NULL, i}
        own:insert{box.NULL, i}
        insert_keyed(i)
        kinds:insert{i, {i, i % 7, -i, i + 1, i, 0}, i * 5, ({'ä', 'A', 'ß'})[i % 3 + 1] .. i}
    end
end

local values = {0, 127, 128, 65536, 4294967296, 18446744073709551615ULL, -1, -32, -33, -129, -32769,
    -2147483649, -9223372036854775808LL, 0.5, 1e300, 'text', '', 'zero\0', 'ü', true, false, box.NULL,
    {}, {1, {2, {3}}}, {a = {b = {c = 1}}}, {[5] = 'five'}, ('x'):rep(300), ('y'):rep(70000)}
for i, v in ipairs(values) do
    any:insert{i, v}
end
fill(1, 50)
temp:insert{1, 'gone after a restart'}
box.snapshot()

fill(51, 100)
s:update(52, {{'=', 2, 'renamed'}, {'+', 3, 5}})
s:upsert({55, 'x'}, {{'-', 3, 1}})
s:upsert({201, 'upserted', 1}, {{'-', 3, 1}})
s:delete(53)
s:delete(1)
s.index.name:delete('name2')
box.begin()
for i = 300, 320 do
    s:insert{i, 'in a transaction ' .. i}
end
s:delete(310)
local savepoint = box.savepoint()
s:insert{400, 'rolled back to the savepoint'}
box.rollback_to_savepoint(savepoint)
h:replace{'from the transaction', 1}
box.commit()
box.begin()
s:insert{500, 'rolled back'}
box.rollback()
pcall(s.insert, s, {3, 'duplicate'})
local short = box.schema.space.create('short')
short:create_index('pk')
short:insert{1}
short:drop()
local emptied = box.schema.space.create('emptied')
emptied:create_index('pk')
emptied:insert{1}
emptied:truncate()
emptied:insert{2}
keyed:delete(60)
keyed:update(61, {{'!', '[2].tags[1]', 'first'}, {'=', '[2].name', 'other'}})
keyed:create_index('marks', {func = 'marks', unique = false, parts = {{1, 'string'}}})
keyed:insert{300, {name = 'last', tags = {'first', 'last'}}}
kinds:delete(60)
kinds:update(61, {{'=', 2, {1, 2, 3}}, {'=', 3, 7}, {'=', 4, 'Übung'}})
kinds.index.at:rename('place')
kinds:create_index('late', {type = 'bitset', parts = {'text'}})
s:create_index('late', {parts = {{2, 'string'}, {1, 'unsigned'}}})
box.schema.user.revoke('ann', 'write', 'space', 'things')
box.schema.user.passwd('ann', 'changed')
box.schema.func.drop('plain')
box.schema.func.create('in_c', {language = 'C', if_not_exists = true})
box.schema.func.create('multi', {body = 'function(t) return {t[1]} end', is_deterministic = true,
                                 is_sandboxed = true, exports = {'LUA'}})
box.schema.user.grant('ann', 'execute', 'function', 'sum')
box.schema.user.grant('ann', 'usage', 'sequence', 'ids')
box.schema.user.create('bob')
box.schema.user.drop('bob')
seq:next()
box.sequence.cycle:next()
box.sequence.cycle:next()
own:delete(3)
typed:update(7, {{'=', 'b', true}, {'+', 'i', 12}, {'=', 's', box.NULL}})
typed:upsert({8, 0, ffi.cast('double', 0), false, uuid.new(), 0, {x = 1}, {}}, {{'=', 's', 'upserted'}})
any:replace{100, ('z'):rep(500000)}

if arg[1] == 'kill' then
    require('ffi').cdef('int kill(int, int); int getpid(void);')
    require('ffi').C.kill(require('ffi').C.getpid(), 9)
end
os.exit(0)
