-- SPDX-License-Identifier: BSD-2-Clause
-- The module `datetime`. Manual: module datetime.
local ffi = require('ffi')
local interval = require('internal.interval')

ffi.cdef[[
struct datetime_fields {
    double year;
    int32_t month, day, hour, min, sec, nsec, wday, yday;
    int32_t tzoffset, tzindex, isdst;
};
struct timezone_info {
    int32_t offset, is_dst;
};
/* Neither yield nor run Lua: data/datetime.h, data/timezone.h. */
void datetime_now(struct datetime *result);
bool datetime_is_valid(const struct datetime *d);
void datetime_get_fields(const struct datetime *d, struct datetime_fields *fields);
int datetime_from_fields(struct datetime *result, const struct datetime_fields *fields);
int datetime_compare(const struct datetime *a, const struct datetime *b);
void datetime_sub(struct interval *result, const struct datetime *a, const struct datetime *b);
int datetime_to_string(const struct datetime *d, char *out);
size_t datetime_format(const struct datetime *d, const char *format, char *out, size_t size);
int datetime_parse(struct datetime *result, const char *str, size_t len, bool is_rfc3339);
int datetime_parse_format(struct datetime *result, const char *str, size_t len, const char *format);
int datetime_parse_zone(const char *str, size_t len, int *tzoffset, int *tzindex);
const char *timezone_name(int index);
int timezone_at_local(int index, int64_t local, struct timezone_info *info);
]]

local C = ffi.C
local istype, floor = ffi.istype, math.floor
local datetime_t, fields_t = ffi.typeof('struct datetime'), ffi.typeof('struct datetime_fields')
local interval_t, info_t = ffi.typeof('struct interval'), ffi.typeof('struct timezone_info')
local text_t, buffer_t, int_t = ffi.typeof('char[80]'), ffi.typeof('char[?]'), ffi.typeof('int[1]')
local to_whole, fraction_of = interval.to_whole, interval.fraction_of

-- Bounds of what is set: what the manual has for each unit.
local RANGES = {
    year = {-5879610, 5879611}, month = {1, 12}, day = {1, 31}, hour = {0, 23}, min = {0, 59}, sec = {0, 60},
}
local MAX_NSEC = 999999999
local MIN_OFFSET, MAX_OFFSET = -12 * 60, 14 * 60

local function is_datetime(value)
    return istype(datetime_t, value)
end

local function check_datetime(value, level)
    if not is_datetime(value) then
        error(('datetime expected, but received %s'):format(type(value)), level + 1)
    end
end

local function fields_of(dt)
    local f = fields_t()
    C.datetime_get_fields(dt, f)
    return f
end

local function out_of_range(value, unit, min, max, level)
    error(('value %s of %s is out of allowed range [%s, %s]'):format(tostring(value), unit, min, max), level + 1)
end

local function check_range(value, unit, level)
    local number, range = to_whole(value, unit, level + 1), RANGES[unit]
    if (number < range[1] or number > range[2]) and not (unit == 'day' and number == -1) then
        if unit == 'day' then
            error(('value %s of day is out of allowed range [-1, 1..31]'):format(tostring(value)), level + 1)
        end
        out_of_range(value, unit, range[1], range[2], level + 1)
    end
    return number
end

-- Zones. -------------------------------------------------------------------------

