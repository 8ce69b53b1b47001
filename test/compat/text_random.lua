-- SPDX-License-Identifier: BSD-2-Clause
-- Values and texts from a seed, through uri, json, csv and base64: both programs do the same, and what one
-- direction makes the other takes back.
local check = require('check')
local csv = require('csv')
local digest = require('digest')
local json = require('json')
local uri = require('uri')

local draw = check.random(20240229)
local function random(n)
    return draw(n) + 1
end

local function pick(list)
    return list[random(#list)]
end

local function text(alphabet, max)
    local out = {}
    for i = 1, random(max + 1) - 1 do
        out[i] = pick(alphabet)
    end
    return table.concat(out)
end

local words = {'a', 'Z', '0', '9', '-', '.', '_', '~'}
local signs = {'a', 'B', '7', ':', '/', '@', '?', '#', '[', ']', '%', ' ', '=', '&', '\\', 'é', '\1', '+', '.'}

-- The parts of a URI, in one order.
local function shown(parts)
    if parts == nil then
        return 'nil'
    end
    local out = {}
    for _, name in ipairs{'scheme', 'login', 'password', 'host', 'service', 'path', 'query', 'fragment', 'ipv4',
                          'ipv6', 'unix'} do
        out[#out + 1] = parts[name] and name .. '=' .. tostring(parts[name]) or nil
    end
    return table.concat(out, ' ')
end

for i = 1, check.times(400) do
    local login = random(3) == 1 and text(words, 5) .. (random(2) == 1 and ':' .. text(words, 5) or '') .. '@' or ''
    -- An IPv6 address behind a login: the reference takes it apart by chance.
    local host = pick{'localhost', '127.0.0.1', login == '' and '[::1]' or 'h', 'a.b-c.org', 'x' .. text(words, 4)}
    local whole = pick{'', 'http://', 'tcp://'} .. login .. host .. pick{'', ':80', ':service', ':' .. random(70000)} ..
                  pick{'', '/', '/p/' .. text(words, 6)} .. pick{'', '?q=' .. text(words, 4), '?a=1&b=2'} ..
                  pick{'', '#f' .. text(words, 3)}
    local ok, parts = pcall(uri.parse, whole)
    if not ok then
        parts = nil
    end
    check.values('uri ' .. whole, shown(parts), parts and uri.format(parts, true) or '')
    if parts ~= nil then
        local again = uri.parse(uri.format(parts, true))
        if again ~= nil and shown(again) ~= shown(parts) then
            check.values('  comes back as', shown(again))
        end
    end
end

local function value(depth)
    local kind = random(depth > 3 and 5 or 7)
    if kind == 1 then
        return random(2000001) - 1000001
    elseif kind == 2 then
        return text({'a', '"', '\\', '/', '\n', '\t', '\1', 'é', '中', '\127', ' '}, 8)
    elseif kind == 3 then
        return random(2) == 1
    elseif kind == 4 then
        return (random(2000001) - 1000001) / pick{2, 4, 8, 1024}
    elseif kind == 5 then
        return box.NULL
    elseif kind == 6 then
        local list = {}
        for i = 1, random(5) do
            list[i] = value(depth + 1)
        end
        return list
    end
    return {[text({'k', 'e', '"', 'é'}, 4) .. 'x'] = value(depth + 1)}
end

local same = 0
for i = 1, check.times(300) do
    local encoded = json.encode(value(1))
    check.values('json', encoded)
    same = same + (json.encode(json.decode(encoded)) == encoded and 1 or 0)
end
check.values('json: come back', same)

-- Broken JSON: refused by both, or taken by both.
for i = 1, check.times(300) do
    local encoded = json.encode(value(1))
    local at = random(#encoded + 1)
    local broken = encoded:sub(1, at - 1) .. pick{'', '"', '[', ']', '{', '}', ',', ':', '\\', '\\u12', '1e', '-', 'x'} ..
                   encoded:sub(at + random(3) - 1)
    local ok, result = pcall(json.decode, broken)
    check.values('json ' .. broken, ok, ok and json.encode(result) or '')
end

same = 0
for i = 1, check.times(200) do
    local rows, width = {}, random(4)
    for r = 1, random(4) do
        rows[r] = {}
        for c = 1, width do
            rows[r][c] = text({'a', ',', '"', '\n', ' ', 'é', ';', '1'}, 6)
        end
    end
    local dumped = csv.dump(rows)
    check.values('csv', dumped)
    same = same + (json.encode(csv.load(dumped)) == json.encode(rows) and 1 or 0)
end
check.values('csv: come back', same)

same = 0
for i = 1, check.times(200) do
    local bytes = {}
    for b = 1, random(120) do
        bytes[b] = string.char(random(256) - 1)
    end
    bytes = table.concat(bytes)
    local options = pick{{}, {nowrap = true}, {nopad = true}, {urlsafe = true}}
    local encoded = digest.base64_encode(bytes, options)
    check.values('base64', encoded)
    same = same + (digest.base64_decode(encoded) == bytes and 1 or 0)
end
check.values('base64: come back', same)
check.finish()
