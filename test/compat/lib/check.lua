-- SPDX-License-Identifier: BSD-2-Clause
-- The language of the differential tests:
--
--     local check = require('check')
--     check [[
--     s:insert{1, 'a'}
--     s:get(1)
--     ]]
--     check.finish()
--
-- check(text) takes each line of the text by itself: it runs an expression, or a list of statements, in the global
-- environment and prints the source and what came of it: all values, or the error
-- with its type, code and message. What is printed does not depend on addresses or
-- on the order of a table's keys. check.refused(text) is for what has to fail, with
-- whatever words: the reference's may name variables of its own code.
local ffi = require('ffi')

local check = {}
local count = 0

local function is_null(v)
    return type(v) == 'cdata' and v == nil
end

local function is_error(v)
    return type(v) == 'cdata' and tostring(ffi.typeof(v)):find('struct error', 1, true) ~= nil
end

local function is_tuple(v)
    return type(v) == 'cdata' and box.tuple ~= nil and box.tuple.is(v)
end

-- Addresses differ from run to run, and the places of a program's own Lua code are its own.
local function steady(s)
    s = s:gsub('\nstack traceback:.*$', '')
    return (s:gsub('0x%x+', '0xADDR'):gsub('^[%w_/.]+%.lua:%d+: ', '')
            :gsub('^stmt:1: ', ''))
end

local function show_number(v)
    if v ~= v then
        return 'nan'
    elseif v == math.huge or v == -math.huge then
        return v > 0 and 'inf' or '-inf'
    elseif v == 0 and 1 / v < 0 then
        return '-0'
    end
    return string.format('%.15g', v)
end

local function show_error(e)
    return string.format('%s %s: %s', tostring(e.type), tostring(e.code),
                         steady(tostring(e.message)))
end

local show

-- Numbers before strings before the rest; within a kind, by value.
local function key_less(a, b)
    local ta, tb = type(a), type(b)
    if ta ~= tb then
        return ta < tb
    elseif ta == 'number' or ta == 'string' then
        return a < b
    end
    return show(a, {}) < show(b, {})
end

local function show_table(t, seen)
    if seen[t] then
        return '<cycle>'
    end
    seen[t] = true
    local out, n = {}, 0
    for _ in pairs(t) do
        n = n + 1
    end
    if n == #t then
        for i = 1, n do
            out[i] = show(t[i], seen)
        end
    else
        local keys = {}
        for k in pairs(t) do
            table.insert(keys, k)
        end
        table.sort(keys, key_less)
        for i, k in ipairs(keys) do
            local name = type(k) == 'string' and k or '[' .. show(k, seen) .. ']'
            out[i] = name .. ' = ' .. show(t[k], seen)
        end
    end
    seen[t] = nil
    return '{' .. table.concat(out, ', ') .. '}'
end

function show(v, seen)
    local kind = type(v)
    if kind == 'number' then
        return show_number(v)
    elseif kind == 'string' then
        return string.format('%q', v):gsub('\\\n', '\\n'):gsub('[%z\1-\31\127-\255]', function(c)
            return string.format('\\x%02x', c:byte())
        end)
    elseif kind == 'table' then
        return show_table(v, seen)
    elseif is_null(v) then
        return 'null'
    elseif is_tuple(v) then
        return 'tuple' .. show_table(v:totable(), seen)
    elseif is_error(v) then
        return 'error(' .. show_error(v) .. ')'
    elseif kind == 'cdata' then
        return steady(tostring(v))
    elseif kind == 'boolean' or kind == 'nil' then
        return tostring(v)
    end
    return '<' .. kind .. '>'
end

-- One value as text.
function check.show(v)
    return (show(v, {}))
end

-- What pcall returned, as lines under the statement.
local function report(ok, ...)
    if ok then
        local out = {}
        for i = 1, select('#', ...) do
            out[i] = check.show((select(i, ...)))
        end
        print('  -> ' .. table.concat(out, ', '))
    else
        local e = ...
        if is_error(e) then
            print('  !! ' .. show_error(e))
        elseif type(e) == 'string' then
            print('  !! string: ' .. steady(e))
        else
            print('  !! ' .. check.show(e))
        end
    end
end

-- Calls f and prints its values or its error under the name.
function check.call(name, f, ...)
    count = count + 1
    print(name)
    report(pcall(f, ...))
end

-- Prints the name and the values.
function check.values(name, ...)
    count = count + 1
    print(name)
    report(true, ...)
end

-- A generator for tests that draw what they try: random(n) is from 0 to n - 1, and the same in both
-- programs. CHECK_SEED in the environment chooses other numbers, CHECK_TIMES=20 twenty times as many.
function check.random(seed)
    local state = (seed + tonumber(os.getenv('CHECK_SEED') or 0) * 7919) % 2147483646 + 1
    return function(n)
        state = state * 16807 % 2147483647
        return state % n
    end
end

-- How often to try.
function check.times(n)
    return n * tonumber(os.getenv('CHECK_TIMES') or 1)
end

-- Ends the test: both programs have to come this far.
function check.finish()
    print('# ' .. count .. ' checks')
    io.stdout:flush()
    os.exit(0)
end

local function compile(source)
    local f, err = loadstring('return ' .. source, '=stmt')
    if f == nil then
        f, err = loadstring(source, '=stmt')
    end
    if f == nil then
        error('check: ' .. err .. ': ' .. source, 4)
    end
    return f
end

-- Calls run(source, function) for each line of the text.
local function each_line(text, run)
    for line in text:gmatch('[^\n]+') do
        local source = line:match('^%s*(.-)%s*$')
        if source ~= '' and source:sub(1, 2) ~= '--' then
            run(source, compile(source))
        end
    end
end

-- What has to fail; how it is told may differ.
function check.refused(text)
    each_line(text, function(source, f)
        count = count + 1
        print(source)
        local ok = pcall(f)
        print(ok and '  -> is accepted' or '  !! is refused')
    end)
end

return setmetatable(check, {
    __call = function(_, text)
        each_line(text, check.call)
    end
}) 