-- SPDX-License-Identifier: BSD-2-Clause
-- What the module uri has of later versions: parameters, several URIs, escapes.
local tap = require('tap')
local uri = require('uri')
local test = tap.test('uri')
test:plan(4)

test:test('parameters', function(t)
    t:plan(9)
    t:is_deeply(uri.parse('h:1?transport=ssl&a=1&a=2&b').params,
                {transport = {'ssl'}, a = {'1', '2'}, b = {''}}, 'of the query')
    t:is(uri.parse('h:1').params, nil, 'none')
    t:is(uri.parse('h:1?').params, nil, 'an empty query')
    t:is_deeply(uri.parse{'h?x=1&x=2'}, uri.parse{uri = 'h?x=1&x=2'}, 'two forms of a table')
    t:is_deeply(uri.parse{'h?x=1', params = {x = 2, y = {3, 'a'}}}.params,
                {x = {'2'}, y = {'3', 'a'}}, 'params override')
    t:is_deeply(uri.parse{'h?x=1', default_params = {x = 2, y = 3}}.params,
                {x = {'1'}, y = {'3'}}, 'default_params do not')
    t:is(uri.format(uri.parse{'h?x=1', params = {x = 2, y = {3, ''}}}), 'h?x=2&y=3&y', 'format')
    t:ok(not pcall(uri.parse, {'h', params = 1}), 'params is no table')
    t:ok(not pcall(uri.parse, {'h', what = 1}), 'an unknown key')
end)

test:test('several', function(t)
    t:plan(7)
    local function hosts(list)
        local out = {}
        for i, parts in ipairs(list) do
            out[i] = (parts.host or '') .. ':' .. (parts.service or '')
        end
        return table.concat(out, ' ')
    end
    t:is(hosts(uri.parse_many('a:1')), 'a:1', 'one')
    t:is(hosts(uri.parse_many('a:1, b:2,c:3')), 'a:1 b:2 c:3', 'a text')
    t:is(hosts(uri.parse_many({'a:1', 'b:2', {'c:3'}, {uri = 'd:4'}})), 'a:1 b:2 c:3 d:4', 'a list')
    t:is(hosts(uri.parse_many({uri = 'a:1', params = {x = 1}})), 'a:1', 'a table of one')
    t:is(hosts(uri.parse_many({})), '', 'none')
    t:is(uri.parse_many('a:1, b b'), nil, 'a bad one')
    t:is_deeply(uri.parse_many({'a', {'b', params = {x = 2}}, default_params = {x = 1}})[1].params,
                {x = {'1'}}, 'parameters for all')
end)

test:test('escape', function(t)
    t:plan(12)
    t:is(uri.escape('C++'), 'C%2B%2B', 'RFC 3986')
    t:is(uri.unescape('C%2B%2B'), 'C++', 'and back')
    t:is(uri.escape('John Smith', uri.FORM_URLENCODED), 'John+Smith', 'a form')
    t:is(uri.unescape('John+Smith', uri.FORM_URLENCODED), 'John Smith', 'and back')
    local opts = {plus = true, unreserved = uri.unreserved('a-z')}
    t:is(uri.escape('Hello World', opts), '%48ello+%57orld', 'of one\'s own')
    t:is(uri.unescape('%48ello+%57orld', opts), 'Hello World', 'and back')
    t:is(uri.escape('a/b?c', uri.PATH), 'a/b%3Fc', 'a path')
    t:is(uri.escape('a/b', uri.PATH_PART), 'a%2Fb', 'a part of one')
    t:is(uri.escape('a=b&c', uri.QUERY_PART), 'a%3Db%26c', 'a part of a query')
    t:is(uri.escape('тарантул'), '%D1%82%D0%B0%D1%80%D0%B0%D0%BD%D1%82%D1%83%D0%BB', 'UTF-8')
    t:is(uri.unescape('%zz%4'), '%zz%4', 'what is no escape')
    t:ok(not pcall(uri.escape, 1) and not pcall(uri.unescape, 'a', 1), 'wrong types')
end)

-- Any text survives escape and unescape; any URI that parses survives format and parse.
test:test('round trips', function(t)
    t:plan(2)
    math.randomseed(7)
    local ok = true
    for _ = 1, 2000 do
        local text = {}
        for i = 1, math.random(0, 20) do
            text[i] = string.char(math.random(0, 255))
        end
        text = table.concat(text)
        for _, o in ipairs{uri.RFC3986, uri.PATH, uri.PATH_PART, uri.QUERY, uri.QUERY_PART,
                           uri.FRAGMENT, uri.FORM_URLENCODED} do
            local escaped = uri.escape(text, o)
            ok = ok and uri.unescape(escaped, o) == text and not escaped:find('[^%w%p+]')
        end
    end
    t:ok(ok, 'escapes')
    local letters = {'a', '1', ':', '/', '.', '@', '?', '#', '[', ']', '%', '-', ' ', '=', '&',
                     'unix/:', '://', 'h'}
    local same = true
    for _ = 1, 20000 do
        local text = {}
        for i = 1, math.random(0, 8) do
            text[i] = letters[math.random(#letters)]
        end
        local parts = uri.parse(table.concat(text))
        if parts ~= nil and parts.host ~= nil and parts.ipv6 == nil and parts.unix == nil
           and not parts.path and not parts.query and not parts.host:find('^%d+$') then
            local again = uri.parse(uri.format(parts, true))
            same = same and again ~= nil and again.host == parts.host
                   and again.service == parts.service and again.login == parts.login
        end
    end
    t:ok(same, 'URIs')
end)

os.exit(test:check() and 0 or 1)
