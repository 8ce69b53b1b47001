-- SPDX-License-Identifier: BSD-2-Clause
-- Constraints, foreign keys and defaults, by the manual of 2.11 and 3.x.
local fio = require('fio')
local tap = require('tap')
local ffi = require('ffi')
box.cfg{log_level = 2}
local test = tap.test('constraint')
test:plan(12)

local function text(f, ...)
    local ok, e = pcall(f, ...)
    return not ok and tostring(e.message or e) or nil
end

local function failed(f, ...)
    local ok, e = pcall(f, ...)
    return not ok and e.code or nil, not ok and e or nil
end

local function func(name, body, deterministic)
    box.schema.func.create(name, {language = 'LUA', is_deterministic = deterministic ~= false,
                                  body = body})
end

func('person', 'function(t, c) return t.age >= 0 and #t.name > 3 end')
func('age', 'function(f, c) return f >= 0 and f < 150 end')
func('no', 'function() return false end')
func('one', 'function() return 1 end')
func('two', 'function() return true, true end')
func('raises', 'function() error("because") end')
func('name', 'function(f, c) return c == "called_so" end')
func('random', 'function() return true end', false)
func('yields', 'function() require("fiber").yield() return true end')
func('writes', 'function(t) box.space.people:delete(1) return true end')
local FORMAT = {{'id', 'unsigned'}, {'name', 'string'},
                {name = 'age', type = 'number', constraint = 'age', is_nullable = true}}
local s = box.schema.space.create('people', {constraint = 'person'})
s:format(FORMAT)
s:create_index('pk')

test:test('functions', function(t)
    t:plan(22)
    t:is(tostring(s:insert{1, 'Alice', 30}), "[1, 'Alice', 30]")
    t:is(text(s.insert, s, {2, 'Bob', 30}), "Check constraint 'person' failed for tuple")
    t:is(text(s.replace, s, {1, 'Alice', 200}),
         "Check constraint 'age' failed for field '3 (age)'")
    t:is(failed(s.update, s, 1, {{'=', 3, 151}}), box.error.FIELD_CONSTRAINT_FAILED)
    t:is(failed(s.upsert, s, {1, 'Alice', 1}, {{'=', 3, 200}}), box.error.FIELD_CONSTRAINT_FAILED)
    t:is(failed(s.upsert, s, {3, 'Eve', 1}, {}), box.error.TUPLE_CONSTRAINT_FAILED)
    t:is(tostring(s:get(1)), "[1, 'Alice', 30]", 'nothing has changed')
    s:alter{constraint = {}}
    t:is(tostring(s:insert{2, 'Bob'}), "[2, 'Bob']", 'what is missing is not checked')
    s:delete(2)
    s:alter{constraint = {'person'}}
    t:is(s:format()[3].constraint.age, 'age', 'the format shows the name')
    t:is_deeply(box.space._space:get(s.id)[6].constraint,
                {person = box.func.person.id}, 'the row the number')
    for _, name in ipairs{'one', 'two', 'no'} do
        t:is(failed(s.alter, s, {constraint = name}), box.error.TUPLE_CONSTRAINT_FAILED,
             'only true is true: ' .. name)
    end
    local code, e = failed(s.alter, s, {constraint = 'raises'})
    t:is(code, box.error.TUPLE_CONSTRAINT_FAILED)
    t:ok(e.prev and e.prev.message:find('because'), 'the cause follows')
    t:is(text(s.alter, s, {constraint = {called_so = 'name'}}), nil, 'a name of its own')
    t:is(text(s.alter, s, {constraint = 'nosuch'}),
         "Illegal parameters, constraint function was not found by name 'nosuch'")
    t:is(failed(s.alter, s, {constraint = 'random'}), box.error.CREATE_CONSTRAINT)
    t:is(failed(s.alter, s, {constraint = 'yields'}), box.error.TRANSACTION_YIELD)
    local _, refused = failed(s.alter, s, {constraint = 'writes'})
    t:ok(refused.prev.message:find('does not support changing data'), 'it may not write')
    t:is(text(box.schema.func.drop, 'name'), "Can't drop function 1: function is referenced by constraint")
    s:alter{constraint = 'person'}
    t:is(text(box.schema.func.drop, 'name'), nil)
end)