-- Offset and number of a zone by its name or a text like '+0300'.
local function parse_zone(text, level)
    local offset, index = int_t(), int_t()
    local n = C.datetime_parse_zone(text, #text, offset, index)
    if n == -2 then
        error(("could not parse '%s' - ambiguous timezone"):format(text), level + 1)
    elseif n ~= #text then
        error(("could not parse '%s'"):format(text), level + 1)
    end
    return offset[0], index[0]
end

local function check_offset(value, level)
    local offset = value
    if type(value) == 'string' then
        offset = parse_zone(value, level + 1)
    else
        offset = to_whole(value, 'tzoffset', level + 1)
    end
    if offset < MIN_OFFSET or offset > MAX_OFFSET then
        out_of_range(value, 'tzoffset', MIN_OFFSET, MAX_OFFSET, level + 1)
    end
    return offset
end

-- Puts the zone of the table, where it has one, into offset and number.
local function zone_of(t, offset, index, level)
    if t.tz ~= nil then
        if type(t.tz) ~= 'string' then
            error(('string value expected for tz, but received %s'):format(type(t.tz)), level + 1)
        end
        return parse_zone(t.tz, level + 1)
    elseif t.tzoffset ~= nil then
        return check_offset(t.tzoffset, level + 1), 0
    end
    return offset, index
end

-- Making and setting. --------------------------------------------------------------

local DATE, TIME = {'year', 'month', 'day'}, {'hour', 'min', 'sec'}

local function any_of(t, units)
    for _, unit in ipairs(units) do
        if t[unit] ~= nil then
            return true
        end
    end
    return false
end

-- The datetime whose clock shows the timestamp.
local function from_timestamp(t, nsec, offset, index, level)
    if any_of(t, TIME) then
        error('timestamp is not allowed if hour/min/sec provided', level + 1)
    elseif any_of(t, DATE) then
        error('timestamp is not allowed if year/month/day provided', level + 1)
    end
    local timestamp = tonumber(t.timestamp)
    if timestamp == nil or type(t.timestamp) == 'string' then
        error(('numeric value expected, but received %s'):format(type(t.timestamp)), level + 1)
    end
    local seconds = floor(timestamp)
    if nsec == nil then
        nsec = floor((timestamp - seconds) * 1e9)
    elseif seconds ~= timestamp then
        error('only integer values allowed in timestamp if nsec, usec, or msecs provided', level + 1)
    end
    local dt = datetime_t(seconds, nsec, offset, index)
    -- First as if it were UTC: is it in range at all?
    dt.tzoffset = 0
    if not C.datetime_is_valid(dt) then
        error(('value %s of timestamp is out of allowed range'):format(tostring(t.timestamp)), level + 1)
    end
    if index ~= 0 then
        local info = info_t()
        if C.timezone_at_local(index, seconds, info) ~= 0 then
            error(("no data of timezone '%s'"):format(ffi.string(C.timezone_name(index))), level + 1)
        end
        offset = floor(info.offset / 60)
    end
    return datetime_t(seconds - offset * 60, nsec, offset, index)
end

local function from_fields(f, level)
    local dt = datetime_t()
    local rc = C.datetime_from_fields(dt, f)
    if rc == -2 then
        error(('invalid number of days %d in month %d for %d'):format(f.day, f.month, f.year), level + 1)
    elseif rc ~= 0 then
        if f.tzindex ~= 0 and C.timezone_at_local(f.tzindex, 0, info_t()) ~= 0 then
            error(("no data of timezone '%s'"):format(ffi.string(C.timezone_name(f.tzindex))), level + 1)
        end
        error('value of the datetime is out of allowed range', level + 1)
    end
    return dt
end

local function check_fraction(t, level)
    local nsec = fraction_of(t, level + 1)
    if nsec ~= nil and (nsec < 0 or nsec > MAX_NSEC) then
        out_of_range(nsec, 'nsec', 0, MAX_NSEC, level + 1)
    end
    return nsec
end

-- The datetime with what the table says in place of what `f`, its fields, have.
local function override(t, f, level)
    local nsec = check_fraction(t, level + 1)
    local offset, index = zone_of(t, f.tzoffset, f.tzindex, level + 1)
    if t.timestamp ~= nil then
        return from_timestamp(t, nsec, offset, index, level + 1)
    end
    for unit in pairs(RANGES) do
        if t[unit] ~= nil then
            f[unit] = check_range(t[unit], unit, level + 1)
        end
    end
    f.nsec = nsec or f.nsec
    f.tzoffset, f.tzindex = offset, index
    return from_fields(f, level + 1)
end

local function check_table(t, level)
    if type(t) ~= 'table' then
        error(('table expected, but received %s'):format(type(t)), level + 1)
    end
end

local function new(t)
    if t == nil then
        return datetime_t()
    end
    check_table(t, 2)
    return override(t, fields_of(datetime_t()), 2)
end

local function set(dt, t)
    check_datetime(dt, 2)
    check_table(t, 2)
    ffi.copy(dt, override(t, fields_of(dt), 2), ffi.sizeof(datetime_t))
    return dt
end

local function now()
    local dt = datetime_t()
    C.datetime_now(dt)
    return dt
end

-- Texts. ---------------------------------------------------------------------------

local function to_string(dt)
    local text = text_t()
    return ffi.string(text, C.datetime_to_string(dt, text))
end

local function format(dt, spec)
    check_datetime(dt, 2)
    if spec == nil then
        return to_string(dt)
    elseif type(spec) ~= 'string' then
        error(('string expected, but received %s'):format(type(spec)), 2)
    end
    local size = 128
    while true do
        local out = buffer_t(size)
        local len = tonumber(C.datetime_format(dt, spec, out, size))
        if len < size then
            return ffi.string(out, len)
        end
        size = len + 1
    end
end

local function parse(str, options)
    if type(str) ~= 'string' then
        error(('string expected, but received %s'):format(type(str)), 2)
    elseif options == nil then
        options = {}
    end
    check_table(options, 2)
    local dt, n, spec = datetime_t(), nil, options.format
    dt.tzoffset, dt.tzindex = zone_of(options, 0, 0, 2)
    if spec == nil or spec == 'iso8601' or spec == 'rfc3339' then
        n = C.datetime_parse(dt, str, #str, spec == 'rfc3339')
    elseif type(spec) == 'string' then
        n = C.datetime_parse_format(dt, str, #str, spec)
    else
        error(('string expected for format, but received %s'):format(type(spec)), 2)
    end
    if n < 0 then
        error(spec == nil and ("could not parse '%s'"):format(str) or
              ("could not parse '%s' using '%s' format"):format(str, spec), 2)
    end
    return dt, n
end

-- Arithmetic and order. --------------------------------------------------------------

local function incompatible(a, b, level)
    error(('incompatible types for datetime arithmetic: %s and %s'):format(type(a), type(b)), level + 1)
end

local function move(dt, by, adjust, sign, level)
    check_datetime(dt, level + 1)
    local iv = interval.to_interval(by, level + 1)
    if iv == nil then
        error(('interval or table expected, but received %s'):format(type(by)), level + 1)
    elseif adjust ~= nil then
        iv = interval.new(iv:totable())
        iv = interval.to_interval({year = iv.year, month = iv.month, week = iv.week, day = iv.day, hour = iv.hour,
                                   min = iv.min, sec = iv.sec, nsec = iv.nsec, adjust = adjust}, level + 1)
    end
    ffi.copy(dt, interval.moved(dt, iv, sign, level + 1), ffi.sizeof(datetime_t))
    return dt
end

local function add(a, b)
    local dt, by = a, b
    if not is_datetime(dt) then
        dt, by = b, a
    end
    local iv = interval.to_interval(by, 2)
    if iv == nil then
        incompatible(a, b, 2)
    end
    return interval.moved(dt, iv, 1, 2)
end

local function subtract(a, b)
    if not is_datetime(a) then
        incompatible(a, b, 2)
    elseif is_datetime(b) then
        local result = interval_t()
        C.datetime_sub(result, a, b)
        return result
    end
    local iv = interval.to_interval(b, 2)
    if iv == nil then
        incompatible(a, b, 2)
    end
    return interval.moved(a, iv, -1, 2)
end

local function ordering(is_true)
    return function(a, b)
        if not (is_datetime(a) and is_datetime(b)) then
            error('incompatible types for datetime comparison', 2)
        end
        return is_true(C.datetime_compare(a, b))
    end
end

-- The object. ------------------------------------------------------------------------

local function totable(dt)
    check_datetime(dt, 2)
    local f = fields_of(dt)
    return {
        year = f.year, month = f.month, day = f.day, hour = f.hour, min = f.min, sec = f.sec, nsec = f.nsec,
        wday = f.wday, yday = f.yday, isdst = f.isdst ~= 0, tzoffset = f.tzoffset,
    }
end

local ATTRIBUTES = {
    usec = function(dt) return floor(dt.nsec / 1e3) end,
    msec = function(dt) return floor(dt.nsec / 1e6) end,
    timestamp = function(dt) return dt.epoch + dt.nsec / 1e9 end,
    tz = function(dt)
        local name = dt.tzindex ~= 0 and C.timezone_name(dt.tzindex) or nil
        return name ~= nil and ffi.string(name) or ''
    end,
    isdst = function(dt) return fields_of(dt).isdst ~= 0 end,
}
for _, name in ipairs({'year', 'month', 'day', 'hour', 'min', 'sec', 'wday', 'yday'}) do
    ATTRIBUTES[name] = function(dt) return fields_of(dt)[name] end
end

local METHODS = {
    totable = totable, format = format, set = set,
    add = function(dt, by, adjust) return move(dt, by, adjust, 1, 2) end,
    sub = function(dt, by, adjust) return move(dt, by, adjust, -1, 2) end,
}

ffi.metatype(datetime_t, {
    __add = add,
    __sub = subtract,
    __eq = function(a, b) return is_datetime(a) and is_datetime(b) and C.datetime_compare(a, b) == 0 end,
    __lt = ordering(function(rc) return rc < 0 end),
    __le = ordering(function(rc) return rc <= 0 end),
    __tostring = to_string,
    __index = function(dt, name)
        local attribute = ATTRIBUTES[name]
        if attribute ~= nil then
            return attribute(dt)
        end
        return METHODS[name]
    end,
})

-- Names by number, and numbers by name.
local function load_zones()
    local zones = {}
    for i = 1, 1011 do
        local name = C.timezone_name(i)
        if name ~= nil then
            zones[i] = ffi.string(name)
            zones[zones[i]] = i
        end
    end
    return zones
end

return setmetatable({
    new = new, now = now, parse = parse, is_datetime = is_datetime,
    interval = {new = interval.new, is_interval = interval.is_interval},
}, {__index = function(module, name)
    if name == 'TZ' then
        module.TZ = load_zones()
        return module.TZ
    end
end})
