-- SPDX-License-Identifier: BSD-2-Clause
-- box.schema.index: indexes are created, altered and dropped by rows of _index.
--
-- Parts may be given in many ways: {1, 'unsigned', 2, 'string'}, {{1, 'unsigned'},
-- {'name', is_nullable = true}}, {{field = 1, type = 'unsigned'}}, {'id', 'name'}.
local util = require('tarn.box.util')
local space = require('tarn.box.space')
local index = require('tarn.box.index')
local box = require('box')

local params, check_param = util.params, util.check_param
local M = {}
util.schema.index = M
util.schema.index_mt = index.index_mt
util.schema.memtx_index_mt = index.index_mt
util.schema.vinyl_index_mt = index.index_mt

-- Parts ---------------------------------------------------------------------

-- Splits "c.x[1]" or "[3].x" into the field's number and ".x[1]"; a field may also be
-- called so.
local function find_field(space_id, name)
    local no = space.field_number(space_id, name)
    if no ~= nil then
        return no
    end
    local head, path = name:match('^%[(%d+)%](.*)$')
    if head ~= nil then
        return tonumber(head), path
    end
    head, path = name:match('^([^%.%[]+)([%.%[].*)$')
    no = head and space.field_number(space_id, head)
    return no, no and path
end

local function check_field(part, i, space_id, out)
    local field, path = part.field or part[1], nil
    if type(field) == 'string' then
        local no
        no, path = find_field(space_id, field)
        if no == nil then
            params("options.parts[%d]: field was not found by name '%s'", i, field)
        end
        field = no
    elseif type(field) ~= 'number' then
        params('options.parts[%d]: field (name or number) is expected', i)
    end
    if field <= 0 then
        params('options.parts[%d]: field (number) must be one-based', i)
    end
    out.field = field - 1
    if type(part.path) == 'nil' then
        out.path = path
    end
end

-- Whoever leaves nil out of an index says that there may be nil.
local function check_exclude_null(i, out)
    if out.exclude_null == nil then
        return
    elseif type(out.exclude_null) ~= 'boolean' then
        params('options.parts[%d]: type (boolean) is expected', i)
    elseif out.exclude_null and out.is_nullable == false then
        params('options.parts[%d]: exclude_null=true and is_nullable=false are incompatible', i)
    elseif out.exclude_null then
        out.is_nullable = true
    end
end

-- The type of a part and whether it may be nil: as given, or as the space's format
-- has it.
local function check_type(part, i, format, out)
    local kind = part.type
    if kind == nil then
        kind = part[2]
    end
    local field = format[out.field + 1]
    if out.is_nullable == nil and field ~= nil and field.is_nullable then
        out.is_nullable = true
    end
    if kind == nil then
        kind = field ~= nil and (field.type or 'any') or 'scalar'
    elseif type(kind) ~= 'string' then
        params('options.parts[%d]: type (string) is expected', i)
    end
    out.type = kind
end

local TYPE_ALIASES = {num = 'unsigned', uint = 'unsigned', str = 'string', int = 'integer'}

local function lower_type(name)
    name = name:lower()
    return TYPE_ALIASES[name] or name
end

-- One part as a map, and whether it says more than a field and a type.
local function normalize_part(part, i, space_id, format)
    if type(part) ~= 'table' then
        part = {part}
    end
    local out = {}
    for k, v in pairs(part) do
        if type(k) == 'string' then
            out[k] = v
        end
    end
    check_field(part, i, space_id, out)
    if out.is_nullable ~= nil and type(out.is_nullable) ~= 'boolean' then
        params('options.parts[%d]: type (boolean) is expected', i)
    end
    check_exclude_null(i, out)
    check_type(part, i, format, out)
    out.type = lower_type(out.type)
    if out.collation ~= nil then
        local name = out.collation
        local id = util.collation_id(name) or util.collation_id(name:lower())
        if id == nil then
            params("options.parts[%d]: collation was not found by name '%s'", i, out.collation)
        end
        out.collation = id
    end
    for k in pairs(out) do
        if k ~= 'field' and k ~= 'type' then
            return out, true
        end
    end
    return out, false