test:test('stored rows', function(t)
    t:plan(4)
    s:format{{'id', 'unsigned'}, {'name', 'string'}, {'age', 'number'}}
    s:insert{5, 'Methuselah', 969}
    t:is(failed(s.format, s, FORMAT), box.error.FIELD_CONSTRAINT_FAILED)
    t:is(s:format()[3].constraint, nil, 'the format is as it was')
    s:delete(5)
    t:is(failed(s.format, s, FORMAT), nil)
    t:is(failed(s.insert, s, {5, 'Methuselah', 969}), box.error.FIELD_CONSTRAINT_FAILED)
end)

test:test('checked after triggers', function(t)
    t:plan(2)
    local trigger = s:before_replace(function(_, new) return new:update{{'=', 3, 500}} end)
    t:is(failed(s.insert, s, {6, 'Noah', 10}), box.error.FIELD_CONSTRAINT_FAILED)
    s:before_replace(nil, trigger)
    t:is(s:get(6), nil)
end)

test:test('what a space shows', function(t)
    t:plan(6)
    local parent = box.schema.space.create('shown_parent', {format = {{'id', 'unsigned'}}})
    local s = box.schema.space.create('shown', {
        format = {{'id', 'unsigned'}, {'parent', 'unsigned', constraint = 'two'}},
        constraint = {one = 'two'},
        foreign_key = {key = {space = 'shown_parent', field = {parent = 'id', [1] = 1}}}})
    t:is_deeply(s.constraint, {one = 'two'})
    t:is_deeply(s.foreign_key, {key = {space = 'shown_parent', field = {parent = 'id', [1] = 1}}})
    t:is(parent.constraint, nil)
    box.begin()
    s:alter{constraint = {}, foreign_key = {}}
    t:is(s.constraint, nil)
    box.rollback()
    t:is_deeply(s.constraint, {one = 'two'})
    s:alter{foreign_key = {}}
    t:is(s.foreign_key, nil)
    s:drop()
    parent:drop()
end)

-- Many rows are checked while others change them.
test:test('many stored rows', function(t)
    t:plan(9)
    local fiber = require('fiber')
    local many = box.schema.space.create('many', {format = {{'id', 'unsigned'}, {'n', 'unsigned'}}})
    many:create_index('pk')
    for i = 1, 5000 do
        many:insert{i, i % 100}
    end
    func('small', 'function(n) return n < 200 end')
    func('yields_late', 'function(n) if n == 99 then require("fiber").yield() end return true end')
    local function format(constraint)
        return {{'id', 'unsigned'}, {'n', 'unsigned', constraint = constraint}}
    end
    -- What another fiber does while the rows are checked.
    local function beside(f)
        local worker = fiber.new(f)
        worker:set_joinable(true)
        local ok, e = pcall(many.format, many, format('small'))
        worker:join()
        return ok or e
    end
    local code
    t:is(beside(function() many:replace{1, 2} many:delete{2} many:insert{6000, 3} end), true)
    t:is(many:format()[2].constraint.small, 'small')
    t:is(failed(many.insert, many, {7000, 500}), box.error.FIELD_CONSTRAINT_FAILED)
    many:format(format(nil))
    t:is(beside(function() many:replace{1, 500} end).code, box.error.FIELD_CONSTRAINT_FAILED,
         'a row that came meanwhile')
    t:is(many:format()[2].constraint, nil)
    many:replace{1, 1}
    t:is(beside(function() _, code = pcall(many.format, many, format(nil)) end), true)
    t:is(code.code, box.error.ALTER_SPACE, 'the space is locked')
    many:format(format(nil))
    t:is(failed(many.format, many, format('yields_late')), box.error.TRANSACTION_YIELD)
    many:replace{8000, 500}
    t:is(failed(box.atomic, function() many:insert{9000, 1} many:format(format('small')) end),
         box.error.FIELD_CONSTRAINT_FAILED, 'at once within a transaction')
    many:drop()
end)

