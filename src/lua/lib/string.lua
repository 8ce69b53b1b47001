-- SPDX-License-Identifier: BSD-2-Clause
--
-- What the reference adds to the libraries string, table and os. Texts of errors are
-- those observed.
local ffi = require('ffi')
local internal = require('tarn.string')

local to_hex, from_hex = internal.hex, internal.fromhex
local split, strip = internal.split, internal.strip

-- Arguments -------------------------------------------------------------------------

local function bad(number, name, expected, got)
    error(("bad argument #%d to '%s' (%s expected, got %s)"):format(number, name, expected, got), 4)
end

local function check_string(value, number, name)
    if type(value) ~= 'string' then
        bad(number, name, 'string', type(value))
    end
end

local function check_count(value, number, name)
    if type(value) ~= 'number' or value < 0 then
        bad(number, name, 'positive integer', type(value))
    end
end

local function check_optional(value, number, name, kind, expected)
    if value ~= nil and type(value) ~= kind then
        bad(number, name, expected, type(value))
    end
end

-- Splitting -------------------------------------------------------------------------

-- Parts between separators (runs of white space by default), at most max + 1 of them.
function string.split(s, separator, max)
    check_string(s, 1, 'string.split')
    check_optional(separator, 2, 'string.split', 'string', 'string')
    if max ~= nil then
        check_count(max, 3, 'string.split')
    end
    if separator == '' then
        bad(2, 'string.split', 'non-empty string', 'empty string')
    end
    -- NaN is no limit, either.
    return split(s, separator ~= nil and separator or nil, (max == nil or max ~= max) and math.huge or max)
end

-- Padding ---------------------------------------------------------------------------

