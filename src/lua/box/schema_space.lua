-- SPDX-License-Identifier: BSD-2-Clause
-- box.schema.space: spaces are created, renamed and dropped by rows of the system
-- space _space and those that refer to it.
local util = require('tarn.box.util')
local space = require('tarn.box.space')
local box = require('box')

local params, check_param = util.params, util.check_param
local M = {}
util.schema.space = M
util.schema.space_mt = space.space_mt

-- Id of the first space of users; smaller ones are the system's.
local SPACE_ID_FIRST = 512

-- One field of a format: its name and type may stand first, without their keys.
local function normalize_field(i, field)
    if type(field) == 'string' then
        field = {field}
    elseif type(field) ~= 'table' then
        params('format[%d]: name (string) is expected', i)
    end
    local out, pos = {}, 1
    for k, v in pairs(field) do
        if type(k) == 'string' then
            out[k] = v
        end
    end
    if out.name == nil then
        out.name, pos = field[pos], pos + 1
    end
    if type(out.name) ~= 'string' then
        params('format[%d]: name (string) is expected', i)
    end
    if out.type == nil then
        out.type, pos = field[pos], pos + 1
    end
    if out.type == nil then
        out.type = 'any'
    elseif type(out.type) ~= 'string' then
        params('format[%d]: type must be a string', i)
    end
    -- What is left over is refused by the database.
    for k, v in pairs(field) do
        if type(k) == 'number' and k >= pos then
            out[k] = v
        end
    end
    if out.collation ~= nil then
        local id = util.collation_id(out.collation)
        if id == nil then
            params("format[%d]: collation was not found by name '%s'", i, out.collation)
        end
        out.collation = id
    end
    return out
end

local function normalize_format(format)
    local out = util.array({})
    for i, field in ipairs(format or {}) do
        out[i] = normalize_field(i, field)
    end
    return out
end

-- The next number that no space has had.
local function next_id()
    local schema = box.space._schema
    local row
    repeat
        row = schema:update('max_id', {{'+', 2, 1}})
        if row == nil then
            row = schema:insert{'max_id', SPACE_ID_FIRST}
        end
    until box.space[row[2]] == nil
    return row[2]
end

local function owner_id(user)
    if user == nil then
        return box.session.euid()
    end
    return require('tarn.box.user').resolve_user(user) or
           box.error(box.error.NO_SUCH_USER, tostring(user))
end

local CREATE_OPTIONS = {
    if_not_exists = 'boolean', engine = 'string', id = 'number', field_count = 'number',
    user = 'string, number', format = 'table', is_local = 'boolean', temporary = 'boolean',
    is_sync = 'boolean',
}

function M.create(name, options)
    check_param(name, 'name', 'string')
    util.check_options(options, CREATE_OPTIONS)
    options = util.with_defaults(options, {engine = 'memtx', field_count = 0})
    if box.space[name] ~= nil then
        if options.if_not_exists then
            return box.space[name], 'not created'
        end
        box.error(box.error.SPACE_EXISTS, name)
    end
    local id = options.id or next_id()
    local uid = owner_id(options.user)
    local format = normalize_format(options.format)
    local flags = util.map({
        group_id = options.is_local and 1 or nil,
        temporary = options.temporary and true or nil,
        is_sync = options.is_sync,
    })
    box.space._space:insert{id, uid, name, options.engine, options.field_count, flags, format}
    space.follow(id)
    return box.space[id], 'created'
end
util.schema.create_space = M.create

-- Reads the fields of a space, or sets them.
function M.format(id, format)
    check_param(id, 'id', 'number')
    if format == nil then
        local row = box.space._vspace:get{id}
        return row and row[7]
    end
    check_param(format, 'format', 'table')
    box.space._space:update(id, {{'=', 7, normalize_format(format)}})
    space.follow(id)
end

function M.rename(id, name)
    check_param(id, 'space_id', 'number')
    check_param(name, 'space_name', 'string')
    box.space._space:update(id, {{'=', 3, name}})
    space.follow(id)
end

local function delete_rights(kind, id)
    local priv = box.space._priv
    for _, row in ipairs(box.space._vpriv.index.object:select{kind, id}) do
        priv:delete{row[2], row[3], row[4]}
    end
end
util.delete_rights = delete_rights

-- The sequence made for the space by `sequence = true` goes with it.
local function delete_sequence(id)
    local row = box.space._space_sequence:delete{id}
    if row ~= nil and row[3] then
        util.schema.sequence.drop_by_id(row[2])
    end
end
util.delete_space_sequence = delete_sequence

local function delete_indexes(id)
    local keys = box.space._vindex:select{id}
    for i = #keys, 1, -1 do
        box.space._index:delete{keys[i][1], keys[i][2]}
    end
end

local function delete_constraints(id)
    for _, name in ipairs{'_ck_constraint', '_func_index'} do
        local system = box.space[name]
        for _, row in ipairs(system and system:select{id} or {}) do
            system:delete{row[1], row[2]}
        end
    end
end

-- A user's space may have a number below SPACE_ID_FIRST, too.
local function is_system(id)
    return id < SPACE_ID_FIRST and box.space[id] ~= nil and box.space[id].name:sub(1, 1) == '_'
end

function M.drop(id, name, options)
    check_param(id, 'space_id', 'number')
    util.check_options(options, {if_exists = 'boolean'})
    if is_system(id) then
        box.error(box.error.LAST_DROP, box.space[id].name)
    end
    delete_sequence(id)
    delete_constraints(id)
    delete_indexes(id)
    delete_rights('space', id)
    box.space._truncate:delete{id}
    if box.space._space:delete{id} == nil and not (options and options.if_exists) then
        box.error(box.error.NO_SUCH_SPACE, name or '#' .. tostring(id))
    end
    space.follow(id)
end

-- In the reference this gives an object its methods; here it has them from birth.
function M.bless(object)
    setmetatable(object, space.space_mt)
end

-- The system spaces are made in their newest form, and none older is read.
function util.schema.upgrade()
end

local space_mt = space.space_mt

function space_mt.format(self, format)
    space.check_self(self, 'format')
    return M.format(self.id, format)
end

function space_mt.rename(self, name)
    space.check_self(self, 'rename')
    return M.rename(self.id, name)
end

function space_mt.drop(self, options)
    space.check_self(self, 'drop')
    return M.drop(self.id, self.name, options)
end

return M