end

-- {1, 'unsigned', 2, 'string'}
local function is_flat(parts)
    return type(parts[1]) == 'number' and type(parts[2]) == 'string'
end

local function normalize_flat(parts)
    local out = {}
    for i = 1, #parts, 2 do
        local field, kind = parts[i], parts[i + 1]
        if type(field) ~= 'number' or type(kind) ~= 'string' then
            params('options.parts: expected field_no (number), type (string) pairs')
        elseif field == 0 then
            params('invalid index parts: field_no must be one-based')
        end
        out[#out + 1] = {field - 1, lower_type(kind)}
    end
    return out
end

local function normalize_parts(parts, space_id)
    if #parts == 0 then
        params('options.parts must have at least one part')
    elseif is_flat(parts) then
        return normalize_flat(parts)
    end
    local out, format = {}, util.schema.space.format(space_id) or {}
    local is_plain = true
    for i, part in ipairs(parts) do
        local says_more
        out[i], says_more = normalize_part(part, i, space_id, format)
        is_plain = is_plain and not says_more
    end
    -- All parts are stored in one form: {number, type} where that says it all, else maps.
    if is_plain then
        for i, part in ipairs(out) do
            out[i] = {part.field, part.type}
        end
    end
    return out
end

-- Options -------------------------------------------------------------------

local ALTER_OPTIONS = {
    id = 'number', name = 'string', type = 'string', parts = 'table', unique = 'boolean',
    dimension = 'number', distance = 'string', page_size = 'number', range_size = 'number',
    run_count_per_level = 'number', run_size_ratio = 'number', bloom_fpr = 'number',
    sequence = 'boolean, number, string, table', func = 'number, string', hint = 'boolean',
}
local CREATE_OPTIONS = util.with_defaults({if_not_exists = 'boolean'}, ALTER_OPTIONS)

-- Options that are stored as they are, in the fifth field of _index.
local STORED_OPTIONS = {
    'dimension', 'unique', 'distance', 'page_size', 'range_size', 'run_count_per_level',
    'run_size_ratio', 'bloom_fpr', 'hint',
}

-- What is not altered together with the number.
local NOT_WITH_ID = {
    'unique', 'parts', 'dimension', 'distance', 'page_size', 'range_size', 'run_count_per_level',
    'run_size_ratio', 'bloom_fpr', 'sequence', 'func',
}

-- Where no parts are given: the first field, or for what cannot be primary the second,
-- as the format has it.
local function default_parts(space_id, kind)
    local no = (kind == 'rtree' or kind == 'bitset') and 2 or 1
    local field = (util.schema.space.format(space_id) or {})[no]
    if field ~= nil and field.type ~= nil and field.type:lower() ~= 'any' then
        return {{no, is_nullable = field.is_nullable}}
    end
    return {no, kind == 'rtree' and 'array' or 'unsigned'}
end

local function with_defaults(options, space_id)
    options = util.with_defaults(options, {type = 'tree'})
    if options.unique == nil then
        options.unique = options.type ~= 'rtree' and options.type ~= 'bitset'
    end
    options.parts = options.parts or default_parts(space_id, options.type)
    return options
end

local function stored_options(options, old)
    local out = util.map({})
    for k, v in pairs(old or {}) do
        out[k] = v
    end
    for _, name in ipairs(STORED_OPTIONS) do
        if options[name] ~= nil then
            out[name] = options[name]
        end
    end
    return out
end

local function find_space(space_id)
    return box.space[space_id] or box.error(box.error.NO_SUCH_SPACE, '#' .. tostring(space_id))
end

-- The number behind the last index of the space.
local function next_id(space_id)
    local last = box.space._vindex:select(space_id, {limit = 1, iterator = 'LE'})[1]
    return last ~= nil and last[1] == space_id and last[2] + 1 or 0
end

local function func_id(func)
    if func == nil then
        return nil
    elseif type(func) == 'number' and (func < 0 or func >= 2 ^ 32 or func % 1 ~= 0) then
        box.error(box.error.WRONG_INDEX_OPTIONS, 4, "'func' must be unsigned")
    end
    local row = util.type_of(func) == 'number' and box.space._vfunc:get{func} or
                type(func) == 'string' and box.space._vfunc.index.name:get{func}
    if not row then
        box.error(box.error.NO_SUCH_FUNCTION, tostring(func))
    end
    return row[1]
end

-- Sequences -----------------------------------------------------------------

-- {id = ..., field = ...} from what `sequence` may be; nil where there is none.
local function sequence_option(sequence)
    if not sequence then
        return nil
    elseif type(sequence) == 'table' then
        return {id = sequence.id, field = sequence.field}
    elseif sequence == true then
        return {}
    end
    return {id = sequence}
end

local function sequence_field(sequence, parts, space_id)
    local field = sequence.field
    if field == nil then
        local first = parts[1]
        return first.field or first[1], first.path or ''
    elseif type(field) == 'string' then
        local no, path = find_field(space_id, field)
        if no == nil then
            params("sequence field: field was not found by name '%s'", field)
        end
        return no - 1, path or ''
    elseif type(field) ~= 'number' then
        params('sequence field: field (name or number) is expected')
    elseif field <= 0 then
        params('sequence field: field (number) must be one-based')
    end
    return field - 1, ''
end

-- The row of _space_sequence for an index, without the sequence's id where one is
-- to be made.
local function sequence_row(space_id, index_id, name, sequence, parts)
    if index_id ~= 0 then
        box.error(box.error.MODIFY_INDEX, name, box.space[space_id].name,
                  'sequence cannot be used with a secondary key')
    end
    local field, path = sequence_field(sequence, parts, space_id)
    local is_part = false
    for _, part in ipairs(parts) do
        if (part.field or part[1]) == field and (part.path or '') == path then
            is_part = part.type or part[2]
            break
        end
    end
    if not is_part then
        box.error(box.error.MODIFY_INDEX, name, box.space[space_id].name,
                  'sequence field must be a part of the index')
    elseif is_part ~= 'unsigned' and is_part ~= 'integer' then
        box.error(box.error.MODIFY_INDEX, name, box.space[space_id].name,
                  'sequence cannot be used with a non-integer key')
    end
    local id, is_generated = nil, sequence.id == nil
    if not is_generated then
        id = util.schema.sequence.resolve(sequence.id)
    end
    return {space_id, id, is_generated, field, path}
end

-- Makes the sequence of a space for `sequence = true` and stores the row.
local function attach_sequence(row)
    if row[2] == nil then
        row[2] = util.schema.sequence.create_for(box.space[row[1]].name .. '_seq')
    end
    box.space._space_sequence:replace(row)
end

-- Ties an index to its function, or to another one, by a row of _func_index.
local function attach_func(space_id, id, func)
    if func == nil then
        return -- whoever makes other indexes need not be allowed to look there
    end
    local row = box.space._func_index:get{space_id, id}
    if row ~= nil and row[3] == func then
        return
    end
    if row ~= nil then
        box.space._func_index:delete{space_id, id}
    end
    box.space._func_index:insert{space_id, id, func}
end

-- Create, alter, drop -------------------------------------------------------

function M.create(space_id, name, options)
    check_param(space_id, 'space_id', 'number')
    check_param(name, 'name', 'string')
    util.check_options(options, CREATE_OPTIONS)
    local object = find_space(space_id)
    if object.index[name] ~= nil then
        if options and options.if_not_exists then
            return object.index[name], 'not created'
        end
        box.error(box.error.INDEX_EXISTS, name)
    end
    options = with_defaults(options, space_id)
    local id = options.id or next_id(space_id)
    local parts = normalize_parts(options.parts, space_id)
    local stored = stored_options(options)
    stored.func = func_id(options.func)
    local sequence = sequence_option(options.sequence)
    local sequence_tuple = sequence and sequence_row(space_id, id, name, sequence, parts)
    box.space._index:insert{space_id, id, name, options.type, stored, parts}
    if sequence_tuple then
        attach_sequence(sequence_tuple)
    end
    attach_func(space_id, id, stored.func)
    space.follow(space_id)
    return object.index[name]
end

function M.drop(space_id, index_id)
    check_param(space_id, 'space_id', 'number')
    check_param(index_id, 'index_id', 'number')
    if index_id == 0 then
        util.delete_space_sequence(space_id)
    end
    if box.space._func_index:get{space_id, index_id} ~= nil then
        box.space._func_index:delete{space_id, index_id}
    end
    box.space._index:delete{space_id, index_id}
    space.follow(space_id)
end

function M.rename(space_id, index_id, name)
    check_param(space_id, 'space_id', 'number')
    check_param(index_id, 'index_id', 'number')
    check_param(name, 'name', 'string')
    box.space._index:update({space_id, index_id}, {{'=', 3, name}})
    space.follow(space_id)
end

-- What an index's sequence becomes: the old one goes where the new differs.
local function alter_sequence(row, options, parts)
    if options.sequence == nil then
        return
    end
    local sequence = sequence_option(options.sequence)
    local old = box.space._space_sequence:get{row[1]}
    if sequence == nil then
        if row[2] == 0 then
            util.delete_space_sequence(row[1])
        end
        return
    end
    if sequence.id == nil and old ~= nil and old[3] then
        sequence.id = old[2]
    end
    local new = sequence_row(row[1], row[2], row[3], sequence, parts)
    if old ~= nil and old[2] == new[2] then
        new[3] = old[3]
        box.space._space_sequence:delete{row[1]}
    elseif old ~= nil then
        util.delete_space_sequence(row[1])
    end
    attach_sequence(new)
end

local function store_altered(row, name, kind, stored, parts)
    if stored.func ~= row[5].func then
        box.space._func_index:delete{row[1], row[2]}
    end
    box.space._index:replace{row[1], row[2], name, kind, stored, parts}
    attach_func(row[1], row[2], stored.func)
end

-- The number is part of the row's key, so it stays; told with the name and type only.
local function alter_with_id(row, options)
    local others = {}
    for _, name in ipairs(NOT_WITH_ID) do
        if options[name] ~= nil then
            table.insert(others, name)
        end
    end
    if #others > 0 then
        box.error(box.error.PROC_LUA, "Don't know how to update both id and " ..
                  table.concat(others, ' '))
    end
    local ops = {{'=', 2, options.id}}
    for no, name in pairs({[3] = 'name', [4] = 'type'}) do
        if options[name] ~= nil then
            table.insert(ops, {'=', no, options[name]})
        end
    end
    box.space._index:update({row[1], row[2]}, ops)
    space.follow(row[1])
end

function M.alter(space_id, index_id, options)
    find_space(space_id)
    local object = box.space[space_id].index[index_id]
    if object == nil then
        box.error(box.error.NO_SUCH_INDEX_ID, index_id, box.space[space_id].name)
    end
    if options == nil then
        return
    end
    util.check_options(options, ALTER_OPTIONS)
    local row = box.space._index:get{space_id, index_id}
    if options.id ~= nil then
        return alter_with_id(row, options)
    end
    local parts = row[6]
    if options.parts ~= nil then
        parts = normalize_parts(options.parts, space_id)
    end
    local stored = stored_options(options, row[5])
    stored.func = options.func ~= nil and func_id(options.func) or stored.func
    alter_sequence(row, options, parts)
    store_altered(row, options.name or row[3], options.type or row[4], stored, parts)
    space.follow(space_id)
end

local index_mt = index.index_mt

function index_mt.drop(self)
    index.check_self(self, 'drop')
    return M.drop(self.space_id, self.id)
end

function index_mt.rename(self, name)
    index.check_self(self, 'rename')
    return M.rename(self.space_id, self.id, name)
end

function index_mt.alter(self, options)
    index.check_self(self, 'alter')
    return M.alter(self.space_id, self.id, options)
end

function space.space_mt.create_index(self, name, options)
    space.check_self(self, 'create_index')
    return M.create(self.id, name, options)
end

return M
