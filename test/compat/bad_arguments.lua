-- SPDX-License-Identifier: BSD-2-Clause
-- Functions of the schema and of data with one argument or option after the other replaced by
-- all kinds of values: what is refused, and how. Each call finds the same space, and what it made goes again.
local check = require('check')
box.cfg{log_level = 0, wal_mode = 'none'}

local VALUES = {0, 1, -1, 1.5, '', 'x', '1', 'n', true, box.NULL, {}, {1}, {'a'}, {a = 1}, {1, 2},
                5LL}

local function set_up()
    local s = box.schema.space.create('n', {format = {{'id', 'unsigned'}, {'n', 'string', is_nullable = true}}})
    s:create_index('pk')
    s:create_index('i', {parts = {{2, 'string', is_nullable = true}}, unique = false})
    s:insert{1, 'a'}
    s:insert{2, 'b'}
    s:insert{3}
end

local function clean_up()
    if box.is_in_txn() then
        box.rollback()
    end
    for _, t in ipairs(box.space._vspace:select(512, {iterator = 'GE'})) do
        pcall(box.schema.space.drop, t[1])
    end
    for _, t in ipairs(box.space._vuser:select(32, {iterator = 'GE'})) do
        pcall(box.schema[t[4]].drop, t[3])
    end
    for _, t in ipairs(box.space._vsequence:select()) do
        pcall(box.schema.sequence.drop, t[3])
    end
    for _, t in ipairs(box.space._vfunc:select()) do
        if t[5] == 'LUA' and t[1] > 67 then
            pcall(box.schema.func.drop, t[3])
        end
    end
end

local function short(v)
    local text = check.show(v)
    return #text > 60 and text:sub(1, 50) .. '...' or text
end

-- f(arguments..., value, ...) for each value at the place `no`.
local function at(no, name, f, ...)
    local count = math.max(select('#', ...), no)
    for _, value in ipairs(VALUES) do
        local args = {...}
        args[no] = type(value) == 'table' and table.copy(value) or value
        local title = {}
        for i = 1, count do
            title[i] = short(args[i])
        end
        set_up()
        check.call(('%s(%s)'):format(name, table.concat(title, ', ')), function()
            local result = f(unpack(args, 1, count))
            return type(result) == 'table' and 'a table' or result
        end)
        clean_up()
    end
end

-- f(..., {option = value}) for each option and value.
local function options(name, f, no, list, ...)
    for option in list:gmatch('%S+') do
        at(1, name .. ' ' .. option, function(value, ...)
            local args = {...}
            args[no] = {[option] = value}
            return f(unpack(args, 1, no))
        end, nil, ...)
    end
end

local function method(name)
    return function(...) return box.space.n[name](box.space.n, ...) end
end

local function index_method(index, name)
    return function(...) return box.space.n.index[index][name](box.space.n.index[index], ...) end
end

-- Spaces --------------------------------------------------------------------------

local schema = box.schema
at(1, 'space.create', schema.space.create)
at(2, 'space.create', schema.space.create, 't')
options('space.create', schema.space.create, 2, 'engine field_count format if_not_exists is_local temporary ' ..
        'user is_sync nosuch', 't')
at(1, 'space.drop', schema.space.drop)
options('space.drop', schema.space.drop, 3, 'if_exists nosuch', 999, 's')
at(1, 'space.rename', schema.space.rename)
at(1, 'space:rename', method('rename'))
at(1, 'space.format', schema.space.format)
at(1, 'space:format', method('format'))
for key in ('name type is_nullable collation nullable_action nosuch'):gmatch('%S+') do
    if key ~= 'type' and key ~= 'collation' then
        at(1, 'space:format ' .. key, function(v)
            return box.space.n:format{{'id', 'unsigned'}, {name = 'n', type = 'string', is_nullable = true, [key] = v}}
        end)
    end
end
at(1, 'space:format of a list', function(v) return box.space.n:format{{'id', 'unsigned'}, v} end)
at(1, 'space:drop', method('drop'))
at(1, 'space:truncate', method('truncate'))

-- Indexes --------------------------------------------------------------------------

at(1, 'create_index', method('create_index'))
at(2, 'create_index', method('create_index'), 't')
options('create_index', method('create_index'), 2, 'type id unique if_not_exists parts dimension distance ' ..
        'sequence page_size range_size run_count_per_level run_size_ratio bloom_fpr nosuch', 't')
for key in ('field is_nullable path nosuch'):gmatch('%S+') do
    at(1, 'part ' .. key, function(v)
        return box.space.n:create_index('t', {parts = {{field = 1, type = 'unsigned', [key] = v}}})
    end)
end
at(1, 'the first of flat parts', function(v) return box.space.n:create_index('t', {parts = {v, 'unsigned'}}) end)
for name in ('alter rename drop'):gmatch('%S+') do
    at(1, 'i:' .. name, index_method('i', name))
    at(1, 'index.' .. name, schema.index[name])
    at(2, 'index.' .. name, schema.index[name], 99999)
end
options('i:alter', index_method('i', 'alter'), 1, 'name unique dimension distance sequence if_not_exists nosuch')
options('pk:alter', index_method('pk', 'alter'), 1, 'name unique dimension distance nosuch')

-- Rows -------------------------------------------------------------------------------

for name in ('insert replace put delete get select pairs count len bsize frommap auto_increment'):gmatch('%S+') do
    at(1, 'space:' .. name, method(name))
