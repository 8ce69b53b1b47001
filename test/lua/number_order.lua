#!/usr/bin/env tarn
-- SPDX-License-Identifier: BSD-2-Clause
-- Numbers of all kinds in one index, where rounding would tell: near 2^53, 2^63 and
-- 2^64, and decimals beside the doubles next to them. (The reference finds a decimal
-- and the equal double equal in one direction only, so it cannot be the judge.)
local tap = require('tap')
local ffi = require('ffi')
local fio = require('fio')
local decimal = require('decimal')

local dir = fio.tempdir()
box.cfg{work_dir = dir, log = 'x.log'}
local test = tap.test('number_order')

-- Each value with a text that is its exact value, for those that have one of 38 digits.
local values = {}
local function add(value, text)
    table.insert(values, {value = value, exact = text and decimal.new(text)})
end
for _, base in ipairs({'9007199254740992', '9223372036854775808', '18446744073709551616', '0', '1', '100000000000000'}) do
    for delta = -2, 2 do
        local d = decimal.new(base) + delta
        add(d, tostring(d))
        add(-d, tostring(-d))
        add(d + '0.5', tostring(d + '0.5'))
        local integer = tonumber64(tostring(d))
        if integer ~= nil then
            add(integer, tostring(d))
        end
    end
    local double = tonumber(base)
    add(ffi.cast('double', double), base)
    add(ffi.cast('double', -double), '-' .. base)
    local above, below = double * (1 + 2 ^ -52), double * (1 - 2 ^ -53)
    if double > 1e15 then
        add(above, ('%.0f'):format(above))
        add(below, ('%.0f'):format(below))
    end
end
add(2 ^ 80, '1208925819614629174706176')
add(decimal.new('1208925819614629174706176'), '1208925819614629174706176')
add(decimal.new('1208925819614629174706176.5'), '1208925819614629174706176.5')
add(0.5, '0.5')
add(ffi.cast('float', 0.5), '0.5')
add(decimal.new('0.500'), '0.5')
for _, v in ipairs({0.1, 1e300, -1e300, 5e-324, 1 / 3, 1 / 0, -1 / 0, 0 / 0}) do
    add(v)
end

local function count_if(f)
    local n = 0
    for _, row in ipairs(values) do
        n = n + (row.exact ~= nil and f(row.exact) and 1 or 0)
    end
    return n
end

test:plan(2 * #values + 2 * 4 + 1)
for _, kind in ipairs({'number', 'scalar'}) do
    local s = box.schema.space.create('s')
    s:create_index('pk')
    local i = s:create_index('i', {parts = {{2, kind}}, unique = false})
    local h = box.schema.space.create('h')
    h:create_index('pk', {type = 'HASH', parts = {{1, kind}}})
    local different = 0
    for n, row in ipairs(values) do
        s:insert{n, row.value}
        different = different + (pcall(h.insert, h, {row.value}) and 1 or 0)
    end
    local inexact = #values - count_if(function() return true end)
    for n, row in ipairs(values) do
        local equal, less = i:count(row.value), i:count(row.value, {iterator = 'LT'})
        local more = i:count(row.value, {iterator = 'GT'})
        local ok = equal + less + more == #values and h:get(row.value) ~= nil
        if row.exact ~= nil then
            ok = ok and equal == count_if(function(d) return d == row.exact end) and
                 less >= count_if(function(d) return d < row.exact end) and
                 less <= count_if(function(d) return d < row.exact end) + inexact
        end
        test:ok(ok, ('%s %d: %s'):format(kind, n, tostring(row.value)))
    end
    test:ok(i:min()[2] ~= i:min()[2], 'NaN is below all')
    test:is(i:max()[2], 1 / 0, 'infinity above')
    test:is(h:count(), different, 'the hash has each once')
    local seen = {}
    for _, row in i:pairs() do
        if row[2] == row[2] then
            local key = i:count(row[2], {iterator = 'LT'})
            seen[key] = true
        end
    end
    local n = 1
    for _ in pairs(seen) do
        n = n + 1
    end
    test:is(n, different, 'as many as the tree has')
    s:drop()
    h:drop()
end
test:ok(not pcall(function() return decimal.new(0 / 0) end), 'no decimal is NaN')
fio.rmtree(dir)
os.exit(test:check() and 0 or 1)
