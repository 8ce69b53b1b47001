-- SPDX-License-Identifier: BSD-2-Clause
-- Constraints, foreign keys and defaults of spaces and fields: from the forms that users may
-- write to what rows of _space have (db/schema/constraint.h), and back.
local util = require('tarn.box.util')
local box = require('box')

local params = util.params
local M = {}

-- `what` begins messages: "format[2]: " or "".

local function func_id(name, what)
    if type(name) ~= 'string' then
        params('%sconstraint function is expected to be a string, but %s is given', what,
               type(name))
    end
    local row = box.space._vfunc.index.name:get{name}
    if row == nil then
        params("%sconstraint function was not found by name '%s'", what, name)
    end
    return row[1]
end

-- 'func', {'func', ...} or {name = 'func', ...}
function M.funcs(constraint, what)
    if type(constraint) == 'string' then
        constraint = {constraint}
    elseif type(constraint) ~= 'table' then
        params('%sconstraint must be string or table', what)
    end
    local out = util.map({})
    for name, func in pairs(constraint) do
        if type(name) == 'number' then
            name = func
        elseif type(name) ~= 'string' then
            params('%sconstraint name is expected to be a string, but %s is given', what,
                   type(name))
        end
        out[name] = func_id(func, what)
    end
    return next(out) ~= nil and out or nil
end

-- A field of the space itself or of a parent: by name, or by number from 1.
local function field_ref(field, what)
    if type(field) == 'string' then
        return field
    elseif type(field) ~= 'number' or field < 1 or field ~= math.floor(field) then
        params('%sforeign key: field must be a name or a number from 1', what)
    end
    return field - 1
end

local function field_refs(field, what, is_complex)
    if not is_complex then
        return field_ref(field, what)
    elseif type(field) ~= 'table' then
        params('%sforeign key: field must be a table with local field -> foreign field mapping',
               what)
    end
    local out = util.map({})
    for own, foreign in pairs(field) do
        out[field_ref(own, what)] = field_ref(foreign, what)
    end
    if next(out) == nil then
        params('%sforeign key: field must be a table with local field -> foreign field mapping',
               what)
    end
    return out
end

-- The parent's id; nil: the space itself.
local function parent_id(parent, what, self)
    if parent == nil or parent == self.id or parent == self.name then
        return nil
    elseif type(parent) ~= 'string' and type(parent) ~= 'number' then
        params('%sforeign key: space must be string or number', what)
    end
    local object = box.space[parent]
    if object == nil then
        params('%sforeign key: space %s was not found', what, tostring(parent))
    end
    return object.id
end

local function foreign_key(key, what, is_complex, self)
    if type(key) ~= 'table' then
        params('%sforeign key definition must be a table with space and field', what)
    end
    for option in pairs(key) do
        if option ~= 'space' and option ~= 'field' then
            params("%sunexpected option '%s' in foreign key", what, tostring(option))
        end
    end
    if key.field == nil then
        params('%sforeign key: field must be specified', what)
    end
    return util.map({space = parent_id(key.space, what, self),
                     field = field_refs(key.field, what, is_complex)})
end

-- Is it one key, {space = ..., field = ...}, rather than {name = key, ...}?
local function is_one(keys, is_complex)
    local field = keys.field
    if field == nil then
        return false
    elseif keys.space ~= nil and type(keys.space) ~= 'table' or not is_complex then
        return type(field) ~= 'table' or is_complex
    end
    return type(field) ~= 'table' or field.field == nil
end

-- {space = parent, field = field} (the key is called like the parent) or {name = key, ...}.
-- `self` has the space's own id and name.
function M.foreign_keys(keys, what, is_complex, self)
    if type(keys) ~= 'table' then
        params('%sforeign_key must be a table', what)
    end
    if is_one(keys, is_complex) then
        local parent = keys.space
        local object = parent ~= nil and box.space[parent] or nil
        keys = {[object ~= nil and object.name or self.name] = keys}
    end
    local out = util.map({})
    for name, key in pairs(keys) do
        if type(name) ~= 'string' then
            params('%sforeign key name is expected to be a string', what)
        end
        out[name] = foreign_key(key, what, is_complex, self)
    end
    return next(out) ~= nil and out or nil
end

-- The options of one field, in place.
function M.normalize_field(field, i, self)
    local what = ('format[%d]: '):format(i)
    if field.constraint ~= nil then
        field.constraint = M.funcs(field.constraint, what)
    end
    if field.foreign_key ~= nil then
        field.foreign_key = M.foreign_keys(field.foreign_key, what, false, self)
    end
    if field.default_func ~= nil then
        local row = type(field.default_func) == 'string' and
                    box.space._vfunc.index.name:get{field.default_func} or nil
        if row == nil then
            params("%sfield default function was not found by name '%s'", what,
                   tostring(field.default_func))
        end
        field.default_func = row[1]
    end
end

-- Back ------------------------------------------------------------------------

local function func_name(id)
    local row = box.space._vfunc:get{id}
    return row and row[3] or id
end

function M.show_funcs(map)
    local out = {}
    for name, id in pairs(map) do
        out[name] = func_name(id)
    end
    return out
end

local function show_ref(field)
    return type(field) == 'number' and field + 1 or field
end

function M.show_foreign_keys(map)
    local out = {}
    for name, key in pairs(map) do
        local parent = key.space and box.space[key.space]
        local field = key.field
        if type(field) == 'table' then
            field = {}
            for own, foreign in pairs(key.field) do
                field[show_ref(own)] = show_ref(foreign)
            end
        else
            field = show_ref(field)
        end
        out[name] = {space = parent and parent.name or key.space, field = field}
    end
    return out
end

-- The fields of a row of _space as users wrote them.
function M.show_format(format)
    for _, field in ipairs(format) do
        if type(field.constraint) == 'table' then
            field.constraint = M.show_funcs(field.constraint)
        end
        if type(field.foreign_key) == 'table' then
            field.foreign_key = M.show_foreign_keys(field.foreign_key)
        end
        if field.default_func ~= nil then
            field.default_func = func_name(field.default_func)
        end
    end
    return format
end

return M
