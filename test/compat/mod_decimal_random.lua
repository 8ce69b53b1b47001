-- SPDX-License-Identifier: BSD-2-Clause
-- Decimal arithmetic with numbers drawn from a seed. Left out is what the reference
-- rounds by one in the last digit (logarithms) or cuts short (e to large powers).
local check = require('check')
local decimal = require('decimal')
local msgpack = require('msgpack')

local random = check.random(20201101)

local function digits(n)
    local out = {}
    for i = 1, n do
        out[i] = random(10)
    end
    return table.concat(out)
end

local forms = {
    function() return tostring(random(20)) end,
    function() return random(100) .. '.' .. digits(1 + random(3)) end,
    function() return digits(1 + random(38)) end,
    function() return '0.' .. digits(1 + random(38)) end,
    function() return digits(1 + random(20)) .. '.' .. digits(1 + random(18)) end,
    function() return digits(1 + random(5)) .. 'e' .. random(60) - 40 end,
    function() return '9.' .. ('9'):rep(random(37)) .. digits(1) end,
    function() return random(3) * 5 .. '.' .. ('0'):rep(random(37)) .. digits(1 + random(2)) end,
}

local function number()
    return (random(3) == 0 and '-' or '') .. forms[1 + random(#forms)]()
end

local operations = {
    add = function(a, b) return a + b end,
    sub = function(a, b) return a - b end,
    mul = function(a, b) return a * b end,
    div = function(a, b) return a / b end,
    mod = function(a, b) return a % b end,
    pow = function(a, b) return a ^ b end,
    pow_whole = function(a) return a ^ (random(60) - 20) end,
    pow_quarters = function(a) return a ^ ((random(60) - 20) / 4) end,
    compare = function(a, b) return a < b, a == b, a <= b end,
    round = function(a) return decimal.round(a, random(40)) end,
    rescale = function(a) return decimal.rescale(a, random(40)) end,
    trim = function(a) return decimal.trim(a) end,
    minus = function(a) return -a end,
    sqrt = function(a) return decimal.sqrt(a) end,
    exp = function(a) return decimal.exp(decimal.abs(a) / '1e37') end,
    size = function(a) return decimal.precision(a), decimal.scale(a) end,
    pack = function(a) return msgpack.encode(a):hex(), msgpack.decode(msgpack.encode(a)) end,
}
local names = {}
for name in pairs(operations) do
    table.insert(names, name)
end
table.sort(names)

for _ = 1, check.times(3000) do
    local ok_a, a = pcall(decimal.new, number())
    local ok_b, b = pcall(decimal.new, number())
    local name = names[1 + random(#names)]
    if ok_a and ok_b then
        check.call(('%s %s %s'):format(name, a, b), operations[name], a, b)
    end
end
check.finish()
