-- SPDX-License-Identifier: BSD-2-Clause
-- Stored procedures in C.
local tap = require('tap')
local fiber = require('fiber')
local fio = require('fio')

local test = tap.test('module_box')
test:plan(15)

box.cfg{work_dir = fio.tempdir(), log_level = 0, wal_mode = 'none'}
local s = box.schema.space.create('test')
s:create_index('primary')

local function create(name)
    box.schema.func.create(name, {language = 'C'})
    return function(...)
        return box.func[name]:call({...})
    end
end

local echo, put, get = create('procedures.echo'), create('procedures.put'), create('procedures.get')
test:is_deeply({echo(1, 'two', {3, {a = 4}})}, {1, 'two', {3, {a = 4}}}, 'arguments and results')
test:is(select('#', echo()), 0, 'none of them')
local many = {}
for i = 1, 1000 do many[i] = i end
test:is(select('#', echo(unpack(many))), 1000, 'many')
test:is_deeply(put(1, 'one'):totable(), {1, 'one'}, 'a change')
test:is_deeply(s:get(1):totable(), {1, 'one'}, 'is there')
local tuple, size, count = get(1)
test:is_deeply({tuple:totable(), size, count}, {{1, 'one'}, 6, 2}, 'a read')
test:is(get(5), nil, 'of nothing')
local ok, e = pcall(put, 'wrong')
test:ok(not ok and e.code == box.error.FIELD_TYPE, 'an error of the database')
ok, e = pcall(create('procedures.fails'))
test:is(not ok and e.code .. e.message, '77on purpose', 'an error of its own')
ok, e = pcall(create('procedures.fails_silently'))
test:is(not ok and e.code, box.error.PROC_C, 'an error that is not told')
ok, e = pcall(create('procedures.nosuch'))
test:is(not ok and e.code, box.error.LOAD_FUNCTION, 'no such function')
ok, e = pcall(create('nosuch.f'))
test:is(not ok and e.message, "Failed to dynamically load module 'nosuch': module not found", 'no such module')
test:is(create('procedures')('x'), 'x', 'a name without a dot')

local nap, results = create('procedures.nap'), {}
local fibers = {}
for i = 1, 20 do
    fibers[i] = fiber.new(function() results[i] = nap(i) end)
    fibers[i]:set_joinable(true)
end
local right = true
for i = 1, 20 do
    fibers[i]:join()
    right = right and results[i] == i
end
test:ok(right, 'procedures that yield')
box.begin()
put(2, 'two')
box.rollback()
test:is(s:get(2), nil, 'in a transaction')

os.exit(test:check() and 0 or 1)
