-- SPDX-License-Identifier: BSD-2-Clause
--
-- The module `checks` and the globals `checks` and `checkers`: the types of a function's arguments,
-- checked from inside of it. Manual: module checks.
local ffi = require('ffi')
local box = require('box')
local datetime = require('datetime')
local decimal = require('decimal')
local uuid = require('uuid')

-- Checkers ----------------------------------------------------------------------

local checkers = {}

checkers.datetime = datetime.is_datetime
checkers.decimal = decimal.is_decimal
checkers.interval = datetime.interval.is_interval
checkers.uuid = uuid.is_uuid

function checkers.error(value)
    return box.error.is(value)
end

function checkers.tuple(value)
    return box.tuple.is(value)
end

function checkers.uuid_str(value)
    return type(value) == 'string' and #value == 36 and uuid.fromstr(value) ~= nil
end

function checkers.uuid_bin(value)
    return type(value) == 'string' and #value == 16
end

local MAX_EXACT = 2 ^ 53 - 1 -- a number up to here is one integer
local INT64_MAX = 9223372036854775807ULL

local function is_integer(value, min)
    return type(value) == 'number' and value >= min and value <= MAX_EXACT and value % 1 == 0
end

function checkers.int64(value)
    return is_integer(value, -MAX_EXACT) or ffi.istype('int64_t', value) or
           (ffi.istype('uint64_t', value) and value <= INT64_MAX)
end

function checkers.uint64(value)
    return is_integer(value, 0) or ffi.istype('uint64_t', value) or
           (ffi.istype('int64_t', value) and value >= 0)
end

-- Qualifiers ------------------------------------------------------------------------

local parsed = {} -- qualifier -> {is_optional, any, names}

local function parse(qualifier)
    local found = parsed[qualifier]
    if found == nil then
        found = {is_optional = false, any = qualifier == '?', names = {}}
        for name in qualifier:gmatch('[^|]+') do
            if name:sub(1, 1) == '?' then
                found.is_optional = true
                name = name:sub(2)
            end
            if name ~= '' then
                table.insert(found.names, name)
            end
        end
        parsed[qualifier] = found
    end
    return found
end

local function has_type(value, name)
    if type(value) == name then
        return true
    end
    local mt = getmetatable(value)
    if type(mt) == 'table' and mt.__type == name then
        return true
    end
    local checker = checkers[name]
    return type(checker) == 'function' and checker(value) == true
end

local function conforms(value, qualifier)
    local wanted = parse(qualifier)
    if wanted.any or (value == nil and wanted.is_optional) then
        return true
    end
    for _, name in ipairs(wanted.names) do
        if has_type(value, name) then
            return true
        end
    end
    return false
end

local function key_text(key)
    return type(key) == 'string' and '.' .. key or ('[%s]'):format(tostring(key))
end

local function wrong_type(place, value, qualifier)
    return ('bad argument %s to %%s (%s expected, got %s)'):format(place, qualifier:gsub('%%', '%%%%'),
                                                                   type(value))
end

-- What is wrong with the value, as a format with a place for the function's name.
local find_problem

local function problem_in_table(path, value, qualifiers)
    if value == nil then
        value = {}
    end
    for key in pairs(value) do
        if qualifiers[key] == nil then
            return ('unexpected argument %s%s to %%s'):format(path, key_text(key):gsub('%%', '%%%%'))
        end
    end
    for key, qualifier in pairs(qualifiers) do
        local below = path .. key_text(key)
        local problem = find_problem(below, below, value[key], qualifier)
        if problem ~= nil then
            return problem
        end
    end
end

-- `place` names the value in an error of its own, `path` leads to what is in it.
function find_problem(place, path, value, qualifier)
    if type(qualifier) == 'string' then
        return not conforms(value, qualifier) and wrong_type(place, value, qualifier) or nil
    elseif not conforms(value, '?table') then
        return wrong_type(place, value, '?table')
    end
    return problem_in_table(path, value, qualifier)
end

-- checks([level,] qualifier...) --------------------------------------------------------

-- Errors are those of the call of the function that checks; `level` says which that is, 1 its caller.
local function checks(...)
    local level, first = 1, 1
    if type((...)) == 'number' then
        level, first = ..., 2
    end
    local name
    for i = first, select('#', ...) do
        local qualifier, number = select(i, ...), i - first + 1
        if type(qualifier) ~= 'string' and type(qualifier) ~= 'table' then
            error(('checks: type %q is not supported'):format(type(qualifier)), 2)
        end
        local argument, value = debug.getlocal(level + 1, number)
        if argument == nil then
            error('checks: excess check, absent argument', level + 1)
        end
        local problem = find_problem('#' .. number, argument, value, qualifier)
        if problem ~= nil then
            name = debug.getinfo(level + 1, 'n').name
            error(problem:format(tostring(name)), level + 2)
        elseif value == nil and type(qualifier) == 'table' and rawget(_G, '_checks_v2_compatible') then
            debug.setlocal(level + 1, number, {})
        end
    end
    local count = select('#', ...) - first + 1
    if debug.getinfo(level + 1, 'u').nparams > count then
        local argument = debug.getlocal(level + 1, count + 1)
        error(('checks: argument %q is not checked'):format(argument), level + 1)
    end
end

rawset(_G, 'checks', checks)
rawset(_G, 'checkers', checkers)

return checks
