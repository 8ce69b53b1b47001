-- SPDX-License-Identifier: BSD-2-Clause
-- box.schema.space.create: ids, options, errors.
local check = require('check')
box.cfg{}

check [[
s = box.schema.space.create('first')
s.name, s.id, s.engine, s.field_count, s.temporary, s.is_local, s.enabled, type(s)
box.space.first == s, box.space[s.id] == s, box.space.nothing, box.space[9999]
box.schema.space.create('first')
box.schema.space.create('first', {if_not_exists = true}).id == s.id
select(2, box.schema.space.create('first', {if_not_exists = true}))
select(2, box.schema.space.create('fresh', {if_not_exists = true}))
box.schema.create_space('second').id
box.schema.space.create('with_id', {id = 1000}).id
box.schema.space.create('after').id
box.schema.space.create('same_id', {id = 1000})
box.schema.space.create('counted', {field_count = 3}).field_count
box.schema.space.create('temp', {temporary = true}).temporary
box.schema.space.create('here', {is_local = true}).is_local
box.schema.space.create('owned', {user = 'guest'}).id
box.space._space.index.name:get('owned')[2]
box.schema.space.create('engine', {engine = 'memtx'}).engine
box.schema.space.create('engine2', {engine = 'nothing'})
box.schema.space.create()
box.schema.space.create(12)
box.schema.space.create('')
box.schema.space.create('o1', {unknown = 1})
box.schema.space.create('o2', {id = 'x'})
box.schema.space.create('o3', {if_not_exists = 1})
box.schema.space.create('o4', {field_count = 'many'})
box.schema.space.create('o5', {engine = 5})
box.schema.space.create('o6', {format = 'text'})
box.schema.space.create('o7', {temporary = 'yes'})
box.schema.space.create('o8', {user = 'nobody here'})
box.schema.space.create('o9', 'text')
box.schema.space.create(('n'):rep(65000)).name:len()
box.schema.space.create(('n'):rep(65001))
box.schema.space.create('with space and ünicode').name
box.schema.space.create('bad\0zero')
box.schema.space.create('bad utf \xff')
box.schema.space.create('high', {id = 0x7fffffff}).id
box.schema.space.create('too high', {id = 0x80000000})
box.schema.space.create('negative', {id = -1})
box.schema.space.create('low', {id = 511}).id
box.space._schema:get('max_id')
]]

-- Of several things that are wrong in a row of _space, the same one is told of.
local map = setmetatable({}, {__serialize = 'map'})
local twice = {{name = 'a', type = 'unsigned'}, {name = 'a', type = 'unsigned'}}
local unknown = {{name = 'a', type = 'nosuch'}}
local long, bad = ('e'):rep(17), {temporary = 5}

local function insert(id, name, engine, field_count, flags, format)
    local title = ('_space %d %s %s %d'):format(id, name:sub(1, 5), engine, field_count)
    check.call(title, function()
        return box.space._space:insert{id, 1, name, engine, field_count, flags, format}
    end)
end

for _, id in ipairs{0, 3000000000, 1000} do
    for _, engine in ipairs{long, '', 'nosuch', 'memtx'} do
        for field_count = 0, 1 do
            insert(id, 'x', engine, field_count, bad, unknown)
            insert(id, 'x', engine, field_count, bad, twice)
            insert(id, 'x', engine, field_count, bad, {})
            insert(id, 'x', engine, field_count, map, twice)
        end
    end
end
insert(1000, ('n'):rep(65001), long, 0, bad, unknown)
insert(1000, '', long, 0, bad, unknown)
insert(1000, 'x', 'memtx', 0, {view = true}, unknown)
insert(1000, 'x', 'memtx', 0, {view = true, sql = 5}, {})
insert(1000, 'x', 'memtx', 0, {group_id = 7}, twice)
insert(1000, 'x', 'memtx', 0, {group_id = 1, is_sync = true}, twice)
insert(1000, 'x', 'memtx', 0, {group_id = 1, is_sync = true}, {})
insert(1000, 'x', 'memtx', 0, {temporary = true, is_sync = true}, twice)
insert(1000, 'x', 'memtx', 0, {temporary = true, is_sync = true}, {})
insert(1001, 'x1', 'memtx', 0, {temporary = true, group_id = 1}, {})
insert(1003, 'x3', 'memtx', 0, {temporary = true, view = true}, {})
insert(1004, 'x4', 'sysview', 0, {temporary = true}, {})

-- Limits and the ids of system spaces.
local names = {}
for name, value in pairs(box.schema) do
    if type(value) == 'number' then
        names[#names + 1] = name
    end
end
table.sort(names)
for _, name in ipairs(names) do
    check.values(name, box.schema[name])
end
check.finish()
