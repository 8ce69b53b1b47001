-- SPDX-License-Identifier: BSD-2-Clause
--
-- The module `uri`: URIs to tables of their parts and back. Beside those of RFC 3986 there
-- are forms of the reference's own: a port alone, "unix/:PATH" and a path alone for a Unix
-- socket. What is accepted, and which part is what, was found out by trying. Manual: module
-- uri.
local uri = {}

-- Characters of names (login, password, host), paths, queries, and of Unix sockets' paths,
-- for a Lua pattern. A percent sign is looked at apart.
local ALNUM = 'a-zA-Z0-9'
local NAME = ALNUM .. "!$&'()*+,%-.;=_~%%"
local PATH = NAME .. ':@/|'
local QUERY = PATH .. '?'
local SOCKET = NAME .. '@/'

local BRACKET, ZERO, NINE, COLON = ('[09:'):byte(1, -1)

local NAME_PATTERN = '^[' .. NAME .. ']+'
local SOCKET_PATTERN = '^[' .. SOCKET .. ']+'
local PATH_PATTERN = '^/[' .. PATH .. ']*'
local SOCKET_ALONE_PATTERN = '^/[' .. PATH .. ']*$'
local LOGIN_PATTERN = '^([' .. NAME .. ']+)(:?)([' .. NAME .. ']*)@()'
local QUERY_PATTERN = '^%?([' .. QUERY .. ']*)()'
local FRAGMENT_PATTERN = '^#([' .. QUERY .. ']*)()'

-- The parts ---------------------------------------------------------------------------

-- An IPv6 address, maybe with an IPv4 one behind "::ffff:".
local function is_ipv6(text)
    local groups = text
    local ipv4 = text:match('^::[fF][fF][fF][fF]:(%d+%.%d+%.%d+%.%d+)$')
    if ipv4 ~= nil then
        return true
    end
    if not groups:find('^[%x:]+$') or not groups:find(':', 1, true) then
        return false
    end
    for group in groups:gmatch('%x+') do
        if #group > 4 then
            return false
        end
    end
    return true
end

local function is_ipv4(text)
    local a, b, c, d = text:match('^(%d+)%.(%d+)%.(%d+)%.(%d+)$')
    return a ~= nil and #a <= 3 and #b <= 3 and #c <= 3 and #d <= 3
end

-- The path of a Unix socket from `pos` on: the position behind it, or nil.
local function socket_end(text, pos)
    local path = text:match(SOCKET_PATTERN, pos)
    if path == nil or not path:find('^%.?/') or path:find('//', 1, true) or path:sub(-1) == '/' then
        return nil
    end
    return pos + #path
end

-- "unix/:PATH" or, behind a login, "/PATH". A path within the socket follows a colon.
local function parse_socket(text, pos, parts)
    local has_prefix = text:sub(pos, pos + 5) == 'unix/:'
    local from = has_prefix and pos + 6 or pos
    local to
    if has_prefix or (parts.login ~= nil and text:sub(pos, pos) == '/') then
        to = socket_end(text, from)
    end
    if to == nil then
        return nil
    end
    parts.host = 'unix/'
    parts.service = text:sub(from, to - 1)
    parts.unix = parts.service
    if text:sub(to, to) == ':' then
        to = to + 1
        if text:find('^[' .. PATH .. ']', to) ~= nil and text:sub(to, to) ~= '/' then
            -- No path: what follows belongs to the socket's, as a whole.
            local rest = text:match('^[' .. PATH .. ']+', from)
            parts.path = rest
            return from + #rest
        end
    end
    return to
end