test:test('defaults', function(t)
    t:plan(20)
    local d = box.schema.space.create('d', {format = {
        {'id', 'unsigned'}, {'name', 'string', default = 'Noname'}, {'pass', 'string'},
        {'shell', 'string', default = '/bin/sh'}}})
    d:create_index('pk')
    t:is(tostring(d:insert{1, nil, 'qwerty'}), "[1, 'Noname', 'qwerty', '/bin/sh']")
    t:is(tostring(d:replace{1, 'me', 'x', box.NULL}), "[1, 'me', 'x', '/bin/sh']")
    t:is(failed(d.insert, d, {2}), box.error.FIELD_TYPE)
    d:upsert({3, box.NULL, 'p'}, {{'=', 2, 'again'}})
    t:is(tostring(d:get(3)), "[3, 'Noname', 'p', '/bin/sh']")
    t:is(failed(d.update, d, 3, {{'=', 2, box.NULL}}), box.error.FIELD_TYPE, 'not in updates')
    t:is(text(d.format, d, {{'id', 'unsigned', default = 'x'}}),
         'Type of the default value does not match tuple field 1 type: expected unsigned, ' ..
         'got string')
    t:is(text(d.format, d, {{'id', 'unsigned', default_func = 'nosuch'}}), 'Illegal parameters, ' ..
         "format[1]: field default function was not found by name 'nosuch'")
    func('above', 'function(p) return p.max + 1 end', false)
    d:format{{'id', 'unsigned'}, {'n', 'any', default_func = 'above', default = {max = 4}}}
    t:is(tostring(d:insert{7}), '[7, 5]')
    t:is(d:format()[2].default_func, 'above')
    t:is(text(box.schema.func.drop, 'above'), "Can't drop function 1: function is referenced by constraint")
    d:format{{'id', 'unsigned'}, {'n', 'any', default_func = 'two'}}
    t:is(text(d.insert, d, {8}),
         "Error calling field default function 'two': expected one value, got 2")
    t:is(failed(d.insert, d, {8}), box.error.DEFAULT_FUNC_FAILED)
    d:format{{'id', 'unsigned'}, {'n', 'any', default_func = 'raises'}}
    local _, e = pcall(d.insert, d, {8})
    t:is(e.code, box.error.DEFAULT_FUNC_FAILED)
    t:ok(e.message:find("^Error calling field default function 'raises': .*because"))
    t:ok(e.prev.message:find('because'), 'the cause')
    t:is(e:unpack().field, '2 (n)')
    func('sum', 'function(base, row) return (base ~= nil and base or 0) + row[1] + (row[3] or 0) end', false)
    d:format{{'id', 'unsigned'}, {'n', 'any', default_func = 'sum', default = 100}}
    t:is(tostring(d:insert{8}), '[8, 108]', 'it sees the row as it was given')
    t:is(tostring(d:insert{9, box.NULL, 1000}), '[9, 1109, 1000]')
    d:format{{'id', 'unsigned'}, {'n', 'any', default_func = 'sum'}}
    t:is(tostring(d:replace{9}), '[9, 9]', 'no default is nil')
    box.schema.func.create('no_body')
    t:is(failed(d.format, d, {{'id', 'unsigned'}, {'n', 'any', default_func = 'no_body'}}),
         box.error.CREATE_DEFAULT_FUNC)
    box.schema.func.drop('no_body')
end)

local p = box.schema.space.create('p', {format = {{'id', 'number'}, {'name', 'string'}}})
p:create_index('pk')
p:create_index('name', {parts = {2}})
p:create_index('both', {parts = {1, 2}})
p:insert{1, 'Alice'}
p:insert{2, 'Bob'}
local o = box.schema.space.create('orders')

