-- SPDX-License-Identifier: BSD-2-Clause
--
-- How consoles print results: as a YAML document, or as Lua, on one line or in blocks. What
-- the reference prints was observed; test/compat/console_remote.lua compares. Manual:
-- "Interactive console", output formats.
local cdata = require('internal.cdata')
local yaml = require('yaml')

local output = {}

-- Results print like YAML documents; what has no form of its own as text.
local formatter = yaml.new()
formatter.cfg({encode_invalid_numbers = true, encode_load_metatables = true,
               encode_use_tostring = true, encode_invalid_as_nil = true})

local YAML_END = '\n...\n'
local PUSH_TAG = {tag_handle = '!push!', tag_prefix = 'tag:tarantool.io/push,2018'}

-- Lua -----------------------------------------------------------------------------------

local KEYWORDS = {}
for word in ('and break do else elseif end false for function goto if in local nil not or ' ..
             'repeat return then true until while'):gmatch('%S+') do
    KEYWORDS[word] = true
end

local ESCAPES = {
    ['\a'] = '\\a', ['\b'] = '\\b', ['\f'] = '\\f', ['\n'] = '\\n', ['\r'] = '\\r',
    ['\t'] = '\\t', ['\v'] = '\\v', ['\0'] = '\\0', ['"'] = '\\"', ["'"] = "\\'",
}

local BASE64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'

