-- SPDX-License-Identifier: BSD-2-Clause
-- http.client: what tarn has beyond the reference of 2.6, and what it leaves behind.
local tap = require('tap')
local fiber = require('fiber')
local json = require('json')
local http = require('http.client')
local u = arg[1]

local function echo(r)
    local method, path, headers, body = unpack(json.decode(r.body))
    local named = {}
    for _, header in ipairs(headers) do
        named[header[1]] = header[2]
    end
    return {method = method, path = path, headers = named, body = body}
end

local function descriptors()
    collectgarbage() -- clients that are garbage keep connections
    collectgarbage()
    return #require('fio').listdir('/proc/self/fd')
end

local test = tap.test('http.client')
test:plan(10)

test:test('redirections', function(t)
    t:plan(3)
    t:is(echo(http.post(u .. '/redirect/1', 'x', {timeout = 5})).method, 'GET',
         'a POST that is redirected goes on as a GET')
    t:is(http.get(u .. '/redirect/2').headers.location, nil, 'the headers are of the last answer')
    t:is(echo(http.request('GET', u .. '/echo', 'x')).method, 'GET', 'a GET may have a body')
end)

test:test('values as bodies', function(t)
    t:plan(8)
    local got = echo(http.post(u .. '/echo', {a = 1}))
    t:is(got.body, '{"a":1}', 'a table goes as JSON')
    t:is(got.headers['content-type'], 'application/json', 'and says so')
    got = echo(http.post(u .. '/echo', {1}, {headers = {['Content-Type'] = 'application/yaml'}}))
    t:is(got.body, '---\n- 1\n...\n', 'or by its content type')
    t:ok(not pcall(http.post, u .. '/echo', {}, {headers = {['Content-Type'] = 'a/b'}}),
         'a type that nobody encodes is refused')
    local client = http.new()
    client.encoders['a/b'] = function(body) return 'own ' .. #body end
    got = echo(client:post(u .. '/echo', {1, 2}, {headers = {['Content-Type'] = 'a/b'}}))
    t:is(got.body, 'own 2', 'encoders can be added')
    t:is_deeply(http.get(u .. '/json'):decode(), {a = {1, 2}}, 'an answer is decoded by its type')
    local ok, err = pcall(function() return http.get(u .. '/hello'):decode() end)
    t:ok(not ok and tostring(err):find('text/plain', 1, true), 'where there is a decoder')
    client.decoders['text/plain'] = function(body) return body:upper() end
    t:is(client:get(u .. '/hello'):decode(), 'HELLO', 'decoders can be added')
end)

test:test('params', function(t)
    t:plan(5)
    local params = {a = 'b c', n = 5, ['\195\164'] = '&'}
    t:is(echo(http.get(u .. '/echo', {params = params})).path, '/echo?%C3%A4=%26&a=b%20c&n=5',
         'of a GET go to the URL')
    t:is(echo(http.get(u .. '/echo?x=1#f', {params = {a = 1}})).path, '/echo?x=1&a=1',
         'behind what is there')
    local got = echo(http.post(u .. '/echo', nil, {params = {a = 1, b = 'x y'}}))
    t:is(got.body, 'a=1&b=x%20y', 'of a POST are the body')
    t:is(got.headers['content-type'], 'application/x-www-form-urlencoded', 'and say so')
    t:ok(not pcall(http.post, u .. '/echo', 'x', {params = {}}), 'not beside another body')
end)

test:test('headers', function(t)
    t:plan(3)
    local r = http.get(u .. '/hello', {max_header_name_len = 5})
    t:is(r.headers['x-two'], 'a,b', 'short names')
    t:is(r.headers['x-lll'], 'v', 'are cut at max_header_name_len')
    t:ok(not pcall(http.get, u .. '/echo', {headers = {a = 'x\r\nEvil: 1'}}),
         'no header can be smuggled in')
end)

test:test('a cancel', function(t)
    t:plan(3)
    local before = descriptors()
    local client = http.new()
    local ok, err
    local f = fiber.new(function() ok, err = pcall(client.get, client, u .. '/slow') end)
    f:set_joinable(true)
    fiber.sleep(0.05)
    f:cancel()
    f:join()
    t:ok(not ok and tostring(err):find('cancelled', 1, true), 'ends the request')
    t:is(client:stat().active_requests, 0, 'for good')
    client = nil
    t:is(descriptors(), before, 'and leaves no descriptor')
end)