test:test('foreign keys of fields', function(t)
    t:plan(24)
    o:format{{'id', 'number'}, {name = 'customer', is_nullable = true,
                               foreign_key = {space = 'p', field = 'id'}}}
    o:create_index('pk')
    t:is(tostring(o:insert{1, 1}), '[1, 1]')
    t:is(text(o.insert, o, {2, 10}),
         "Foreign key constraint 'p' failed for field '2 (customer)': foreign tuple was not found")
    t:is(failed(o.insert, o, {2, 'x'}), box.error.FIELD_FOREIGN_KEY_FAILED)
    t:is(tostring(o:insert{3, box.NULL}), '[3, null]', 'nil needs no parent')
    t:is(tostring(o:insert{4}), '[4]')
    t:is(failed(o.update, o, 1, {{'=', 2, 7}}), box.error.FIELD_FOREIGN_KEY_FAILED)
    t:is(text(p.delete, p, 1), "Foreign key 'p' integrity check failed: tuple is referenced")
    t:is(tostring(p:get(1)), "[1, 'Alice']", 'it is still there')
    t:is(tostring(p:delete(2)), "[2, 'Bob']", 'nobody needs this one')
    t:is(tostring(p:replace{1, 'Al'}), "[1, 'Al']", 'the field stays')
    t:is(failed(p.truncate, p), box.error.FOREIGN_KEY_INTEGRITY)
    t:is(text(p.drop, p), "Can't drop space 'p': space is referenced by foreign key")
    t:is(p.index.both.name, 'both', 'nothing of it was dropped')
    o:create_index('customer', {parts = {{2, 'number', is_nullable = true}}, unique = false})
    t:is(failed(p.delete, p, 1), box.error.FOREIGN_KEY_INTEGRITY, 'the same by an index')
    o:insert{5, ffi.new('double', 1)}
    t:is(failed(p.delete, p, 1), box.error.FOREIGN_KEY_INTEGRITY)
    o:delete(1)
    t:is(failed(p.delete, p, 1), box.error.FOREIGN_KEY_INTEGRITY, 'one by 1.0, too')
    o:delete(5)
    box.begin()
    p:delete(1)
    t:is(failed(o.insert, o, {9, 1}), box.error.FIELD_FOREIGN_KEY_FAILED)
    box.rollback()
    t:is(failed(o.insert, o, {9, 1}), nil, 'the parent is back')
    t:is_deeply(o:format()[2].foreign_key, {p = {space = 'p', field = 'id'}})
    t:is(text(o.format, o, {{'id'}, {'c', foreign_key = {space = 'nosuch', field = 'id'}}}),
         'Illegal parameters, format[2]: foreign key: space nosuch was not found')
    t:is(failed(o.format, o, {{'id'}, {'c', foreign_key = {space = 'p', field = 'nosuch'}}}),
         box.error.CREATE_FOREIGN_KEY)
    o:format{{'id', 'number'}, {name = 'customer', is_nullable = true}}
    o:insert{10, 10}
    t:is(failed(o.format, o, {{'id', 'number'}, {name = 'customer', is_nullable = true,
                              foreign_key = {own = {space = p.id, field = 1}}}}),
         box.error.FIELD_FOREIGN_KEY_FAILED, 'stored rows')
    t:ok(p:delete(1) ~= nil, 'nothing leads here any more')
    o:delete(9)
    o:delete(10)
    o:format{{'id', 'number'}, {name = 'customer', is_nullable = true,
             foreign_key = {own = {space = p.id, field = 1}}}}
    t:is_deeply(o:format()[2].foreign_key, {own = {space = 'p', field = 1}})
end)

test:test('foreign keys of rows', function(t)
    t:plan(10)
    p:replace{1, 'Alice'}
    local c = box.schema.space.create('c', {foreign_key = {
        space = 'p', field = {customer_id = 'id', customer_name = 'name'}}})
    t:is(failed(c.create_index, c, 'pk'), nil)
    t:is(text(c.insert, c, {1, 1, 'Alice'}),
         "Foreign key constraint 'p' failed: wrong local field name")
    c:format{{'id', 'number'}, {'customer_id'}, {'customer_name'}}
    t:is(failed(c.insert, c, {1, 1, 'Alice'}), nil)
    t:is(text(c.insert, c, {2, 1, 'Bob'}),
         "Foreign key constraint 'p' failed: foreign tuple was not found")
    t:is(failed(p.replace, p, {1, 'Bob'}), box.error.FOREIGN_KEY_INTEGRITY)
    t:is(failed(p.update, p, 1, {{'=', 2, 'Bob'}}), box.error.FOREIGN_KEY_INTEGRITY)
    c:alter{foreign_key = {a = {space = 'p', field = {customer_id = 'id'}},
                           b = {space = 'p', field = {[3] = 'name'}}}}
    local _, e = failed(c.insert, c, {2, 1, 'Bob'})
    t:is(e.message, "Foreign key constraint 'b' failed: foreign tuple was not found")
    t:is(e.space, 'c')
    t:is(failed(p.delete, p, 1), box.error.FOREIGN_KEY_INTEGRITY)
    c:drop()
    t:is(failed(p.delete, p, 1), nil)
end)