end
for name in ('get select pairs count min max delete'):gmatch('%S+') do
    at(1, 'i:' .. name, index_method('i', name))
    at(1, 'pk:' .. name, index_method('pk', name))
end
at(1, 'space:update', method('update'))
at(2, 'space:update', method('update'), 1)
at(1, 'space:upsert', method('upsert'))
at(2, 'space:upsert', method('upsert'), {1, 'a'})
for name, op in pairs{update = function(o) return box.space.n:update(1, {o}) end,
                      upsert = function(o) return box.space.n:upsert({1, 'a'}, {o}) end} do
    if name == 'update' then
        at(1, name .. ' operation', op)
        at(1, name .. ' what', function(v) return op{v, 2, 'x'} end)
        at(1, name .. ' where', function(v) return op{'=', v, 'x'} end)
        at(1, name .. ' value', function(v) return op{'=', 2, v} end)
        at(1, name .. ' count', function(v) return op{'#', 2, v} end)
        at(1, name .. ' sum', function(v) return op{'+', 2, v} end)
        at(1, name .. ' bits', function(v) return op{'&', 1, v} end)
        at(1, name .. ' splice', function(v) return op{':', 2, v, 0, 'x'} end)
        at(1, name .. ' splice length', function(v) return op{':', 2, 1, v, 'x'} end)
        at(1, name .. ' splice text', function(v) return op{':', 2, 1, 0, v} end)
    end
end
for name in ('select pairs count'):gmatch('%S+') do
    options('pk:' .. name, index_method('pk', name), 2, 'iterator nosuch', 1)
    for _, iterator in ipairs{2 ^ 32, 2 ^ 53, 0 / 0, 100, -1, false} do
        set_up()
        check.call(name .. ' by ' .. check.show(iterator), function()
            return #box.space.n:select(1, {iterator = iterator})
        end)
        clean_up()
    end
end
at(2, 'space:frommap', method('frommap'), {id = 1})
at(1, 'a field', function(v) return box.space.n:insert{10, v} end)
at(1, 'a key', function(v) return box.space.n:get{v} end)

-- Users --------------------------------------------------------------------------------

local user, role = schema.user, schema.role
for name in ('create drop exists info'):gmatch('%S+') do
    at(1, 'user.' .. name, user[name])
    at(1, 'role.' .. name, role[name])
end
options('user.create', user.create, 2, 'password if_not_exists nosuch', 't')
options('role.create', role.create, 2, 'if_not_exists nosuch', 't')
at(2, 'user.create', user.create, 't')
for name in ('grant revoke'):gmatch('%S+') do
    local function change(...)
        user.create('t')
        return user[name](...)
    end
    at(1, 'user.' .. name, change, nil, 'read', 'space', 'n')
    at(2, 'user.' .. name, change, 't', nil, 'space', 'n')
    at(3, 'user.' .. name, change, 't', 'read', nil, 'n')
    at(4, 'user.' .. name, change, 't', 'read', 'space')
    for kind in ('universe function sequence user'):gmatch('%S+') do
        at(4, 'user.' .. name, change, 't', 'read,execute', kind)
    end
    for kind in ('universe space function sequence role user nosuch'):gmatch('%S+') do
        for rights in ('read write execute session usage create drop alter reference trigger insert update ' ..
                       'delete read,write READ read,read all ,'):gmatch('%S+') do
            set_up()
            check.call(('%s %s on %s'):format(name, rights, kind), change, 't', rights, kind, kind == 'space' and 'n' or nil)
            clean_up()
        end
    end
end

-- Sequences, functions, tuples -----------------------------------------------------------

local sequence, func = schema.sequence, schema.func
for name in ('create drop alter'):gmatch('%S+') do
    at(1, 'sequence.' .. name, sequence[name])
end
options('sequence.create', sequence.create, 2, 'start min max cycle step cache if_not_exists name nosuch', 't')
options('sequence.alter', function(...) sequence.create('t') return sequence.alter(...) end, 2,
        'start min max cycle step cache name nosuch', 't')
for name in ('next current reset set alter'):gmatch('%S+') do
    at(1, 'sequence:' .. name, function(v)
        sequence.create('t')
        return box.sequence.t[name](box.sequence.t, v)
    end)
end
for name in ('create drop exists call'):gmatch('%S+') do
    at(1, 'func.' .. name, func[name])
end
options('func.create', func.create, 2, 'setuid language if_not_exists body is_deterministic is_sandboxed exports ' ..
        'comment param_list returns nosuch', 't')
at(1, 'tuple.new', box.tuple.new)
for name in ('find transform update upsert tomap'):gmatch('%S+') do
    at(1, 'tuple:' .. name, function(v)
        local tuple = box.tuple.new{1, 'a', {b = {c = 5}}}
        return tuple[name](tuple, v)
    end)
end
at(1, 'rollback_to_savepoint', function(v) box.begin() return box.rollback_to_savepoint(v) end)
for name in ('insert replace upsert'):gmatch('%S+') do
    at(1, 'in a transaction, an id of a space, ' .. name, function(v)
        local space = setmetatable({id = v ~= '1' and v or 'id'}, getmetatable(box.space.n))
        box.begin()
        return space[name](space, {1, 'x'}, {{'=', 2, 'y'}})
    end)
end
check.finish()
