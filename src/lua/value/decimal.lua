-- SPDX-License-Identifier: BSD-2-Clause
-- The module `decimal`. Manual: module decimal.
local ffi = require('ffi')

ffi.cdef[[
/* Neither yield nor run Lua: data/decimal.h. */
void decimal_from_int64(struct decimal *result, int64_t value);
void decimal_from_uint64(struct decimal *result, uint64_t value);
int decimal_from_double(struct decimal *result, double value);
int decimal_from_string(struct decimal *result, const char *str);
int decimal_precision(const struct decimal *d);
int decimal_scale(const struct decimal *d);
int decimal_compare(const struct decimal *a, const struct decimal *b);
void decimal_round(struct decimal *result, const struct decimal *d, int scale);
void decimal_rescale(struct decimal *result, const struct decimal *d, int scale);
void decimal_trim(struct decimal *result, const struct decimal *d);
void decimal_abs(struct decimal *result, const struct decimal *d);
void decimal_minus(struct decimal *result, const struct decimal *d);
int decimal_add(struct decimal *result, const struct decimal *a, const struct decimal *b);
int decimal_sub(struct decimal *result, const struct decimal *a, const struct decimal *b);
int decimal_mul(struct decimal *result, const struct decimal *a, const struct decimal *b);
int decimal_div(struct decimal *result, const struct decimal *a, const struct decimal *b);
int decimal_remainder(struct decimal *result, const struct decimal *a, const struct decimal *b);
int decimal_sqrt(struct decimal *result, const struct decimal *d);
int decimal_exp(struct decimal *result, const struct decimal *d);
int decimal_ln(struct decimal *result, const struct decimal *d);
int decimal_log10(struct decimal *result, const struct decimal *d);
int decimal_pow(struct decimal *result, const struct decimal *d, const struct decimal *power);
]]

local C = ffi.C
local istype = ffi.istype
local decimal_t = ffi.typeof('struct decimal')

-- C types of numbers that are converted, and how.
local INTEGERS = {}
for _, name in ipairs({'int8_t', 'int16_t', 'int32_t', 'int64_t'}) do
    INTEGERS[tonumber(ffi.typeof(name))] = C.decimal_from_int64
    INTEGERS[tonumber(ffi.typeof('u' .. name))] = C.decimal_from_uint64
end
INTEGERS[tonumber(ffi.typeof('char'))] = C.decimal_from_int64
local REALS = {[tonumber(ffi.typeof('float'))] = true, [tonumber(ffi.typeof('double'))] = true}

local function is_decimal(value)
    return istype(decimal_t, value)
end

local function from_cdata(d, value)
    local id = tonumber(ffi.typeof(value))
    local convert = INTEGERS[id]
    if convert ~= nil then
        convert(d, value)
        return 0
    elseif REALS[id] then
        return C.decimal_from_double(d, tonumber(value))
    end
    return nil
end

-- The value as a decimal. Errors are the caller's caller's.
local function to_decimal(value, position)
    if istype(decimal_t, value) then
        return value
    end
    local d, rc = decimal_t(), nil
    local kind = type(value)
    if kind == 'number' then
        rc = C.decimal_from_double(d, value)
    elseif kind == 'string' then
        rc = C.decimal_from_string(d, value)
    elseif kind == 'cdata' then
        rc = from_cdata(d, value)
    end
    if rc == nil then
        error(('expected decimal, number or string as %d argument'):format(position), 3)
    elseif rc ~= 0 then
        error(('incorrect value to convert to decimal as %d argument'):format(position), 3)
    end
    return d
end

-- A function of a value that may fail.
local function unary(name, func)
    return function(...)
        if select('#', ...) < 1 then
            error(('usage: decimal.%s(decimal)'):format(name), 2)
        end
        local d, result = to_decimal((...), 1), decimal_t()
        if func(result, d) ~= 0 then
            error('decimal operation failed', 2)
        end
        return result
    end
end

local function binary(func)
    return function(a, b)
        local x, y, result = to_decimal(a, 1), to_decimal(b, 2), decimal_t()
        if func(result, x, y) ~= 0 then
            error('decimal operation failed', 2)
        end
        return result
    end
end

local function check_decimal(value)
    if type(value) ~= 'cdata' then
        error('expected cdata as 1 argument', 3)
    elseif not is_decimal(value) then
        error('expected decimal as 1 argument', 3)
    end
end

-- A property of a decimal.
local function property(name, func)
    return function(...)
        if select('#', ...) < 1 then
            error(('usage: decimal.%s(decimal)'):format(name), 2)
        end
        check_decimal((...))
        return func((...))
    end
end

-- A number of digits; what is out of any range stays so.
local function to_scale(value)
    local scale = (type(value) == 'number' or type(value) == 'string') and tonumber(value) or 0
    return math.max(-1, math.min(scale, 1000))
end

local function scaling(name, func)
    return function(...)
        if select('#', ...) < 2 then
            error(('usage: decimal.%s(decimal, scale)'):format(name), 2)
        end
        local d, scale = ...
        check_decimal(d)
        local result = decimal_t()
        func(result, d, to_scale(scale))
        return result
    end
end

-- Comparison with nil is an error of its own; that with box.NULL is not.
local function ordering(is_true)
    return function(a, b)
        if type(a) == 'nil' or type(b) == 'nil' then
            error('attempt to compare decimal with nil', 2)
        end
        return is_true(C.decimal_compare(to_decimal(a, 1), to_decimal(b, 2)))
    end
end

-- Comparing a decimal to nil would end up here again.
local function is_null(value)
    return not is_decimal(value) and value == nil
end

ffi.metatype(decimal_t, {
    __add = binary(C.decimal_add),
    __sub = binary(C.decimal_sub),
    __mul = binary(C.decimal_mul),
    __div = binary(C.decimal_div),
    __mod = binary(C.decimal_remainder),
    __pow = binary(C.decimal_pow),
    __unm = function(d)
        local result = decimal_t()
        C.decimal_minus(result, d)
        return result
    end,
    __eq = function(a, b)
        if is_null(a) or is_null(b) then
            return false
        end
        return C.decimal_compare(to_decimal(a, 1), to_decimal(b, 2)) == 0
    end,
    __lt = ordering(function(rc) return rc < 0 end),
    __le = ordering(function(rc) return rc <= 0 end),
    __tostring = require('tarn.decimal').tostring,
})

return {
    new = function(...)
        if select('#', ...) < 1 then
            error('usage: decimal.new(value)', 2)
        end
        return decimal_t(to_decimal((...), 1))
    end,
    is_decimal = function(...)
        if select('#', ...) < 1 then
            error('usage: decimal.is_decimal(value)', 2)
        end
        return is_decimal((...))
    end,
    abs = unary('abs', function(result, d)
        C.decimal_abs(result, d)
        return 0
    end),
    exp = unary('exp', C.decimal_exp),
    ln = unary('ln', C.decimal_ln),
    log10 = unary('log10', C.decimal_log10),
    sqrt = unary('sqrt', C.decimal_sqrt),
    precision = property('precision', C.decimal_precision),
    scale = property('scale', C.decimal_scale),
    trim = property('trim', function(d)
        local result = decimal_t()
        C.decimal_trim(result, d)
        return result
    end),
    round = scaling('round', C.decimal_round),
    rescale = scaling('rescale', C.decimal_rescale),
}