-- For strings that are no text, as YAML has them, too.
local function base64(s)
    local out = {}
    for i = 1, #s, 3 do
        local a, b, c = s:byte(i, i + 2)
        local n = a * 65536 + (b or 0) * 256 + (c or 0)
        for shift = 18, 0, -6 do
            local digit = bit.band(bit.rshift(n, shift), 63) + 1
            out[#out + 1] = BASE64:sub(digit, digit)
        end
        if c == nil then
            out[#out] = '='
        end
        if b == nil then
            out[#out - 1] = '='
        end
    end
    return table.concat(out)
end

-- Is it well-formed UTF-8? Lead bytes by the number of those that follow.
local function is_utf8(s)
    if not s:find('[\128-\255]') then
        return true
    end
    local pos = 1
    while pos <= #s do
        local c = s:byte(pos)
        local more = c < 0x80 and 0 or c >= 0xc2 and c < 0xe0 and 1 or c >= 0xe0 and c < 0xf0 and 2
            or c >= 0xf0 and c < 0xf5 and 3 or nil
        if more == nil or not s:find('^' .. ('[\128-\191]'):rep(more), pos + 1) then
            return false
        end
        pos = pos + 1 + more
    end
    return true
end

local function quote(s)
    if not is_utf8(s) then
        s = base64(s)
    end
    return '"' .. s:gsub('[%c"\'\127-\255%z]', function(c)
        return ESCAPES[c] or ('\\x%02x'):format(c:byte())
    end) .. '"'
end

local function show_number(n)
    if n ~= n then
        return (('%f'):format(n))
    elseif n == math.floor(n) and n >= -2 ^ 63 and n < 2 ^ 64 then
        return ('%.0f'):format(n == 0 and 0 or n)
    end
    return ('%.14g'):format(n)
end

local function show_key(k)
    if type(k) == 'string' then
        if k:find('^[%w_]*$') and not KEYWORDS[k] then
            return k
        end
        return '[' .. quote(k) .. ']'
    elseif type(k) == 'number' and k ~= math.floor(k) then
        return show_number(k)
    elseif type(k) == 'number' then
        return '[' .. show_number(k) .. ']'
    elseif type(k) == 'cdata' and tonumber(k) ~= nil then
        return '[' .. (tostring(k):gsub('U?LL$', '')) .. ']'
    elseif type(k) == 'boolean' then
        return tostring(k)
    end
    return '[' .. quote(tostring(k)) .. ']'
end

-- The highest index where all keys are positive whole numbers and it is not out of proportion;
-- nil: a map.
local function array_size(t)
    local count, max = 0, 0
    for k in pairs(t) do
        if type(k) ~= 'number' or k < 1 or k ~= math.floor(k) then
            return nil
        end
        count, max = count + 1, math.max(max, k)
    end
    if max > 1000000 and max > count * 10 then
        return nil
    end
    return max
end

local HINTS = {seq = 'seq', sequence = 'seq', array = 'seq', map = 'map', mapping = 'map'}

local function serializer_of(v)
    local mt
    if type(v) == 'cdata' then
        mt = cdata.metatype_of(v)
    else
        mt = debug.getmetatable(v)
    end
    return type(mt) == 'table' and rawget(mt, '__serialize') or nil
end

local show

local function show_items(items, is_block, indent)
    if not is_block then
        return '{' .. table.concat(items, ', ') .. '}'
    end
    local pad = ('  '):rep(indent)
    for i, item in ipairs(items) do
        items[i] = pad .. '  ' .. item
    end
    return '{\n' .. table.concat(items, ',\n') .. '\n' .. pad .. '}'
end

local function show_table(t, hint, is_block, indent, seen)
    if seen[t] then
        return show_items({'nil'}, is_block, indent)
    end
    seen[t] = true
    local items = {}
    local size = hint ~= 'map' and array_size(t)
    if size then
        for i = 1, size do
            items[i] = show(rawget(t, i), is_block, indent + 1, seen, true)
        end
    else
        for k, v in next, t do
            items[#items + 1] = show_key(k) .. ' = ' .. show(v, is_block, indent + 1, seen)
        end
    end
    return show_items(items, is_block, indent)
end

-- Tables, userdata and cdata, which __serialize may turn into something else.
local function show_object(v, is_block, indent, seen)
    local serialize = serializer_of(v)
    if type(serialize) == 'function' then
        if seen[v] then
            return show_items({'nil'}, is_block, indent)
        end
        return show(serialize(v), is_block, indent, seen)
    end
    if type(v) ~= 'table' then
        return quote(tostring(v))
    elseif serialize ~= nil and HINTS[serialize] == nil then
        error('invalid __serialize value', 0)
    end
    return show_table(v, HINTS[serialize], is_block, indent, seen)
end

function show(v, is_block, indent, seen)
    local kind = type(v)
    if kind == 'number' then
        return show_number(v)
    elseif kind == 'string' then
        return quote(v)
    elseif kind == 'nil' or kind == 'boolean' then
        return tostring(v)
    elseif kind == 'cdata' and v == nil then
        return 'box.NULL'
    elseif box.tuple ~= nil and box.tuple.is(v) then
        return show_table(v:totable(), nil, is_block, indent, seen)
    elseif kind == 'cdata' and tonumber(v) ~= nil and tostring(v):find('^%-?%d+U?LL$') then
        return (tostring(v):gsub('U?LL$', ''))
    elseif kind == 'cdata' and box.error.is ~= nil and box.error.is(v) then
        return quote(tostring(v))
    elseif kind == 'function' or kind == 'thread' then
        return quote(tostring(v))
    end
    return show_object(v, is_block, indent, seen)
end

local function show_protected(v, is_block)
    local ok, text = pcall(show, v, is_block, 0, {})
    if ok then
        return text
    end
    return show({error = 'console: exception while formatting output: "' .. tostring(text) .. '"'},
                is_block, 0, {})
end

local function format_lua(fmt, count, values)
    local items = {}
    for i = 1, count do
        items[i] = show_protected(values[i], fmt.opts == 'block')
    end
    return table.concat(items, ', ')
end

-- YAML ----------------------------------------------------------------------------------

local function format_yaml(count, values)
    if count == 0 then
        return '---' .. YAML_END
    end
    for i = 1, count do
        if values[i] == nil then
            values[i] = box.NULL
        end
    end
    local ok, text = pcall(formatter.encode, values)
    if ok then
        return text
    end
    return formatter.encode({{
        error = 'console: an exception occurred when formatting the output: ' .. tostring(text),
    }})
end

-- What every error object has, and what only repeats the text; all else are its fields.
local COMMON = {type = true, base_type = true, message = true, code = true, trace = true,
                prev = true, errno = true, custom_type = true, details = true}

-- The fields of an error object as YAML, in lines that follow that of `error`: they are a
-- key beside it.
local function error_fields(e)
    local names, values = {}, box.error.is(e) and e:unpack() or {}
    for name in pairs(values) do
        if not COMMON[name] then
            names[#names + 1] = name
        end
    end
    table.sort(names)
    for i, name in ipairs(names) do
        local text = formatter.encode({{[name] = values[name]}})
        names[i] = text:match('^%-%-%-\n%- (.*)\n%.%.%.\n$'):gsub('\n  ', '\n    ')
    end
    return #names > 0 and '\n  fields:\n    ' .. table.concat(names, '\n    ') or ''
end

-- ---------------------------------------------------------------------------------------

-- A format is {fmt = 'yaml'} or {fmt = 'lua', opts = 'line' or 'block'}, with `eos` behind Lua.
-- What pcall returned becomes the text.
function output.format(fmt, ok, ...)
    local count, values = select('#', ...), {...}
    if not ok then
        local message = values[1]
        count, values = 1, {{error = message == nil and box.NULL or message}}
    end
    if fmt.fmt == 'lua' then
        return format_lua(fmt, count, values) .. (fmt.eos or ';')
    end
    local text = format_yaml(count, values)
    return ok and text or text:sub(1, -#YAML_END - 1) .. error_fields(values[1].error) .. YAML_END
end

-- A value ahead of the answer.
function output.format_push(fmt, value)
    if fmt.fmt == 'lua' then
        return '-- Push\n' .. show_protected(value, fmt.opts == 'block') .. (fmt.eos or ';')
    end
    return formatter.encode(value, PUSH_TAG)
end

function output.eos(fmt)
    return fmt.fmt == 'lua' and (fmt.eos or ';') or YAML_END
end

-- 'lua', 'lua,block', 'yaml': the format, or nil and what is wrong.
function output.parse(text)
    if text == nil then
        return nil, 'Specify output format: lua or yaml.'
    end
    local name, opts = text:match('^([^,]*),(.+)$')
    name = name or text
    if name ~= 'lua' and name ~= 'yaml' then
        return nil, ('Invalid format "%s", supported languages: lua and yaml.'):format(name)
    end
    if opts ~= nil and name == 'lua' and opts ~= 'line' and opts ~= 'block' then
        return nil, ('Wrong option "%s", expecting: line or block.'):format(opts)
    end
    return {fmt = name, opts = name == 'lua' and opts or nil}
end

return output
