-- SPDX-License-Identifier: BSD-2-Clause
-- Every option of msgpack, json and yaml, each with several values, on an instance of
-- its own and, for json, in one call.
local check = require('check')

local options = {
    {'encode_sparse_convert', false, true}, {'encode_sparse_ratio', 0, 1, 2, -1}, {'encode_sparse_safe', 0, 3, 10},
    {'encode_max_depth', 1, 2, 5, 0, -1}, {'encode_deep_as_nil', true, false}, {'encode_invalid_numbers', true, false},
    {'encode_number_precision', 1, 5, 14, 17, 0, -3}, {'encode_load_metatables', true, false},
    {'encode_use_tostring', true, 1}, {'encode_invalid_as_nil', true, 0}, {'decode_invalid_numbers', false},
    {'decode_save_metatables', false}, {'decode_max_depth', 1, 2, 0},
}
local function deep(n)
    local t = {}
    for _ = 1, n do
        t = {t}
    end
    return t
end
local values = {
    {[1] = 1, [20] = 2}, {[1] = 1, [5] = 2}, {[1] = 1, [12] = 2}, deep(3), deep(1), 0 / 0, 1 / 0, 1.23456789012345678,
    1e100, 0.1, setmetatable({a = 1}, {__serialize = function() return 'S' end}),
    setmetatable({1, 2}, {__serialize = 'map'}), print, 1 / 3,
}
local texts = {
    json = {'[[[1]]]', '[1]', 'nan', '[inf]', '{"a":{"b":1}}', '1'},
    yaml = {'[[[1]]]', '[1]', 'nan', '[inf]', '{"a":{"b":1}}', '.nan', '[nan]'},
    msgpack = {'\x91\x91\x91\x01', '\x91\x01', '\xcb\x7f\xf8\0\0\0\0\0\0', '\x81\xa1a\x01'},
}

local function shown(value)
    if type(value) == 'string' then
        return (value:gsub('builtin[%w:# ]+', 'BUILTIN'))
    end
    return value, type(value) == 'table' and getmetatable(value) ~= nil
end

local function try(name, f, ...)
    check.call(name, function(...) return shown(f(...)) end, ...)
end

for _, module in ipairs({'msgpack', 'json', 'yaml'}) do
    local names = {}
    for name in pairs(require(module).cfg) do
        if name ~= 'encode_error_as_ext' then
            table.insert(names, name)
        end
    end
    table.sort(names)
    check.values(module, names)
    for _, row in ipairs(options) do
        for i = 2, #row do
            local m = require(module).new()
            m.cfg{[row[1]] = row[i]}
            local title = ('%s %s = %s: '):format(module, row[1], row[i])
            for k, value in ipairs(values) do
                -- Where functions are texts, their addresses are in them.
                if type(value) ~= 'function' or row[1] ~= 'encode_use_tostring' then
                    try(title .. k, m.encode, value)
                end
            end
            for k, text in ipairs(texts[module]) do
                try(title .. 'text ' .. k, m.decode, text)
            end
            if module == 'json' then
                for k, value in ipairs(values) do
                    if type(value) ~= 'function' or row[1] ~= 'encode_use_tostring' then
                        try(title .. 'once ' .. k, require(module).encode, value, {[row[1]] = row[i]})
                    end
                end
                for k, text in ipairs(texts[module]) do
                    try(title .. 'once, text ' .. k, require(module).decode, text, {[row[1]] = row[i]})
                end
            end
        end
    end
end
json = require('json')
check [[
json.encode(1, 1)
json.encode(1, nil)
json.encode()
json.encode(1, {}, 1)
json.decode('1', 1)
json.decode()
json.decode('1', {}, 1)
json.decode({})
]]
check.finish()
