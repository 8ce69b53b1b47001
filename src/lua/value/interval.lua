-- SPDX-License-Identifier: BSD-2-Clause
-- Intervals, as datetime.interval. Manual: module datetime.
local ffi = require('ffi')

ffi.cdef[[
/* Neither yield nor run Lua: data/datetime.h. */
bool interval_is_valid(const struct interval *i);
int interval_add(struct interval *result, const struct interval *a, const struct interval *b, int sign);
int interval_compare(const struct interval *a, const struct interval *b);
int interval_to_string(const struct interval *i, char *out);
int datetime_add(struct datetime *d, const struct interval *interval, int sign);
]]

local C = ffi.C
local istype = ffi.istype
local interval_t, datetime_t = ffi.typeof('struct interval'), ffi.typeof('struct datetime')
local text_t = ffi.typeof('char[256]')

-- In enum interval_adjust.
local ADJUST = {excess = 0, none = 1, last = 2}
local ADJUST_NAME = {[0] = 'excess', 'none', 'last'}

local UNITS = {'year', 'month', 'week', 'day', 'hour', 'min', 'sec', 'nsec'}
-- Units with other names, and what they are in the ones above.
local ALIASES = {
    years = 'year', months = 'month', weeks = 'week', days = 'day', hours = 'hour', minutes = 'min', seconds = 'sec',
}
-- What a fraction of the second may be given in.
local FRACTIONS = {nsec = 1, usec = 1e3, msec = 1e6}

local function is_interval(value)
    return istype(interval_t, value)
end

local function to_whole(value, unit, level)
    local number = tonumber(value)
    if number == nil or type(value) == 'string' then
        error(('numeric value expected, but received %s'):format(type(value)), level + 1)
    elseif number ~= math.floor(number) then
        error(('expected integer value of %s, but received %s'):format(unit, tostring(value)), level + 1)
    end
    return number
end

-- The one unit of the second's fraction in the table, in nanoseconds; nil where there is none.
local function fraction_of(t, level)
    local found, result
    for unit, factor in pairs(FRACTIONS) do
        if t[unit] ~= nil then
            if found ~= nil then
                error('only one of nsec, usec or msecs may be defined simultaneously', level + 1)
            end
            found = unit
            result = to_whole(t[unit], unit, level + 1) * factor
        end
    end
    return result
end

local function from_table(t, level)
    local iv = interval_t()
    for name, unit in pairs(ALIASES) do
        local value = t[unit]
        if value == nil then
            value = t[name]
        end
        if value ~= nil then
            iv[unit] = to_whole(value, unit, level + 1)
        end
    end
    iv.nsec = fraction_of(t, level + 1) or 0
    local adjust = t.adjust
    if adjust == nil then
        adjust = 'none'
    end
    iv.__adjust = ADJUST[adjust] or error(('expected adjust option is "none", "last" or "excess", but received %s')
                                          :format(tostring(adjust)), level + 1)
    if not C.interval_is_valid(iv) then
        error('value of the interval is out of allowed range', level + 1)
    end
    return iv
end

local function new(t)
    if t == nil then
        t = {}
    elseif type(t) ~= 'table' then
        error(('table expected, but received %s'):format(type(t)), 2)
    end
    return from_table(t, 2)
end

-- An interval, or a table with the same units. nil: neither.
local function to_interval(value, level)
    if is_interval(value) then
        return value
    elseif type(value) == 'table' then
        return from_table(value, level + 1)
    end
    return nil
end

local function totable(iv)
    local t = {adjust = ADJUST_NAME[iv.__adjust]}
    for _, unit in ipairs(UNITS) do
        t[unit] = iv[unit]
    end
    return t
end

local function to_string(iv)
    local text = text_t()
    return ffi.string(text, C.interval_to_string(iv, text))
end

local function combine(a, b, sign, level)
    local result = interval_t()
    if C.interval_add(result, a, b, sign) ~= 0 then
        error('value of the interval is out of allowed range', level + 1)
    end
    return result
end

-- A datetime moved by the interval.
local function moved(dt, iv, sign, level)
    local result = datetime_t(dt)
    if C.datetime_add(result, iv, sign) ~= 0 then
        error('value of the datetime is out of allowed range', level + 1)
    end
    return result
end

local function add(a, b)
    local x, y = a, b
    if not is_interval(x) then
        x, y = b, a
    end
    if istype(datetime_t, y) then
        return moved(y, x, 1, 2)
    end
    y = to_interval(y, 2)
    if y == nil then
        error(('incompatible types for interval arithmetic: %s and %s'):format(type(a), type(b)), 2)
    end
    return combine(x, y, 1, 2)
end

local function sub(a, b)
    local y = is_interval(a) and to_interval(b, 2) or nil
    if y == nil then
        error(('incompatible types for interval arithmetic: %s and %s'):format(type(a), type(b)), 2)
    end
    return combine(a, y, -1, 2)
end

local function ordering(is_true)
    return function(a, b)
        if not (is_interval(a) and is_interval(b)) then
            error('incompatible types for interval comparison', 2)
        end
        return is_true(C.interval_compare(a, b))
    end
end

local ATTRIBUTES = {
    usec = function(iv) return iv.nsec / 1e3 end,
    msec = function(iv) return iv.nsec / 1e6 end,
    adjust = function(iv) return ADJUST_NAME[iv.__adjust] end,
}
local METHODS = {totable = totable}

ffi.metatype(interval_t, {
    __add = add,
    __sub = sub,
    __unm = function(iv) return combine(interval_t(), iv, -1, 2) end,
    __eq = function(a, b) return is_interval(a) and is_interval(b) and C.interval_compare(a, b) == 0 end,
    __lt = ordering(function(rc) return rc < 0 end),
    __le = ordering(function(rc) return rc <= 0 end),
    __tostring = to_string,
    __index = function(iv, name)
        local attribute = ATTRIBUTES[name]
        if attribute ~= nil then
            return attribute(iv)
        end
        return METHODS[name]
    end,
})

return {
    new = new, is_interval = is_interval,
    to_interval = to_interval, moved = moved, to_whole = to_whole, fraction_of = fraction_of,
}
