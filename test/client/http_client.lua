-- SPDX-License-Identifier: BSD-2-Clause
-- http.client: what both programs do alike. http_client.py gives the URL.
local check = require('check')
http = require('http.client')
u = arg[1]
local function stable(r)
    if type(r) ~= 'table' then
        return r
    end
    local copy = {}
    for k, v in pairs(r) do
        copy[k] = v
    end
    if type(copy.body) == 'string' then
        copy.body = copy.body:gsub(u, 'URL')
    end
    return copy
end
function req(method, path, ...)
    return stable(http[method](path:match('^%a+:') and path or u .. path, ...))
end
function size(path)
    return #http.get(u .. path).body
end
check [[
req('get', '/hello')
req('get', '/json')
req('get', '/echo')
req('head', '/hello')
req('options', '/echo')
req('delete', '/echo')
req('trace', '/echo')
req('post', '/echo', 'body')
req('post', '/echo')
req('post', '/echo', '')
req('put', '/echo', 'body')
req('put', '/echo')
req('patch', '/echo', 'body')
req('patch', '/echo')
stable(http.request('FOO', u .. '/echo', 'x'))
stable(http.request('DELETE', u .. '/echo', 'x'))
req('post', '/echo', 5)
req('get', '/echo', {headers = {['X-A'] = '1', ['x-b'] = '2'}})
req('get', '/echo', {headers = {['Content-Type'] = 't/x'}})
req('post', '/echo', 'x', {headers = {['Content-Type'] = 't/x'}})
req('get', '/echo', {headers = {a = {1, 2}}})
req('get', '/echo', {headers = {a = 5}})
req('get', '/echo', {headers = {a = ''}})
req('get', '/echo', {headers = 5})
req('get', '/redirect/3').body
req('get', '/redirect/3', {follow_location = false})
req('get', '/chunked')
req('get', '/slow', {timeout = 0.2})
req('get', '/hello', {timeout = 0})
req('get', '/hello', {timeout = 'x'})
req('get', '/short')
req('get', '/garbage')
req('get', '/nothing')
req('get', '/nosuchpage')
req('get', '/status/500')
req('get', '/status/204')
req('get', '/status/304')
size('/big')
req('get', 'http://127.0.0.1:1/')
req('get', 'foo://x')
req('get', 'https://127.0.0.1:1/', {ca_file = '/nowhere'}).status
req('get', 'http://x/', {unix_socket = '/nowhere'})
req('get', '/hello', {proxy = 'http://127.0.0.1:1'})
req('get', '/echo', {accept_encoding = 'gzip'})
req('get', '/echo', {keepalive_idle = 5, keepalive_interval = 5})
req('get', '/hello', {unknown = 1})
http.get('')
http.get()
http.get('http://a b/')
http.get(u .. '/hello', 5)
http.request()
http.request('GET')
http.new({max_connections = 5}):get(u .. '/hello').body
c = http.new()
c:get(u .. '/hello').status, c:get(u .. '/status/404').status, c:get(u .. '/short', {timeout = 5})
s = c:stat()
s.total_requests, s.http_200_responses, s.active_requests
]]
check.finish()