-- A host and maybe a service.
local function parse_host(text, pos, parts)
    local host = text:byte(pos) == BRACKET and text:match('^%[([^%]]*)%]', pos)
    if host then
        if not is_ipv6(host) then
            return nil
        end
        parts.ipv6 = host
        pos = pos + #host + 2
    else
        host = text:match(NAME_PATTERN, pos)
        if host == nil then
            return nil
        end
        local first = host:byte()
        if first >= ZERO and first <= NINE and is_ipv4(host) then
            parts.ipv4 = host
        end
        pos = pos + #host
    end
    parts.host = host
    if text:byte(pos) ~= COLON then
        return pos
    end
    pos = pos + 1
    local service = text:match('^%d+', pos) or text:match('^%a+', pos)
    if service ~= nil then
        parts.service = service
        pos = pos + #service
    end
    return pos
end

-- From the path on; true where the text ends there.
local function parse_tail(text, pos, parts)
    if pos > #text then
        return true
    end
    local path = text:match(PATH_PATTERN, pos)
    if path ~= nil then
        parts.path = path
        pos = pos + #path
    end
    local query, behind = text:match(QUERY_PATTERN, pos)
    if query ~= nil then
        parts.query = query
        pos = behind
    end
    local fragment
    fragment, behind = text:match(FRAGMENT_PATTERN, pos)
    if fragment ~= nil then
        parts.fragment = fragment
        pos = behind
    end
    return pos == #text + 1
end

local function parse_authority(text, pos)
    local parts = {}
    local login, colon, password, behind
    if text:find('@', pos, true) then
        login, colon, password, behind = text:match(LOGIN_PATTERN, pos)
    end
    if login ~= nil then
        parts.login = login
        parts.password = colon == ':' and password or nil
        pos = behind
    end
    local behind_socket = parse_socket(text, pos, parts)
    if behind_socket ~= nil and parse_tail(text, behind_socket, parts) then
        local is_bare = text:sub(pos, pos) == '/'
        return not (is_bare and (parts.query or parts.fragment)) and parts or nil
    end
    -- Or else it is a host, which may be called unix.
    if behind_socket ~= nil then
        parts = {login = parts.login, password = parts.password}
    end
    pos = parse_host(text, pos, parts)
    if pos ~= nil and parse_tail(text, pos, parts) then
        return parts
    end
    return nil
end

-- A percent sign stands before a hexadecimal digit, or another such sign.
local function is_escaped(text)
    local escapes = text:gsub('%%%%', '')
    return not escapes:find('%%%X') and escapes:sub(-1) ~= '%'
end

