-- SPDX-License-Identifier: BSD-2-Clause
-- box.space and the methods of a space object.
--
-- An object is made when its space appears and is brought up to date at every
-- change (follow()), so that what a script holds stays valid: the space's own
-- table, its table `index`, and the object of each index, by its id.
local c = require('tarn.space')
local data = require('tarn.index')
local index = require('tarn.box.index')
local box = require('box')
local api = require('tarn.box.api')
local trigger = require('trigger')

local M = {}

local spaces = {}
api.space = spaces

local space_mt = {}
space_mt.__index = space_mt
M.space_mt = space_mt

-- How consoles show box.space: the user's spaces with what distinguishes them. Names of
-- the system begin with an underscore.
setmetatable(spaces, {__serialize = function(self)
    local out = {}
    for name, space in pairs(self) do
        if type(name) == 'string' and name:sub(1, 1) ~= '_' then
            out[name] = {engine = space.engine, temporary = space.temporary,
                         is_local = space.is_local, is_sync = space.is_sync}
        end
    end
    return out
end})

-- Objects by id, kept over renames.
local objects = {}

-- Those of spaces that are gone, while a script holds them: what it holds is good again when
-- the drop is undone. And those of indexes that are gone, by their space's object and id.
local dropped = setmetatable({}, {__mode = 'v'})
local dropped_indexes = setmetatable({}, {__mode = 'k'})
local weak_values = {__mode = 'v'}

-- Takes all indexes from the object.
local function take_indexes(object)
    local kept = dropped_indexes[object]
    if kept == nil then
        kept = setmetatable({}, weak_values)
        dropped_indexes[object] = kept
    end
    for k, ix in pairs(object.index) do
        if type(k) == 'number' then
            kept[k] = ix
        end
        object.index[k] = nil
    end
end

local function sync_index(object, def)
    local ix = dropped_indexes[object][def.id] or setmetatable({}, index.index_mt)
    for k in pairs(ix) do
        if def[k] == nil then
            ix[k] = nil
        end
    end
    for k, v in pairs(def) do
        ix[k] = v
    end
    return ix
end

local function sync_indexes(object, defs)
    take_indexes(object)
    for _, def in ipairs(defs) do
        local ix = sync_index(object, def)
        object.index[ix.id] = ix
        object.index[ix.name] = ix
    end
end

local function forget(object)
    if spaces[object.name] == object then
        spaces[object.name] = nil
    end
    spaces[object.id] = nil
end

local function drop(object)
    forget(object)
    objects[object.id] = nil
    object.enabled = false
    take_indexes(object)
    dropped[object.id] = object
end

local on_replace = trigger.internal.space_method('on_replace')
local before_replace = trigger.internal.space_method('before_replace')

local function revive(id)
    local object = dropped[id]
    dropped[id], objects[id] = nil, object
    return object
end

local function create(id)
    local object = setmetatable({
        index = {}, ck_constraint = {},
        on_replace = on_replace, before_replace = before_replace,
    }, space_mt)
    objects[id] = object
    return object
end

-- Brings the object of a space up to date.
function M.follow(id)
    local def, object = c.describe(id), objects[id]
    trigger.internal.follow_space(id, def and def.name)
    if def == nil then
        if object ~= nil then
            drop(object)
        end
        return
    end
    if object == nil then
        object = revive(id) or create(id)
    else
        forget(object)
    end
    sync_indexes(object, def.indexes)
    def.indexes = nil
    object.constraint, object.foreign_key = nil, nil
    for k, v in pairs(def) do
        object[k] = v
    end
    spaces[object.id] = object
    spaces[object.name] = object
end

function M.follow_all()
    for _, id in ipairs(c.ids()) do
        M.follow(id)
    end
end

-- The fields of a space's tuples, as space:format() gives them.
function M.field_number(id, name)
    return c.field_number(id, name)
end

-- Errors point at the script's line that called the method.
local function check_self(space, method)
    if type(space) ~= 'table' or space.id == nil then
        error(('Use space:%s(...) instead of space.%s(...)'):format(method, method), 3)
    end
end
M.check_self = check_self

local function check_primary(space)
    local pk = space.index[0]
    if pk == nil then
        box.error(box.error.NO_SUCH_INDEX_ID, 0, space.name)
    end
    return pk
end

function space_mt.insert(space, tuple)
    check_self(space, 'insert')
    return index.insert(space.id, tuple)
end

function space_mt.replace(space, tuple)
    check_self(space, 'replace')
    return index.replace(space.id, tuple)
end
space_mt.put = space_mt.replace

function space_mt.upsert(space, tuple, ops)
    check_self(space, 'upsert')
    return index.upsert(space.id, tuple, ops)
end

function space_mt.update(space, key, ops)
    check_self(space, 'update')
    check_primary(space)
    return index.update(space.id, 0, key, ops)
end

function space_mt.delete(space, key)
    check_self(space, 'delete')
    check_primary(space)
    return index.delete(space.id, 0, key)
end

function space_mt.get(space, key)
    check_self(space, 'get')
    check_primary(space)
    return index.get(space.id, 0, key)
end

function space_mt.select(space, key, opts)
    check_self(space, 'select')
    check_primary(space)
    return index.select(space.id, 0, key, opts)
end

local function nothing()
end

function space_mt.pairs(space, key, opts)
    check_self(space, 'pairs')
    if space.index[0] == nil then
        return index.wrap(nothing, {}, nil)
    end
    return index.pairs(space.id, 0, key, opts)
end

function space_mt.count(space, key, opts)
    check_self(space, 'count')
    if space.index[0] == nil then
        return 0
    end
    return index.count(space.id, 0, key, opts)
end

function space_mt.len(space)
    check_self(space, 'len')
    if space.index[0] == nil then
        return 0
    end
    return index.len(space.id, 0)
end

function space_mt.bsize(space)
    check_self(space, 'bsize')
    return 0ULL + c.bsize(space.id)
end

function space_mt.truncate(space)
    check_self(space, 'truncate')
    return data.truncate(space.id)
end

-- A row with the next number in front.
function space_mt.auto_increment(space, tuple)
    check_self(space, 'auto_increment')
    local last = check_primary(space):max()
    table.insert(tuple, 1, last ~= nil and last[1] + 1 or 1)
    return index.insert(space.id, tuple)
end

function space_mt.run_triggers(space, yesno)
    check_self(space, 'run_triggers')
    -- A number is what C would make of it.
    if type(yesno) == 'number' then
        yesno = yesno ~= 0
    end
    return c.run_triggers(space, yesno)
end

local function check_frommap(space, map, options)
    if type(space) == 'table' and space.id ~= nil and type(map) == 'table' then
        if type(options) == 'nil' then
            return false
        elseif type(options) == 'table' then
            local as_table = options.table
            if type(as_table) == 'nil' or type(as_table) == 'boolean' then
                return as_table
            end
        end
    end
    error('Usage: space:frommap(map, opts)', 3)
end

-- A tuple (or, with {table = true}, a table) from values by field name; nil and
-- the reason where a name is not in the format or a value does not suit it.
function space_mt.frommap(space, map, options)
    local as_table = check_frommap(space, map, options)
    local row, last = {}, 0
    for name, value in pairs(map) do
        local no = c.field_number(space.id, name)
        if no == nil then
            return nil, ("Unknown field '%s'"):format(tostring(name))
        end
        row[no] = value
        last = math.max(last, no)
    end
    for i = 1, last do
        if row[i] == nil then
            row[i] = box.NULL
        end
    end
    if as_table then
        return row
    end
    return c.new_tuple(space.id, row)
end

c.follow(M.follow)

return M
