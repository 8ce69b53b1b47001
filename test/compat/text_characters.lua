-- SPDX-License-Identifier: BSD-2-Clause
-- Characters of all planes: how yaml, json and a tuple's text write them, and which may be in a name.
local check = require('check')
local json, yaml, crc32 = require('json'), require('yaml'), require('digest').crc32
box.cfg{log_level = 0, wal_mode = 'none'}

-- Those that no encoder would make, too: surrogates, and what is beyond the last one.
local function character(code)
    local out, rest = {}, code
    if code < 0x80 then
        return string.char(code)
    end
    local limit = 0x40
    while rest >= limit do
        table.insert(out, 1, 0x80 + rest % 64)
        rest = math.floor(rest / 64)
        limit = limit / 2
    end
    local first = ({0xc0, 0xe0, 0xf0})[#out] + rest
    return string.char(first, unpack(out))
end

local function written(code)
    local c = character(code)
    return yaml.encode({c, 'a' .. c .. 'b'}) .. json.encode(c) .. tostring(box.tuple.new{c, 'a' .. c})
end

for _, code in ipairs{0, 7, 10, 13, 0x1f, 0x7f, 0x80, 0x85, 0x9f, 0xa0, 0xad, 0x378, 0x2028, 0x2029, 0xd800, 0xdfff, 0xe000,
                      0xfdd0, 0xfeff, 0xfffd, 0xfffe, 0xffff, 0x1000c, 0x110bd, 0x1f600, 0xe0001, 0xf0000, 0x10ffff,
                      0x110000} do
    check.values(('%x'):format(code), written(code))
end

-- A sum for each 4096 characters tells where to look.
for block = 0, 0x110000, 0x1000 do
    local out = {}
    for code = block, block + 0xfff, block < 0x10000 and 3 or 11 do
        out[#out + 1] = written(code)
    end
    check.values(('%x'):format(block), crc32(table.concat(out)))
end

local function is_name(code)
    local ok = pcall(function()
        box.schema.space.create('x' .. character(code)):drop()
    end)
    return ok and '1' or '0'
end

for block = 0, 0x30000, 0x1000 do
    local out = {}
    for code = block, block + 0xfff, block < 0x1000 and 1 or 17 do
        out[#out + 1] = is_name(code)
    end
    check.values('names ' .. ('%x'):format(block), (table.concat(out):gsub('1111111111', 'A'):gsub('0000000000', 'B')))
end
for _, code in ipairs{0x2028, 0x2029, 0xd800, 0xe000, 0xfdd0, 0xfeff, 0xfffd, 0xfffe, 0xe0001, 0xf0000, 0x10ffff, 0x110000} do
    check.values(('name %x'):format(code), is_name(code))
end
check.finish()