test:test('a space that leads to itself', function(t)
    t:plan(6)
    local tree = box.schema.space.create('tree', {format = {{'id', 'unsigned'},
        {'parent', 'unsigned', is_nullable = true, foreign_key = {field = 'id'}}}})
    tree:create_index('pk')
    t:is(failed(tree.insert, tree, {2, 1}), box.error.FIELD_FOREIGN_KEY_FAILED)
    tree:insert{1}
    tree:insert{2, 1}
    t:is(failed(tree.delete, tree, 1), box.error.FOREIGN_KEY_INTEGRITY)
    t:is(failed(tree.truncate, tree), nil)
    tree:insert{1}
    t:is(tostring(tree:replace{1, 1}), '[1, 1]')
    t:is(tostring(tree:delete(1)), '[1, 1]', 'its own need does not keep it')
    t:is(failed(tree.drop, tree), nil)
end)

test:test('rows of _space written by hand', function(t)
    t:plan(8)
    local function insert(flags, field)
        field.name = 'a'
        setmetatable(flags, {__serialize = 'map'})
        return failed(box.space._space.insert, box.space._space,
                      {700, 1, 'raw', 'memtx', 0, flags, {field}})
    end
    for _, constraint in ipairs{'x', {x = 'y'}, {[1] = 2}, {x = 7700}} do
        t:ok(insert({constraint = constraint}, {}) ~= nil, 'refused')
    end
    for _, key in ipairs{'x', {x = {space = 1}}, {x = {space = 77, field = 'x'}},
                         {x = {space = p.id, field = {}}}} do
        t:ok(insert({}, {foreign_key = key}) ~= nil, 'refused')
    end
end)

test:test('downgrade', function(t)
    t:plan(4)
    t:is_deeply(box.schema.downgrade_versions(), {'2.6.0'})
    local issues = box.schema.downgrade_issues('2.6.0')
    t:is(issues[#issues], "Tuple constraint is found in space 'people'. " ..
         'It is supported starting from version 2.10.0.')
    t:ok(text(box.schema.downgrade, '2.6.0'):find('is found in space'))
    t:ok(text(box.schema.downgrade, '2.8.4'):find("downgrade to version '2.8.4' is not supported"))
end)

test:test('read back from files', function(t)
    t:plan(1)
    p:replace{1, 'Alice'}
    o:replace{1, 1}
    box.snapshot()
    o:replace{2, 1}
    local script = fio.pathjoin(fio.cwd(), 'read.lua')
    local f = fio.open(script, {'O_CREAT', 'O_WRONLY', 'O_TRUNC'}, 420)
    f:write([[
box.cfg{log_level = 2, wal_mode = 'none', hot_standby = false, read_only = false}
local o, p, s = box.space.orders, box.space.p, box.space.people
print(o:count())
print(pcall(o.insert, o, {30, 77}))
print(pcall(p.delete, p, 1))
print(pcall(s.insert, s, {7, 'Bob', 1}))
print(o:insert{40, 1})
os.exit(0)
]])
    f:close()
    local copy = fio.tempdir()
    for _, name in ipairs(fio.glob('*.snap')) do
        fio.copyfile(name, fio.pathjoin(copy, name))
    end
    for _, name in ipairs(fio.glob('*.xlog')) do
        fio.copyfile(name, fio.pathjoin(copy, name))
    end
    local out = io.popen(('cd %s && %s %s'):format(copy, arg[-1], script)):read('*a')
    t:ok(out:find("^4\n") and out:find("Foreign key constraint 'own' failed") and
         out:find("Foreign key 'own' integrity check failed") and
         out:find("Check constraint 'person' failed") and out:find('%[40, 1%]'), out)
end)

os.exit(test:check() and 0 or 1)
