-- SPDX-License-Identifier: BSD-2-Clause
-- box.schema.space: spaces are created, renamed and dropped by rows of the system
-- space _space and those that refer to it.
local util = require('tarn.box.util')
local space = require('tarn.box.space')
local constraint = require('tarn.box.constraint')
local box = require('box')

local params, check_param = util.params, util.check_param
local M = {}
util.schema.space = M
util.schema.space_mt = space.space_mt
require('tarn.space').set_constants(util.schema)

-- Id of the first space of users; smaller ones are the system's.
local SPACE_ID_FIRST = 512

-- One field of a format: its name and type may stand first, without their keys.
local function normalize_field(i, field, self)
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
    constraint.normalize_field(out, i, self)
    return out
end

-- `self` has the id and the name of the space.
local function normalize_format(format, self)
    local out = util.array({})
    for i, field in ipairs(format or {}) do
        out[i] = normalize_field(i, field, self)
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
    is_sync = 'boolean', defer_deletes = 'boolean', type = 'string',
    constraint = 'string, table', foreign_key = 'table',
}

-- The kinds of spaces that `type` names, and the options that mean the same.
local TYPES = {normal = {}, ['data-temporary'] = {temporary = true},
               ['data-local'] = {is_local = true}}

local function check_type(options)
    if options.type == nil then
        return options
    elseif options.temporary ~= nil or options.is_local ~= nil then
        params("only one of 'type', 'temporary' and 'is_local' may be given")
    end
    local kind = TYPES[options.type] or params("unknown space type '%s'", options.type)
    return util.with_defaults(kind, options)
end

function M.create(name, options)
    check_param(name, 'name', 'string')
    util.check_options(options, CREATE_OPTIONS)
    options = check_type(util.with_defaults(options, {engine = 'memtx', field_count = 0}))
    if box.space[name] ~= nil then
        if options.if_not_exists then
            return box.space[name], 'not created'
        end
        box.error(box.error.SPACE_EXISTS, name)
    end
    local id = options.id or next_id()
    local uid = owner_id(options.user)
    local self = {id = id, name = name}
    local format = normalize_format(options.format, self)
    local flags = util.map({
        group_id = options.is_local and 1 or nil,
        temporary = options.temporary and true or nil,
        is_sync = options.is_sync,
        constraint = options.constraint and constraint.funcs(options.constraint, ''),
        foreign_key = options.foreign_key and
                      constraint.foreign_keys(options.foreign_key, '', true, self),
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
        if row == nil then
            box.error(box.error.NO_SUCH_SPACE, '#' .. tostring(id))
        end
        return constraint.show_format(row[7])
    end
    check_param(format, 'format', 'table')
    box.space._space:update(id, {{'=', 7, normalize_format(format, box.space[id] or {id = id})}})
    space.follow(id)
end

local ALTER_OPTIONS = {
    field_count = 'number', user = 'string, number', format = 'table', temporary = 'boolean',
    is_sync = 'boolean', defer_deletes = 'boolean', name = 'string', type = 'string',
    constraint = 'string, table', foreign_key = 'table',
}

-- The flags of a row with what the options change. An empty table takes constraints away.
local function alter_flags(flags, options, self)
    for _, name in ipairs{'temporary', 'is_sync'} do
        if options[name] ~= nil then
            flags[name] = options[name] or nil
        end
    end
    if options.constraint ~= nil then
        flags.constraint = constraint.funcs(options.constraint, '')
    end
    if options.foreign_key ~= nil then
        flags.foreign_key = constraint.foreign_keys(options.foreign_key, '', true, self)
    end
    return util.map(flags)
end

-- Changes what the options name and leaves the rest as it is.
function M.alter(id, options)
    check_param(id, 'space_id', 'number')
    if options == nil then
        params('options should be a table')
    end
    util.check_options(options, ALTER_OPTIONS)
    options = check_type(options)
    local row = box.space._space:get{id}
    if row == nil then
        box.error(box.error.NO_SUCH_SPACE, '#' .. tostring(id))
    end
    local self = {id = id, name = options.name or row[3]}
    local ops = {{'=', 6, alter_flags(row[6], options, self)}}
    if options.user ~= nil then
        table.insert(ops, {'=', 2, owner_id(options.user)})
    end
    if options.name ~= nil then
        table.insert(ops, {'=', 3, options.name})
    end
    if options.field_count ~= nil then
        table.insert(ops, {'=', 5, options.field_count})
    end
    if options.format ~= nil then
        table.insert(ops, {'=', 7, normalize_format(options.format, self)})
    end
    box.space._space:update(id, ops)
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

local function drop_rows(id, name, options)
    delete_sequence(id)
    delete_constraints(id)
    delete_indexes(id)
    delete_rights('space', id)
    box.space._truncate:delete{id}
    if box.space._space:delete{id} == nil and not (options and options.if_exists) then
        box.error(box.error.NO_SUCH_SPACE, name ~= nil and tostring(name) or '#' .. tostring(id))
    end
end

function M.drop(id, name, options)
    check_param(id, 'space_id', 'number')
    util.check_options(options or nil, {if_exists = 'boolean'})
    if is_system(id) then
        box.error(box.error.LAST_DROP, box.space[id].name)
    end
    -- All of it or, where something needs the space, nothing.
    if box.is_in_txn() then
        drop_rows(id, name, options)
    else
        box.atomic(drop_rows, id, name, options)
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

-- The system spaces are those of this version, whose program reads our files, too.
function util.schema.downgrade_versions()
    return {'2.6.0'}
end

local function check_version(version)
    if version ~= '2.6.0' then
        params("downgrade to version '%s' is not supported; see box.schema.downgrade_versions()",
               tostring(version))
    end
end

local LATER = {
    constraint = {'constraint', '2.10.0'}, foreign_key = {'foreign key', '2.10.0'},
    default = {'default value', '3.0.0'}, default_func = {'default function', '3.0.0'},
}

-- What the database has that the version does not know, in words.
function util.schema.downgrade_issues(version)
    check_version(version)
    local out = {}
    local function look(options, what, where)
        for name, feature in pairs(LATER) do
            if options[name] ~= nil then
                table.insert(out, ('%s %s is found in %s. It is supported starting from version %s.')
                                  :format(what, feature[1], where, feature[2]))
            end
        end
    end
    for _, row in box.space._space:pairs() do
        local where = ("space '%s'"):format(row[3])
        look(row[6], 'Tuple', where)
        for _, field in ipairs(row[7]) do
            look(field, 'Field', ("%s, field '%s'"):format(where, field.name))
        end
    end
    table.sort(out)
    return out
end

function util.schema.downgrade(version)
    local issues = util.schema.downgrade_issues(version)
    if #issues > 0 then
        params('%s', issues[1])
    end
end

local space_mt = space.space_mt

function space_mt.format(self, format)
    space.check_self(self, 'format')
    return M.format(self.id, format)
end

function space_mt.alter(self, options)
    space.check_self(self, 'alter')
    return M.alter(self.id, options)
end

function space_mt.rename(self, name)
    space.check_self(self, 'rename')
    return M.rename(self.id, name)
end

function space_mt.drop(self)
    space.check_self(self, 'drop')
    return M.drop(self.id, self.name)
end

return M