local function parse_text(text)
    if text:find('%z') then
        text = text:match('^%Z*')
    end
    if text == '' or (text:find('%', 1, true) and not is_escaped(text)) then
        return nil
    end
    local parts = {}
    if text:find('^%d+$') then
        return {service = text}
    elseif text:find('^[?#]') then
        return parse_tail(text, 1, parts) and parts or nil
    elseif text:sub(1, 1) == '/' then
        if text:sub(2, 2) == '/' then
            return nil
        elseif text:find(SOCKET_ALONE_PATTERN) then
            return {host = 'unix/', service = text, unix = text}
        end
        return parse_tail(text, 1, parts) and parts or nil
    end
    local scheme = text:find(':/', 1, true) and text:match('^(%a[%w+%-.]*):/')
    if scheme then
        local found = text:match('^//()', #scheme + 2)
        parts = found ~= nil and parse_authority(text, found)
        if parts then
            parts.scheme = scheme
            return parts
        end
    end
    parts = parse_authority(text, 1)
    if parts ~= nil then
        parts.scheme = scheme or nil
    end
    return parts
end

-- Parameters --------------------------------------------------------------------------

-- "a=1&b&a=2" as {a = {'1', '2'}, b = {''}}.
local function parse_params(query)
    local params = {}
    for item in query:gmatch('[^&]+') do
        local name, value = item:match('^([^=]*)=?(.*)$')
        if name ~= '' then
            params[name] = params[name] or {}
            table.insert(params[name], value)
        end
    end
    return params
end

local function sorted_keys(t)
    local keys = {}
    for k in pairs(t) do
        keys[#keys + 1] = k
    end
    table.sort(keys)
    return keys
end

local function format_params(params)
    local items = {}
    for _, name in ipairs(sorted_keys(params)) do
        local values = params[name]
        for _, value in ipairs(type(values) == 'table' and values or {values}) do
            value = tostring(value)
            items[#items + 1] = value == '' and name or name .. '=' .. value
        end
    end
    return table.concat(items, '&')
end

-- Parameters given as a table: each value becomes a list of strings.
local function check_params(params, what)
    if type(params) ~= 'table' then
        error(('Invalid URI table: expected type for %s is table'):format(what), 0)
    end
    local out = {}
    for name, values in pairs(params) do
        if type(name) ~= 'string' then
            error(('Invalid URI table: expected type for keys of %s is string'):format(what), 0)
        end
        out[name] = {}
        for _, value in ipairs(type(values) == 'table' and values or {values}) do
            if type(value) ~= 'string' and type(value) ~= 'number' then
                error(("Invalid URI table: unexpected type '%s' of a value in %s"):format(
                    type(value), what), 0)
            end
            table.insert(out[name], tostring(value))
        end
    end
    return out
end

local function merge_params(parts, params, is_override)
    if params == nil then
        return
    end
    parts.params = parts.params or {}
    for name, values in pairs(params) do
        if is_override or parts.params[name] == nil then
            parts.params[name] = values
        end
    end
end

local function parse_string(text)
    local parts = parse_text(text)
    if parts ~= nil and parts.query ~= nil and parts.query ~= '' then
        local params = parse_params(parts.query)
        if next(params) ~= nil then
            parts.params = params
        end
    end
    return parts
end

-- {'URI', params = {...}} or {uri = 'URI', ...}, with parameters that hold where it has none.
local function parse_table(t, defaults)
    local text = t.uri or t[1]
    if type(text) ~= 'string' then
        error('Invalid URI table: expected array of URIs or a table with the field uri', 0)
    end
    if t.uri ~= nil and t[1] ~= nil or t[2] ~= nil then
        error('Invalid URI table: it has more than one URI', 0)
    end
    for key in pairs(t) do
        if key ~= 'uri' and key ~= 1 and key ~= 'params' and key ~= 'default_params' then
            error(("Invalid URI table: unexpected key '%s'"):format(tostring(key)), 0)
        end
    end
    local parts = parse_string(text)
    if parts == nil then
        return nil
    end
    if t.params ~= nil then
        merge_params(parts, check_params(t.params, 'params'), true)
    end
    if t.default_params ~= nil then
        merge_params(parts, check_params(t.default_params, 'default_params'), false)
    end
    merge_params(parts, defaults, false)
    return parts
end

-- The module --------------------------------------------------------------------------

function uri.parse(what)
    if type(what) == 'string' then
        return parse_string(what)
    elseif type(what) == 'table' then
        return parse_table(what)
    end
    error('Usage: uri.parse(string)', 2)
end

local function is_list_of_uris(t)
    return type(t[1]) == 'table' or t[2] ~= nil or (t[1] ~= nil and t[1]:find(',', 1, true))
end

-- Several: 'URI, URI', or a table of one (as in parse()), or a list of those and of strings;
-- `default_params` beside them are for all.
function uri.parse_many(what)
    local result = {}
    local function add(parts)
        if parts == nil then
            return false
        end
        result[#result + 1] = parts
        return true
    end
    local function add_text(text, defaults)
        for item in (text .. ','):gmatch('%s*(.-)%s*,') do
            if not add(parse_table({item}, defaults)) then
                return false
            end
        end
        return true
    end
    if type(what) == 'string' then
        return add_text(what) and result or nil
    elseif type(what) ~= 'table' then
        error('Usage: uri.parse_many(string | table)', 2)
    elseif not is_list_of_uris(what) then
        if next(what) ~= nil and not add(parse_table(what)) then
            return nil
        end
        return result
    end
    local defaults = what.default_params and check_params(what.default_params, 'default_params')
    for _, item in ipairs(what) do
        local ok
        if type(item) == 'string' then
            ok = add_text(item, defaults)
        else
            ok = add(parse_table(item, defaults))
        end
        if not ok then
            return nil
        end
    end
    return result
end

local function part(parts, name)
    local value = parts[name]
    if value == nil then
        return nil
    elseif type(value) ~= 'string' then
        error(("cannot convert '%s' to 'const char *'"):format(
            type(value) == 'boolean' and 'bool' or type(value)), 3)
    end
    return value ~= '' and value or nil
end

-- The text; the password only where it is asked for.
function uri.format(parts, write_password)
    local scheme, login, password = part(parts, 'scheme'), part(parts, 'login'),
                                    part(parts, 'password')
    local host, service, path = part(parts, 'host'), part(parts, 'service'), part(parts, 'path')
    local query, fragment = part(parts, 'query'), part(parts, 'fragment')
    -- A query that says the same as the parameters stays as it was written.
    if parts.params ~= nil and (query == nil or not table.equals(parts.params, parse_params(query))) then
        query = format_params(parts.params)
        query = query ~= '' and query or nil
    end
    local text = ''
    if host ~= nil then
        local secret = login ~= nil and password ~= nil and write_password and ':' .. password or ''
        text = (scheme ~= nil and scheme .. '://' or '') .. (login ~= nil and login .. secret .. '@' or '') ..
               host .. (service ~= nil and ':' .. service or '')
    end
    return text .. (path or '') .. (query ~= nil and '?' .. query or '') ..
           (fragment ~= nil and '#' .. fragment or '')
end

-- Percent encoding --------------------------------------------------------------------

-- The set of characters that a Lua class of characters names, e.g. 'a-z0-9'.
function uri.unreserved(class)
    if type(class) ~= 'string' then
        error('Usage: uri.unreserved(string)', 2)
    end
    local set = {}
    for byte = 0, 255 do
        local c = string.char(byte)
        if class ~= '' and c:find('^[' .. class .. ']$') then
            set[c] = true
        end
    end
    return set
end

local RFC3986_UNRESERVED = ALNUM .. '%-._~'
local SUB_DELIMITERS = "!$&'()*+,;="

local function options(class, plus)
    return {plus = plus or false, unreserved = uri.unreserved(class)}
end

uri.RFC3986 = options(RFC3986_UNRESERVED)
uri.PATH = options(RFC3986_UNRESERVED .. SUB_DELIMITERS .. ':@/')
uri.PATH_PART = options(RFC3986_UNRESERVED .. SUB_DELIMITERS .. ':@')
uri.QUERY = options(RFC3986_UNRESERVED .. SUB_DELIMITERS .. ':@/?')
uri.QUERY_PART = options(RFC3986_UNRESERVED .. "!$'()*+,;:@/?")
uri.FRAGMENT = options(RFC3986_UNRESERVED .. SUB_DELIMITERS .. ':@/?')
uri.FORM_URLENCODED = options(ALNUM .. '%-._*', true)

local function check_coding(text, opts, usage)
    if type(text) ~= 'string' or (opts ~= nil and type(opts) ~= 'table') then
        error(usage, 3)
    end
    return opts or uri.RFC3986
end

function uri.escape(text, opts)
    opts = check_coding(text, opts, 'Usage: uri.escape(string[, opts])')
    local unreserved = opts.unreserved or uri.RFC3986.unreserved
    if type(unreserved) == 'string' then
        unreserved = uri.unreserved(unreserved)
    end
    return (text:gsub('.', function(c)
        if unreserved[c] then
            return c
        elseif c == ' ' and opts.plus then
            return '+'
        end
        return ('%%%02X'):format(c:byte())
    end))
end

function uri.unescape(text, opts)
    opts = check_coding(text, opts, 'Usage: uri.unescape(string[, opts])')
    if opts.plus then
        text = text:gsub('+', ' ')
    end
    return (text:gsub('%%(%x%x)', function(hex)
        return string.char(tonumber(hex, 16))
    end))
end

return uri
