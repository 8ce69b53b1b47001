-- SPDX-License-Identifier: BSD-2-Clause
-- What the functions of box.schema share: checks of arguments, in the words that
-- users know, and rows of the system spaces.
local ffi = require('ffi')
local box = require('box')

local M = {}

-- box.schema itself; visible once box.cfg{} has run.
M.schema = {}
require('tarn.box.api').schema = M.schema

function M.params(format, ...)
    box.error(box.error.ILLEGAL_PARAMS, select('#', ...) > 0 and format:format(...) or format)
end
local params = M.params

local int64_t, uint64_t = ffi.typeof('int64_t'), ffi.typeof('uint64_t')

-- type(), which calls 64-bit numbers numbers.
local function type_of(value)
    if type(value) == 'cdata' and (ffi.istype(int64_t, value) or ffi.istype(uint64_t, value)) then
        return 'number'
    end
    return type(value)
end
M.type_of = type_of

function M.check_param(value, name, kind)
    if type_of(value) ~= kind then
        params('%s should be a %s', name, kind)
    end
end

-- Is `kind` among the types in "string, number"?
local function has_type(kinds, kind)
    for k in kinds:gmatch('[^, ]+') do
        if k == kind then
            return true
        end
    end
    return false
end

-- Checks a table of options against {name = 'type, type' or 'any'}.
function M.check_options(options, template)
    if options == nil then
        return
    end
    if type(options) ~= 'table' then
        params('options should be a table')
    end
    for name, value in pairs(options) do
        local kinds = template[name]
        if kinds == nil then
            params("unexpected option '%s'", tostring(name))
        elseif kinds ~= 'any' and not has_type(kinds, type_of(value)) then
            if kinds:find(',') then
                params("options parameter '%s' should be one of types: %s", name, kinds)
            end
            params("options parameter '%s' should be of type %s", name, kinds)
        end
    end
end

-- What a drop is about: `found`, or nil where that is nil and the options let it be;
-- else an error of the code.
function M.to_drop(found, name, options, code)
    if found == nil and not (options and options.if_exists) then
        box.error(code, tostring(name))
    end
    return found
end

-- The options with defaults where they are nil; a new table.
function M.with_defaults(options, defaults)
    local out = {}
    for k, v in pairs(defaults) do
        out[k] = v
    end
    -- Options may be box.NULL.
    for k, v in pairs(options ~= nil and options or {}) do
        if v ~= nil then
            out[k] = v
        end
    end
    return out
end

local map_mt = {__serialize = 'map'}
local seq_mt = {__serialize = 'seq'}

-- Marks a table to be stored as a map, or as an array, though it may be empty.
function M.map(t)
    return setmetatable(t, map_mt)
end

function M.array(t)
    return setmetatable(t, seq_mt)
end

-- Runs f with the rights of admin.
function M.as_admin(f, ...)
    return box.session.su('admin', f, ...)
end

-- The id of a collation by its name, or nil.
function M.collation_id(name)
    local row = box.space._collation.index.name:get{name}
    return row and row[1]
end

return M
