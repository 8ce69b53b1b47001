-- SPDX-License-Identifier: BSD-2-Clause
--
-- The module `http.client`: requests over HTTP and HTTPS, by libcurl. Manual: module http.
--
-- Requests yield. With the option `chunked` a request gives an object to write the body to and to
-- read the answer from, piece by piece.
local C = require('internal.http')
local clock = require('clock')
local json = require('json')
local yaml = require('yaml')
local msgpack = require('msgpack')
local uri = require('uri')

local FOREVER = 365 * 86400
local STREAM_TIMEOUT = 10
local HEADER_NAME_MAX = 32
local METHODS_WITH_QUERY = {GET = true, HEAD = true, DELETE = true}

-- Answers -------------------------------------------------------------------

-- 'name=value; A; B' -> name, {value, {'A', 'B'}}
local function cookie_of(text)
    local name, value, rest = text:match('^%s*([^=;]+)=([^;]*)(.*)$')
    if name == nil then
        return nil
    end
    local attributes = {}
    for attribute in rest:gmatch('[^;]+') do
        attributes[#attributes + 1] = attribute:match('^%s*(.-)%s*$')
    end
    return name, {value, attributes}
end

-- Header lines -> a table of lower-case names, and the cookies or nil.
local function parse_head(head, name_max)
    local headers, cookies = {}, nil
    for line in head:gmatch('[^\r\n]+') do
        local name, value = line:match('^([^:]+):%s*(.-)%s*$')
        if name ~= nil then
            name = name:lower()
            local key = name:sub(1, name_max)
            headers[key] = headers[key] and headers[key] .. ',' .. value or value
            if name == 'set-cookie' then
                local cookie, content = cookie_of(value)
                if cookie ~= nil then
                    cookies = cookies or {}
                    cookies[cookie] = content
                end
            end
        end
    end
    return headers, cookies
end

local function is_success(status)
    return status >= 200 and status < 400
end

local client_mt = {}
client_mt.__index = client_mt

local response_methods = {}

local function media_type(headers)
    local kind = headers and headers['content-type']
    return kind and kind:match('^%s*([^;%s]*)'):lower() or 'application/json'
end

-- The body as a value, by the decoder of its content type.
function response_methods:decode()
    local kind = media_type(self.headers)
    local decode = self.decoders[kind]
    if decode == nil then
        error(('Unable to decode body: decode function is not found (%s)'):format(kind), 2)
    end
    return decode(self.body, kind)
end

-- Fills in what is known of an answer.
local function fill(response, request)
    local status, failure, major, minor = C.result(request.transfer)
    response.status = status
    response.reason = failure or (is_success(status) and 'Ok' or 'Unknown')
    local head = C.head(request.transfer)
    if head ~= '' then
        response.headers, response.cookies = parse_head(head, request.name_max)
        response.proto = {major, minor}
    end
    return failure
end

-- Requests ------------------------------------------------------------------

local function check_headers(headers)
    if headers == nil then
        return
    elseif type(headers) ~= 'table' then
        error('opts.headers should be a table', 0)
    end
    for name, value in pairs(headers) do
        if type(name) ~= 'string' then
            error('opts.headers keys should be strings', 0)
        elseif type(value) ~= 'string' then
            error('opts.headers values should be strings', 0)
        elseif (name .. value):find('[\r\n]') then
            error('opts.headers must have no line breaks', 0)
        end
    end
end

local function header_of(headers, wanted)
    for name, value in pairs(headers or {}) do
        if tostring(name):lower() == wanted then
            return value
        end
    end
    return nil
end

-- A body that is no text is encoded by the content type, JSON unless the headers say otherwise.
local function encode_body(client, body, headers)
    if body == nil or type(body) == 'string' then
        return body
    elseif type(body) == 'number' then
        return tostring(body)
    end
    local given = header_of(headers, 'content-type')
    local kind = media_type({['content-type'] = given})
    local encode = client.encoders[kind]
    if encode == nil then
        error(('Unable to encode body: encode function is not found (%s)'):format(kind), 0)
    end
    return encode(body, kind), given == nil and kind or nil
end

local function query_of(params)
    if type(params) ~= 'table' then
        error('opts.params should be a table', 0)
    end
    local parts = {}
    for name, value in pairs(params) do
        if type(value) == 'table' or type(value) == 'function' then
            error('opts.params values should be strings, numbers or booleans', 0)
        end
        parts[#parts + 1] = uri.escape(tostring(name)) .. '=' .. uri.escape(tostring(value))
    end
    table.sort(parts)
    return table.concat(parts, '&')
end

local function add_query(url, query)
    local path, fragment = url:match('^([^#]*)(.*)$')
    return path .. (path:find('?', 1, true) and '&' or '?') .. query .. fragment
end

local TEXT_OPTIONS = {
    'ca_file', 'ca_path', 'ssl_cert', 'ssl_key', 'unix_socket', 'proxy', 'proxy_user_pwd',
    'no_proxy', 'interface', 'accept_encoding',
}
local OTHER_OPTIONS = {
    'proxy_port', 'verify_peer', 'verbose', 'low_speed_time', 'low_speed_limit',
    'follow_location',
}

local function set_options(transfer, options)
    for _, name in ipairs(TEXT_OPTIONS) do
        if options[name] ~= nil then
            C.option(transfer, name, tostring(options[name]))
        end
    end
    for _, name in ipairs(OTHER_OPTIONS) do
        if options[name] ~= nil then
            C.option(transfer, name, options[name])
        end
    end
    if options.verify_host ~= nil then
        -- Curl knows 2 and 0 (CURLOPT_SSL_VERIFYHOST).
        local is_off = options.verify_host == false or options.verify_host == 0
        C.option(transfer, 'verify_host', is_off and 0 or 2)
    end
end

local function set_keepalive(transfer, options)
    local idle, interval = options.keepalive_idle, options.keepalive_interval
    if idle ~= nil and interval ~= nil then
        C.option(transfer, 'keepalive', 1)
        C.option(transfer, 'keepalive_idle', idle)
        C.option(transfer, 'keepalive_interval', interval)
        C.header(transfer, 'Connection: Keep-Alive')
        C.header(transfer, ('Keep-Alive: timeout=%d'):format(idle))
    else
        C.header(transfer, 'Connection: close')
    end
end

local function set_method(transfer, method, body, is_upload)
    if method == 'HEAD' then
        C.option(transfer, 'no_body', 1)
    elseif method ~= 'GET' and not (method == 'PATCH' and (body == nil or body == '')) then
        C.option(transfer, 'post', 1)
        if not is_upload then
            C.body(transfer, body or '')
        end
    elseif body ~= nil and body ~= '' then
        C.body(transfer, body)
    end
    if method ~= 'POST' and method ~= 'HEAD' then
        C.option(transfer, 'method', method)
    end
end

local function set_headers(transfer, headers, content_type)
    for name, value in pairs(headers or {}) do
        C.header(transfer, value ~= '' and ('%s: %s'):format(name, value) or name .. ':')
    end
    if content_type ~= nil then
        C.header(transfer, 'Content-Type: ' .. content_type)
    end
end

local function timeout_of(options)
    local timeout = options.timeout
    return timeout == nil and FOREVER or tonumber(timeout) or 0
end

-- A transfer with all that the arguments say, not yet begun.
local function prepare(client, method, url, body, options)
    check_headers(options.headers)
    local content_type
    body, content_type = encode_body(client, body, options.headers)
    if options.params ~= nil then
        local query = query_of(options.params)
        if METHODS_WITH_QUERY[method] then
            url = query ~= '' and add_query(url, query) or url
        elseif body ~= nil then
            error('http.client: both a body and opts.params', 0)
        else
            body, content_type = query, 'application/x-www-form-urlencoded'
        end
    end
    local transfer = C.transfer(client.curl, url)
    if transfer == nil then
        error('not enough memory', 0)
    end
    local is_upload = options.chunked and body == nil and method ~= 'GET' and method ~= 'HEAD'
    set_options(transfer, options)
    set_keepalive(transfer, options)
    set_method(transfer, method, body, is_upload)
    set_headers(transfer, options.headers, content_type)
    if options.chunked then
        if is_upload then
            C.header(transfer, 'Transfer-Encoding: chunked')
            C.header(transfer, 'Expect:')
        end
        C.stream(transfer, is_upload)
    end
    return {
        transfer = transfer, is_upload = is_upload,
        name_max = options.max_header_name_len or HEADER_NAME_MAX,
    }
end

local function perform(client, request)
    local transfer = request.transfer
    C.start(transfer)
    C.wait(transfer)
    local response = setmetatable({}, client.response_mt)
    fill(response, request)
    local body = C.take(transfer)
    if body ~= '' then
        response.body = body
    end
    return response
end

-- Streams -------------------------------------------------------------------

local stream_mt = {}
stream_mt.__index = stream_mt

-- What is known so far becomes fields: headers and cookies with the head, the rest at the end.
local function refresh(stream)
    local request = stream._request
    local head, is_done = C.head(request.transfer)
    if is_done then
        stream._is_done = true
        local failure = fill(stream, request)
        if failure == nil then
            stream._is_complete = true
        end
    elseif stream.headers == nil and head:find('\r\n\r\n', 1, true) then
        stream.headers, stream.cookies = parse_head(head, request.name_max)
    end
    stream._text = stream._text .. C.take(request.transfer)
end

local function check_open(stream)
    if stream._request == nil then
        error('io: the request is finished', 3)
    end
end

-- Waits until ready() says what to return, the request ends or the time is over.
local function wait_for(stream, timeout, ready)
    local deadline = clock.monotonic() + (timeout or STREAM_TIMEOUT)
    while true do
        refresh(stream)
        local result = ready()
        if result ~= nil then
            return result
        elseif stream._is_done then
            return nil
        end
        local left = deadline - clock.monotonic()
        if left <= 0 or not C.wait_change(stream._request.transfer, left) then
            error('io: request is timed out', 3)
        end
    end
end

local function take(stream, size)
    local text = stream._text:sub(1, size)
    stream._text = stream._text:sub(size + 1)
    return text
end

local function end_of_delimiter(text, delimiters)
    local nearest
    for _, delimiter in ipairs(delimiters) do
        local _, last = text:find(delimiter, 1, true)
        if last ~= nil and (nearest == nil or last < nearest) then
            nearest = last
        end
    end
    return nearest
end

-- read(size | delimiter | {chunk = size, delimiter = text or list}, timeout): as much as asked for, less
-- only at the end of the answer, '' behind it.
function stream_mt:read(what, timeout)
    check_open(self)
    local size, delimiters
    if type(what) == 'number' then
        size = what
    elseif type(what) == 'string' then
        delimiters = {what}
    elseif type(what) == 'table' then
        size, delimiters = what.chunk or what.size, what.delimiter or what.line
        delimiters = type(delimiters) == 'string' and {delimiters} or delimiters
    end
    if size == nil and delimiters == nil then
        error('Usage: io:read(chunk|delimiter|{chunk = ..., delimiter = ...}[, timeout])', 2)
    end
    local last = wait_for(self, timeout, function()
        local last = delimiters and end_of_delimiter(self._text, delimiters)
        if size ~= nil and #self._text >= size and (last == nil or last > size) then
            return size
        end
        return last
    end)
    if last == nil and not self._is_complete then
        error('io: ' .. tostring(self.reason), 2)
    end
    return take(self, last or #self._text)
end

-- Gives a piece of the request's body, and waits until it is on its way: its size.
function stream_mt:write(text, timeout)
    check_open(self)
    if type(text) ~= 'string' or not self._request.is_upload then
        error(type(text) ~= 'string' and 'Usage: io:write(data[, timeout])' or
              'io: the request has no body to write', 2)
    end
    C.write(self._request.transfer, text, false)
    wait_for(self, timeout, function()
        return C.unsent(self._request.transfer) == 0 or nil
    end)
    return #text
end

-- Ends the body, waits for the rest of the answer, and frees the connection.
function stream_mt:finish(timeout)
    check_open(self)
    local request = self._request
    if request.is_upload then
        C.write(request.transfer, '', true)
    end
    local ok, err = pcall(wait_for, self, timeout, function()
        self._text = ''
        return nil
    end)
    self._request = nil
    C.close(request.transfer)
    if not ok then
        error(err, 0)
    end
end

local function open_stream(client, request)
    C.start(request.transfer)
    local stream = setmetatable({_request = request, _client = client, _text = ''}, stream_mt)
    refresh(stream)
    return stream
end

-- The client ----------------------------------------------------------------

local USAGE = 'request(method, url[, body, [options]])'

-- The client of a method that may have been called with a dot.
local function check_client(self, name)
    if getmetatable(self) ~= client_mt then
        error(('Use client:%s(...) instead of client.%s(...):'):format(name, name), 3)
    end
end

local function check_text(value, position)
    if type(value) ~= 'string' and type(value) ~= 'number' then
        error(("bad argument #%d to 'request' (string expected, got %s)"):format(position, type(value)), 3)
    end
    return tostring(value)
end

function client_mt:request(method, url, body, options)
    if method == nil or url == nil then
        error(USAGE, 2)
    end
    check_client(self, 'request')
    method, url = check_text(method, 1), check_text(url, 2)
    if options ~= nil and type(options) ~= 'table' then
        error('fifth argument must be a table', 2)
    end
    options = options or {}
    local ok, request = pcall(prepare, self, method, url, body, options)
    if not ok then
        error(request, type(request) == 'string' and 2 or nil)
    end
    if options.chunked then
        return open_stream(self, request)
    end
    local timeout = timeout_of(options)
    if timeout <= 0 then
        C.close(request.transfer)
        return setmetatable({status = 408, reason = 'Timeout was reached'}, self.response_mt)
    end
    C.option(request.transfer, 'timeout_ms', math.max(math.min(timeout, FOREVER) * 1000, 1))
    local is_done, response = pcall(perform, self, request)
    C.close(request.transfer)
    if not is_done then
        error(response, 0)
    end
    return response
end

for _, method in ipairs({'get', 'head', 'options', 'delete', 'trace', 'connect'}) do
    client_mt[method] = function(self, url, options)
        check_client(self, method)
        return self:request(method:upper(), url, nil, options)
    end
end

for _, method in ipairs({'post', 'put', 'patch'}) do
    client_mt[method] = function(self, url, body, options)
        check_client(self, method)
        return self:request(method:upper(), url, body, options)
    end
end

function client_mt:stat()
    check_client(self, 'stat')
    return C.stat(self.curl)
end

local function new(options)
    if options ~= nil and type(options) ~= 'table' then
        error('Usage: http.client.new([options])', 2)
    end
    options = options or {}
    for _, name in ipairs({'max_connections', 'max_total_connections'}) do
        if options[name] ~= nil and type(options[name]) ~= 'number' then
            error(('http.client.new: %s should be a number'):format(name), 2)
        end
    end
    local curl = C.client(options.max_connections or -1, options.max_total_connections or 0)
    if curl == nil then
        error('not enough memory', 2)
    end
    local client = setmetatable({
        curl = curl,
        encoders = {
            ['application/json'] = function(body) return json.encode(body) end,
            ['application/yaml'] = function(body) return yaml.encode(body) end,
            ['application/msgpack'] = function(body) return msgpack.encode(body) end,
        },
        decoders = {
            ['application/json'] = function(body) return json.decode(body) end,
            ['application/yaml'] = function(body) return yaml.decode(body) end,
            ['application/msgpack'] = function(body) return (msgpack.decode(body)) end,
        },
    }, client_mt)
    client.response_mt = {
        __index = function(_, name)
            return name == 'decoders' and client.decoders or response_methods[name]
        end
    }
    return client
end

-- The functions of a client of their own, made at the first use.
local default
local module = {new = new}
for name, method in pairs(client_mt) do
    if type(method) == 'function' and name ~= 'stat' then
        module[name] = function(...)
            default = default or new()
            return method(default, ...)
        end
    end
end
setmetatable(module, {
    __index = function(_, name)
        if name == 'encoders' or name == 'decoders' then
            default = default or new()
            return default[name]
        end
    end
})

return module
