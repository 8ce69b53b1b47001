-- SPDX-License-Identifier: BSD-2-Clause
-- Where to listen: the forms that box.cfg{listen = ...} takes, as one list. A URI is a string,
-- with parameters behind a question mark, or a table {uri = ..., params = {...}}. Manual:
-- configuration reference, "listen", and "Traffic encryption".
local c = require('tarn.cfg')

local M = {}

local WRONG = 'expected host:service or /unix.socket'

local KNOWN = {
    transport = true, ssl_key_file = true, ssl_cert_file = true, ssl_ca_file = true,
    ssl_ciphers = true, ssl_password = true, ssl_password_file = true,
}

local function unescape(text)
    return (text:gsub('%%(%x%x)', function(code) return string.char(tonumber(code, 16)) end))
end

-- The parameters of a query; nil and what is wrong.
local function parse_query(query)
    local params = {}
    for pair in query:gmatch('[^&]+') do
        local name, value = pair:match('^([^=]*)=(.*)$')
        params[name or pair] = unescape(value or '')
    end
    return params
end

-- Values may be lists, as the module uri has them: the first counts.
local function add_params(params, more)
    for name, value in pairs(more or {}) do
        if type(value) == 'table' then
            value = value[1]
        end
        if params[name] == nil then
            params[name] = tostring(value)
        end
    end
end

-- One URI: {text, tls}, or nil and what is wrong.
local function parse_one(text, own, defaults)
    local address, query = text:match('^([^?]*)%??(.*)$')
    if not c.is_uri(address) then
        return nil, WRONG
    end
    local params = {}
    add_params(params, own)
    add_params(params, parse_query(query))
    add_params(params, defaults)
    local names = {}
    for name in pairs(params) do
        if KNOWN[name] then
            table.insert(names, name)
        end
    end
    local transport = params.transport or 'plain'
    if transport ~= 'plain' and transport ~= 'ssl' then
        return nil, "bad URI: Invalid transport: " .. transport
    end
    if transport == 'plain' then
        return {text = address}
    end
    -- Behind the address what tells it from others there.
    table.sort(names)
    for i, name in ipairs(names) do
        names[i] = name .. '=' .. params[name]
    end
    return {text = address .. '?' .. table.concat(names, '&'), tls = params}
end

local function add(list, text, own, defaults)
    local item, problem = parse_one(text, own, defaults)
    if item == nil then
        return problem
    end
    table.insert(list, item)
end

local function add_string(list, text, own, defaults)
    for uri in (text .. ','):gmatch('%s*([^,]*),') do
        local problem = add(list, uri:gsub('%s+$', ''), own, defaults)
        if problem ~= nil then
            return problem
        end
    end
end

local function add_any(list, value, defaults)
    if type(value) == 'string' or type(value) == 'number' then
        return add_string(list, tostring(value), nil, defaults)
    elseif type(value) ~= 'table' then
        return WRONG
    elseif value.uri ~= nil then
        if type(value.uri) ~= 'string' and type(value.uri) ~= 'number' or
           value.params ~= nil and type(value.params) ~= 'table' then
            return WRONG
        end
        return add(list, tostring(value.uri), value.params, defaults)
    end
    for _, item in ipairs(value) do
        local problem = add_any(list, item, value.default_params or defaults)
        if problem ~= nil then
            return problem
        end
    end
end

-- A list of {text, tls} of a value of box.cfg.listen; nil and what is wrong with it.
function M.parse(value)
    local list = {}
    local problem = add_any(list, value)
    if problem ~= nil then
        return nil, problem
    end
    return list
end

return M
