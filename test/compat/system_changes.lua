-- SPDX-License-Identifier: BSD-2-Clause
-- Rows of system spaces with one field after the other replaced by all kinds of values, and
-- deleted, each change undone again. Left out is what the reference does not survive or answers at random.
local check = require('check')
box.cfg{log_level = 0, wal_mode = 'none'}

local map = setmetatable({}, {__serialize = 'map'})
local s = box.schema.space.create('s', {format = {{'a', 'unsigned'}, {'b', 'string'}}})
s:create_index('pk', {sequence = true})
s:create_index('i', {parts = {{2, 'string', collation = 'unicode'}}, unique = false})
s:insert{1, 'x'}
box.schema.func.create('f', {body = 'function(t) return {t[1]} end', is_deterministic = true,
                             is_sandboxed = true})
s:create_index('by_f', {func = 'f', parts = {{1, 'unsigned'}}, unique = false})
box.schema.func.create('g')
box.schema.user.create('u', {password = 'x'})
box.schema.role.create('r')
box.schema.user.grant('u', 'r')
box.schema.user.grant('u', 'read', 'space', 's')
box.schema.user.grant('u', 'execute', 'function', 'g')
box.schema.sequence.create('q')
box.sequence.q:next()
box.internal.collation.create('c', 'ICU', 'ru_RU', {})

local VALUES = {0, 1, -1, 2, 100, 511, 512, 1000, 2 ^ 31, 1.5, '', 'x', 's', 'memtx', 'f', 'u', 'r', 'tree',
                'hash', 'LUA', 'C', 'SQL', 'user', 'role', 'space', 'function', 'universe', 'ICU', 'ru_RU',
                ('n'):rep(300), true, false, box.NULL, {}, map, {1}, {{0, 'unsigned'}}, {{1, 'string'}},
                {a = 1}, {unique = false}, {temporary = true}, {group_id = 1}, {func = 66},
                {{name = 'a', type = 'unsigned'}}, {{name = 'a', type = 'string'}}, {strength = 'nosuch'}}

-- Which rows of a space are tried, by their first fields.
local ROWS = {
    _space = function(t) return t[1] >= 512 end,
    _index = function(t) return t[1] >= 512 end,
    _func = function(t) return t[1] == 1 or t[3] == 'f' or t[3] == 'g' or t[3] == 'LUA' or t[3] == 'TRIM' end,
    _priv = function(t) return t[2] >= 32 or t[2] == 2 and t[4] == 1 end,
    _user = function() return true end,
    _sequence = function() return true end,
    _sequence_data = function() return true end,
    _space_sequence = function() return true end,
    _collation = function(t) return t[1] < 2 or t[2] == 'c' end,
    _func_index = function() return true end,
    _truncate = function() return true end,
}

-- Fields that are left out: names in errors that are not ended, keys that end the reference.
local LEFT_OUT = {
    _func = {setuid = true, routine_type = true, sql_data_access = true, is_null_call = true, opts = true},
    _index = {id = true, name = true, parts = true},
    _user = {type = true},
}

-- Inside of a transaction that is rolled back.
local function try(title, f, ...)
    local args = {...}
    check.call(title, function()
        box.begin()
        local ok, e = pcall(f, unpack(args))
        box.rollback()
        if not ok then
            error(e, 0)
        end
        return true
    end)
end

local function try_row(space, row, format)
    local key = {}
    for i, part in ipairs(space.index[0].parts) do
        key[i] = row[part.fieldno]
    end
    for i, field in ipairs(format) do
        local left_out = LEFT_OUT[space.name] and LEFT_OUT[space.name][field.name]
        for _, value in ipairs(left_out and {} or VALUES) do
            local new = row:totable()
            for j, v in ipairs(new) do
                if type(v) == 'table' and next(v) == nil and format[j].type == 'map' then
                    new[j] = map
                end
            end
            new[i] = value
            local title = ('%s %s %s = %s'):format(space.name, check.show(key), field.name, check.show(value))
            try(title:sub(1, 160), space.replace, space, new)
            if i == 1 then
                try('inserted', space.insert, space, new)
            end
        end
    end
    try('delete ' .. space.name .. check.show(key), space.delete, space, key)
end

local names = {}
for name in pairs(ROWS) do
    table.insert(names, name)
end
table.sort(names)
for _, name in ipairs(names) do
    local space = box.space[name]
    local format, rows = space:format(), {}
    for _, row in space:pairs() do
        if ROWS[name](row) then
            table.insert(rows, row)
        end
    end
    for _, row in ipairs(rows) do
        -- The keys of these are changed together with what they belong to.
        if not (name == '_user' and row[1] == 3 or name == '_collation' and row[1] == 1) then
            try_row(space, row, format)
        end
    end
end

-- Who may write which grants.
box.schema.user.create('o')
box.schema.user.grant('o', 'create,read,write,execute,drop,alter', 'universe')
box.schema.space.create('owned', {user = 'o'})
local function id_of(space, name)
    return box.space[space].index.name:get(name)[1]
end
local u, o, r = id_of('_user', 'u'), id_of('_user', 'o'), id_of('_user', 'r')
local OBJECTS = {{'universe', 0}, {'space', s.id}, {'space', box.space.owned.id}, {'sequence', id_of('_sequence', 'q')},
                 {'function', id_of('_func', 'f')}, {'role', r}, {'role', 2}, {'user', u}, {'user', o},
                 {'nosuch', 1}, {('n'):rep(100), 1}}
for _, object in ipairs(OBJECTS) do
    for _, grantor in ipairs{0, 1, 2, u, o, 31, 99} do
        for _, rights in ipairs{1, 4, 128, 0, 8191, 32767, 32768, 65536, 2 ^ 31} do
            for _, who in ipairs{'admin', 'o', 'u'} do
                box.session.su(who, function()
                    try(('%s: %s of %s from %d on %d'):format(who, check.show(object), 'u', grantor, rights),
                        box.space._priv.replace, box.space._priv, {grantor, u, object[1], object[2], rights})
                end)
            end
        end
    end
end
check.finish()
