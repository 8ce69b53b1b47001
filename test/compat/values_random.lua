-- SPDX-License-Identifier: BSD-2-Clause
-- Values of all kinds drawn from a seed: what msgpack, json and yaml make of them, and
-- what becomes of MessagePack of any encoding. Maps have one key, as their order is free.
local check = require('check')
local ffi = require('ffi')
local decimal, uuid = require('decimal'), require('uuid')
local msgpack, json, yaml = require('msgpack'), require('json'), require('yaml')

local random = check.random(19700101)

local function pick(list)
    return list[1 + random(#list)]
end

local texts = {'', 'a', 'it\'s', '"', 'a\nb', ' a ', 'true', '1', '1.5', 'null', '~', '-', '- a', 'a: b', '#', '\t', '\\',
               '/', '\xd0\xb6', '\xf0\x9f\x98\x80', '\xff\xfe', '\1', '[1]', '{}', '0x1', 'yes', '1e5', ('x'):rep(40)}
local numbers = {0, 1, -1, 127, 128, -32, -33, 255, 256, 65535, 65536, 2 ^ 31, -2 ^ 31 - 1, 2 ^ 53, -2 ^ 53, 1e14, 1e15, 0.1, -0.5,
                 1 / 3, 1e100, -1e-100, 1 / 0, -1 / 0, 2 ^ 63, 2 ^ 64, 99999999999999, 123456.789, 5e-324}
local objects = {
    function() return 2 ^ 62 * 2LL + random(100) end,
    function() return -1LL * random(1000000) end,
    function() return 18446744073709551615ULL - random(3) end,
    function() return ffi.new(pick({'int8_t', 'uint8_t', 'int16_t', 'uint16_t', 'int32_t', 'uint32_t', 'float', 'double'}), random(120)) end,
    function() return ffi.new('bool', random(2) == 1) end,
    function() return box.NULL end,
    function() return decimal.new(tostring(random(100000))) / decimal.new(tostring(1 + random(1000))) end,
    function() return -decimal.new(random(1000)) end,
    function() return uuid.fromstr(('%08x-%04x-4%03x-8%03x-%012x'):format(random(2 ^ 31), random(65536), random(4096), random(4096), random(2 ^ 31))) end,
    function() return box.tuple.new{random(100), pick(texts)} end,
    function() return setmetatable({random(10)}, {__serialize = pick({'seq', 'map', 'sequence', 'mapping'})}) end,
    function() return setmetatable({random(10)}, {__serialize = function(t) return 'S' .. t[1] end}) end,
}

local function value(depth)
    local kind = random(depth > 0 and 7 or 5)
    if kind == 0 then
        return pick(texts)
    elseif kind == 1 then
        return pick(numbers)
    elseif kind == 2 then
        return random(2) == 1
    elseif kind <= 4 then
        return pick(objects)()
    elseif kind == 5 then
        local t = {}
        for i = 1, random(4) do
            t[i] = value(depth - 1)
        end
        return t
    end
    return {[random(3) == 0 and random(50) or pick(texts)] = value(depth - 1)}
end

for i = 1, check.times(1500) do
    local v = value(3)
    check.call('msgpack ' .. i, function() return msgpack.encode(v):hex() end)
    check.call('back ' .. i, function() return (msgpack.decode(msgpack.encode(v))) end)
    check.call('json ' .. i, function() return json.encode(v) end)
    check.call('yaml ' .. i, function() return yaml.encode(v) end)
end

-- MessagePack with heads longer than need be.
local function bytes(n)
    local out = {}
    for i = 1, n do
        out[i] = string.char(random(256))
    end
    return table.concat(out)
end
local function head(code, size, n)
    local out = {string.char(code)}
    for i = size - 1, 0, -1 do
        table.insert(out, string.char(math.floor(n / 256 ^ i) % 256))
    end
    return table.concat(out)
end
local function packed(depth)
    local n = random(4)
    local kind = random(depth > 0 and 12 or 9)
    if kind == 0 then
        return string.char(random(128))
    elseif kind == 1 then
        return string.char(224 + random(32))
    elseif kind == 2 then
        local size = random(4)
        return string.char(0xcc + size) .. bytes(2 ^ size)
    elseif kind == 3 then
        local size = random(4)
        return string.char(0xd0 + size) .. bytes(2 ^ size)
    elseif kind == 4 then
        return pick({'\xc0', '\xc2', '\xc3', '\xca' .. bytes(4), '\xcb' .. bytes(8)})
    elseif kind == 5 then
        return pick({head(0xa0 + n, 0, 0), head(0xd9, 1, n), head(0xda, 2, n), head(0xdb, 4, n)}) .. ('x'):rep(n)
    elseif kind == 6 then
        return pick({head(0xc4, 1, n), head(0xc5, 2, n), head(0xc6, 4, n)}) .. ('y'):rep(n)
    elseif kind == 7 then
        local bcd = string.char(random(30)) .. ('\x12'):rep(n) .. '\x3c'
        return pick({head(0xc7, 1, #bcd), head(0xc8, 2, #bcd), head(0xc9, 4, #bcd)}) .. '\1' .. bcd
    elseif kind == 8 then
        return '\xd8\2' .. bytes(8) .. '\x80' .. bytes(7)
    end
    local out = {}
    if kind < 11 then
        for i = 1, n do
            out[i] = packed(depth - 1)
        end
        return pick({head(0x90 + n, 0, 0), head(0xdc, 2, n), head(0xdd, 4, n)}) .. table.concat(out)
    end
    return pick({'\x81', '\xde\0\1', '\xdf\0\0\0\1'}) .. pick({'\xa1k', '\1', '\xcc\5'}) .. packed(depth - 1)
end
for i = 1, check.times(3000) do
    local data = packed(3)
    if random(8) == 0 then
        data = data:sub(1, -2)
    elseif random(8) == 0 then
        -- Not to a UUID of a reserved variant.
        local at = 1 + random(#data)
        data = data:sub(1, at - 1) .. string.char(0xc2 + random(30)) .. data:sub(at + 1)
    end
    check.call('decode ' .. i .. ' ' .. data:hex(), function()
        -- Why something is refused depends on the extensions that are known.
        local ok, v, behind = pcall(msgpack.decode, data)
        return ok, ok and v or 'refused', behind
    end)
end
check.finish()