test:test('keep-alive', function(t)
    t:plan(2)
    local client = http.new({max_connections = 2})
    local options = {keepalive_idle = 5, keepalive_interval = 5}
    local first = client:get(u .. '/port', options).body
    t:is(client:get(u .. '/port', options).body, first, 'a connection serves again')
    t:isnt(client:get(u .. '/port').body, nil, 'or not')
end)

test:test('an answer in pieces', function(t)
    t:plan(8)
    local io = http.get(u .. '/chunked', {chunked = true})
    t:is(io:read(2), 'on', 'by size')
    t:is(io:read('\n'), 'etwo\n', 'by delimiter')
    t:is(io.headers['transfer-encoding'], 'chunked', 'the head is there')
    t:is(io:read({chunk = 100, delimiter = {'r', 'h'}}), 'th', 'by either')
    t:is(io:read(100), 'ree', 'what is left at the end')
    t:is(io:read(100), '', 'nothing behind it')
    io:finish()
    t:is(io.status, 200, 'the status, at the end')
    t:ok(not pcall(io.read, io, 1), 'not once it is finished')
end)

test:test('a request in pieces', function(t)
    t:plan(5)
    local io = http.post(u .. '/mirror', nil, {chunked = true})
    t:is(io:write('hello '), 6, 'a piece')
    t:is(io:read(6), 'hello ', 'is answered at once')
    io:write('world\n')
    t:is(io:read('\n', 5), 'world\n', 'and another')
    t:ok(not pcall(io.write, io, 5), 'nothing but text')
    io:finish(5)
    t:is(io.status, 200, 'until it is finished')
end)

test:test('time-outs in pieces', function(t)
    t:plan(4)
    local before = descriptors()
    local io = http.get(u .. '/slow', {chunked = true})
    local ok, err = pcall(io.read, io, 1, 0.05)
    t:ok(not ok and tostring(err):find('timed out', 1, true), 'of a read')
    ok, err = pcall(io.finish, io, 0.05)
    t:ok(not ok and tostring(err):find('timed out', 1, true), 'of the end')
    local endless = http.get(u .. '/endless', {chunked = true})
    t:is(#endless:read(150), 150, 'an answer without end')
    pcall(endless.finish, endless, 0)
    io, endless = nil, nil
    t:ok(descriptors() <= before + 8, 'descriptors are bounded by the connections kept')
end)

test:test('bad input', function(t)
    t:plan(16)
    local function fails(name, pattern, f, ...)
        local ok, err = pcall(f, ...)
        t:ok(not ok and tostring(err):find(pattern, 1, true), name, {ok, err})
    end
    fails('new of a number', 'Usage: http.client.new', http.new, 5)
    fails('new of a text', 'Usage: http.client.new', http.new, 'x')
    fails('max_connections of a text', 'should be a number', http.new, {max_connections = 'x'})
    fails('max_total_connections of a table', 'should be a number', http.new, {max_total_connections = {}})
    local client = http.new()
    fails('a method without a client', 'Use client:get(...)', client.get, u)
    fails('another', 'Use client:stat(...)', client.stat)
    fails('of another table', 'Use client:stat(...)', client.stat, {})
    fails('a line break in a name', 'line breaks', http.get, u, {headers = {['a\r\nb'] = 'c'}})
    fails('a line break in a value', 'line breaks', http.get, u, {headers = {a = 'b\nc: d'}})
    t:is(client:get(u .. '/hello', {timeout = -1}).status, 408, 'a negative time')
    t:is(client:get(u .. '/hello', {timeout = math.huge}).status, 200, 'time without end')
    t:ok(pcall(client.get, client, u .. '/hello', {timeout = 0 / 0}) ~= nil, 'NaN')
    t:is(client:connect('127.0.0.1:1').status, 595, 'CONNECT to nobody')
    t:ok(http.connect(u, {timeout = 1}).status ~= nil, 'CONNECT')
    t:is(client:stat().active_requests, 0, 'nothing is left')
    t:is(client:stat().http_200_responses >= 1, true, 'and counted')
end)

os.exit(test:check() and 0 or 1)
