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
refused, methods = 'http://127.0.0.1:1/', {'get', 'head', 'options', 'delete', 'trace', 'connect', 'post', 'put', 'patch'}
for _, name in ipairs(methods) do
    local has_body = name == 'post' or name == 'put' or name == 'patch'
    for _, call in ipairs{{'module', function(...) return http[name](...) end},
                          {'client', function(...) return c[name](c, ...) end}} do
        local where, f = unpack(call)
        check.call(where .. ' ' .. name .. ' refused', function()
            local r = has_body and f(refused, 'x') or f(refused)
            return r.status, r.reason
        end)
        check.call(where .. ' ' .. name .. ' nothing', f)
        check.call(where .. ' ' .. name .. ' table', f, {})
        if has_body then
            check.call(where .. ' ' .. name .. ' options', f, u .. '/echo', 'x', 'y')
            check.call(where .. ' ' .. name .. ' headers', f, u .. '/echo', 'x', {headers = 'y'})
            check.call(where .. ' ' .. name, function() return stable(f(u .. '/echo', 'x', {headers = {a = 'b'}})) end)
        else
            check.call(where .. ' ' .. name .. ' options', f, u .. '/echo', 'y')
            check.call(where .. ' ' .. name .. ' headers', f, u .. '/echo', {headers = 'y'})
            if name ~= 'connect' then
                check.call(where .. ' ' .. name, function() return stable(f(u .. '/echo', {headers = {a = 'b'}})) end)
            end
        end
    end
end
check [[
c.get(u .. '/hello')
c.request()
c:request()
c:request('GET')
c:request(5, u).status
c:request('GET', {})
c:request({}, u .. '/hello')
c:request('GET', u .. '/hello', nil, 5)
c:request('', u .. '/hello').status
c:nosuch()
http.nosuch()
http.new({max_connections = -1, max_total_connections = 5}):get(u .. '/hello').status
http.new({unknown = 1}):get(u .. '/hello').status
http.new({5}):get(u .. '/hello').status
http.new():stat()
http.get(u .. '/hello', {timeout = 5}).status, http.get(u .. '/hello', {timeout = 1e9}).status
http.get(u .. '/hello', {timeout = {}})
http.get(u .. '/hello', {verbose = false, verify_host = 0, verify_peer = 0}).status
http.get(u .. '/hello', {verify_host = false, verify_peer = true}).status
http.get(u .. '/hello', {ca_file = 5, ca_path = 5}).status
http.get(u .. '/hello', {ca_path = '/nowhere', ssl_cert = '/nowhere', ssl_key = '/nowhere'}).status
http.get(u .. '/hello', {low_speed_limit = 1, low_speed_time = 5}).status
http.get(u .. '/hello', {max_header_name_len = 5}).headers['x-two']
http.get(u .. '/hello', {no_proxy = '*', proxy = 'http://127.0.0.1:1'}).status
http.get(u .. '/hello', {no_proxy = '', proxy = '', proxy_port = 1}).status
http.get(u .. '/hello', {proxy = 'http://127.0.0.1', proxy_port = 1, proxy_user_pwd = 'a:b'}).status
http.get(u .. '/hello', {interface = 'nosuch0'}).status
http.get(u .. '/hello', {unix_socket = 5}).status
http.get(u .. '/hello', {follow_location = 5}).status
http.get(u .. '/echo', {headers = {a = {}}}).status
http.get(u .. '/echo', {headers = {a = true}}).status
http.get(u .. '/echo', {headers = {[1] = 'x'}}).status
http.get(u .. '/echo', {headers = {[''] = 'x'}}).status
http.get(u .. '/hello\0x').status
http.get('http://[::1').status
http.get('127.0.0.1:1').status
http.get(('x'):rep(10000)).status
http.get('http://' .. ('x'):rep(10000)).status
http.post(u .. '/echo', ('x'):rep(100000)).status, #http.post(u .. '/echo', ('x'):rep(100000)).body > 100000
http.post(u .. '/echo', '\0\255').status
r = http.get(u .. '/hello')
r.cookies ~= nil, r.proto, r.reason, r.nosuch
]]
check.finish()