local function check_pad(s, width, char, name)
    check_string(s, 1, name)
    check_count(width, 2, name)
    if char ~= nil and (type(char) ~= 'string' or #char ~= 1) then
        bad(3, name, 'char', type(char))
    end
    return char ~= nil and char or ' ', math.max(width - #s, 0)
end

-- A lack of memory that LuaJIT meets in compiled code can end the process.
local COMPILED_MAX = 1024 * 1024
local function large_padding(pad, count)
    return pad:rep(count)
end
jit.off(large_padding)

local function padding(pad, count)
    return count <= COMPILED_MAX and pad:rep(count) or large_padding(pad, count)
end

function string.ljust(s, width, char)
    local pad, count = check_pad(s, width, char, 'string.ljust')
    return s .. padding(pad, count)
end

function string.rjust(s, width, char)
    local pad, count = check_pad(s, width, char, 'string.rjust')
    return padding(pad, count) .. s
end

function string.center(s, width, char)
    local pad, count = check_pad(s, width, char, 'string.center')
    local left = math.floor(count / 2)
    return padding(pad, left) .. s .. padding(pad, count - left)
end

-- Beginnings and ends -----------------------------------------------------------------

local function check_affix(s, affix, first, last, name)
    check_string(s, 1, name)
    check_string(affix, 2, name)
    check_optional(first, 3, name, 'number', 'integer')
    check_optional(last, 4, name, 'number', 'integer')
end

-- A place counted from the end, where it is negative, as one from the beginning.
local function place(i, len)
    return i < 0 and math.max(len + i + 1, 0) or i
end

function string.startswith(s, head, first, last)
    check_affix(s, head, first, last, 'string.startswith')
    if head == '' then
        return true
    end
    first = place(first == nil and 1 or first, #s)
    last = math.min(place(last == nil and #s or last, #s), #s)
    if first == 0 or first + #head - 1 > last then
        return false
    end
    return s:sub(first, first + #head - 1) == head
end

function string.endswith(s, tail, first, last)
    check_affix(s, tail, first, last, 'string.endswith')
    if tail == '' then
        return true
    end
    first = place(first == nil and 1 or first, #s)
    last = math.min(place(last == nil and #s or last, #s), #s)
    if last - #tail + 1 < math.max(first, 1) then
        return false
    end
    return s:sub(last - #tail + 1, last) == tail
end

-- Hexadecimal ---------------------------------------------------------------------------

function string.hex(s)
    check_string(s, 1, 'string.hex')
    return to_hex(s)
end

function string.fromhex(s)
    check_string(s, 1, 'string.fromhex')
    if #s % 2 ~= 0 then
        bad(1, 'string.fromhex', 'even amount of chars', 'odd amount')
    end
    local bytes = from_hex(s)
    if bytes == nil then
        bad(1, 'string.fromhex', 'hex string', 'non hex chars')
    end
    return bytes
end

-- Trimming --------------------------------------------------------------------------------

-- The bytes to take away; nil for white space.
local function bytes_to_strip(s, chars, name)
    check_string(s, 1, name)
    if s == '' then
        return nil
    end
    check_optional(chars, 2, name, 'string', 'string')
    return chars ~= nil and chars or nil
end

function string.lstrip(s, chars)
    return strip(s, bytes_to_strip(s, chars, 'string.lstrip'), true, false)
end

function string.rstrip(s, chars)
    return strip(s, bytes_to_strip(s, chars, 'string.rstrip'), false, true)
end

function string.strip(s, chars)
    return strip(s, bytes_to_strip(s, chars, 'string.strip'), true, true)
end

-- Tables ------------------------------------------------------------------------------------

local function own_copy(value)
    local mt = getmetatable(value)
    return type(mt) == 'table' and mt.__copy or nil
end

-- A table's copy, as deep as it goes; what is in it twice is in the copy twice.
local function deepcopy(value, seen)
    if type(value) ~= 'table' then
        return value
    elseif seen[value] ~= nil then
        return seen[value]
    end
    local copy_own = own_copy(value)
    if copy_own ~= nil then
        return copy_own(value)
    end
    local copy = {}
    seen[value] = copy
    for k, v in next, value do
        copy[deepcopy(k, seen)] = deepcopy(v, seen)
    end
    return setmetatable(copy, getmetatable(value))
end

function table.deepcopy(value)
    return deepcopy(value, {})
end

-- A copy of the table itself, with what is in it shared.
function table.copy(value)
    if type(value) ~= 'table' then
        return value
    end
    local copy_own = own_copy(value)
    if copy_own ~= nil then
        return copy_own(value)
    end
    local copy = {}
    for k, v in next, value do
        copy[k] = v
    end
    return setmetatable(copy, getmetatable(value))
end

-- LuaJIT's, which has to be required elsewhere: rocks expect it here.
table.new = require('table.new')

local function equals(a, b)
    if type(a) ~= 'table' or type(b) ~= 'table' then
        return type(a) == type(b) and a == b
    end
    local ma, mb = getmetatable(a), getmetatable(b)
    if (ma ~= nil and ma.__eq ~= nil) or (mb ~= nil and mb.__eq ~= nil) then
        return a == b
    end
    for k, v in next, a do
        if not equals(v, b[k]) then
            return false
        end
    end
    for k in next, b do
        if a[k] == nil then
            return false
        end
    end
    return true
end

-- Are two values equal, tables by all that is in them? (Of 2.11.)
function table.equals(a, b)
    return equals(a, b)
end

-- The environment -----------------------------------------------------------------------------

ffi.cdef[[
/* These neither yield nor run Lua. */
int setenv(const char *name, const char *value, int overwrite);
int unsetenv(const char *name);
extern char **environ;
]]

-- Sets a variable, or takes it away where the value is nil.
function os.setenv(name, value)
    local rc
    if value ~= nil then
        rc = ffi.C.setenv(name, value, 1)
    else
        rc = ffi.C.unsetenv(name)
    end
    if rc ~= 0 then
        error(('error %d: %s'):format(ffi.errno(), require('errno').strerror(ffi.errno())), 2)
    end
end

function os.environ()
    local variables, list = {}, ffi.C.environ
    local i = 0
    while list ~= nil and list[i] ~= nil do
        local name, value = ffi.string(list[i]):match('^([^=]*)=(.*)$')
        if name ~= nil then
            variables[name] = value
        end
        i = i + 1
    end
    return variables
end
