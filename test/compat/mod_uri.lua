-- SPDX-License-Identifier: BSD-2-Clause
-- The module uri. Parameters, which 2.6 does not have, are in test/lua/uri.lua.
local check = require('check')
uri = require('uri')

local function parse(text)
    local parts = uri.parse(text)
    if parts ~= nil then
        parts.params = nil
    end
    return parts
end

local texts = [[
a localhost localhost:3301 3301 :3301 127.0.0.1 127.0.0.1:33 [::1]:33 [::1] ::1
/tmp/unix.sock unix/:/tmp/unix.sock unix/:./s ./s a/b http:// http://a http://a/
http://a:80/p/q?x=1&y=2#frag user:pass@host:1 user@host:1 user:@host:1 :pass@host
scheme://user:pass@host:12/path?q#f unix/:/tmp/a.sock:/path user:pass@unix/:/tmp/a.sock
http://u:p@unix/:/tmp/a.sock:/p?q#f *:33 host:service host:99999 ho_st host-1.com %41 host:%41 ?q #f
host?q host#f host/p /p?q //h/p mailto:a@b.c urn:isbn:1 https://a.b.c:443/?transport=ssl&x=y
localhost:3301?transport=ssl a;b host:3301/p host:0 host:-1 http:///p file:///etc/passwd
1.2.3.4.5:1 256.1.1.1 [1:2:3:4:5:6:7:8]:5 [fe80::1%25lo]:5 [x]:5 ~ u%40:p%3A@h:1 @host host: 1:2
http://1 a@b@c A+b.c-d://h 12345678901234567890 0 1.2.3 1.2.3.4. 01.002.3.4 1.2.3.4444 [::] [::1 ::
[1::2]: [::1.2.3.4]:5 [::ffff:1.2.3.4] [1:2] [12345::] [:::] [::1]p [::1]/p [::1]?q u@[::1]:1 u@1
u@3301 3301/p 3301?q 3301#f s://3301 s://3301/p s://:3301 s:///tmp/x s://unix/:/x u:p@/tmp/x
u@unix/:/x?q unix/:/x: unix/:/x:/ unix/:/x:/a:/b unix/:/x/y.z:/p?a#b unix/ unix/x unix:/x
unix / // /x/ /x#f ./ . .. ../x u:@h u:p:q@h a:b a:b/c a:1b a:b1 a:1-2 a:b-c h:1?q#f h/? h? h# h?#
h/a?b?c#d h#a#b a..b -a a- .a http://u:p@h:1/p u@h/ h:1:2 h:80: * *: http://*:80 HTTP://H h% h%4 h%4g
h%zz l%zz@h h/%zz h?%zz h#%zz l@ l:p@ : :@ u@h:1@ 1@h 1:1@h 1.2.3.4@h unix/@h a/b@c a?b@c [::1]@h
unix/:a unix/:a:b unix/:*:1 u@unix/:x u:p@unix/: tcp://unix/:x unix/:@ %% a%%b %%4 a%%%41 u@/tmp/x?q u:p@/tmp/x#f u@/tmp/x
s://a://b s+1://h 1s://h s_://h ://h s:/h s:h h:1/\228 /tmp/\228 s@s://h
]]
for text in texts:gmatch('%S+') do
    text = text:gsub('\\(%d+)', function(n) return string.char(n) end)
    check.call(text, parse, text)
end

-- Each byte in each place.
for _, form in ipairs{'h\1h', '\1h', 'h/\1', 'h?\1', 'h#\1', 'l\1l@h', '\1@h', 'l:\1@h', 'h:\1',
                      'h:1\0011', 'h:a\1a', 'h:a/\1', '/u\1', 's\1s://h', '\1://h', 'h%4\1',
                      '/u?\1', 'u:p@\1x', 'u@h:\1'} do
    local kinds, names = {}, {}
    for byte = 1, 255 do
        local parts = parse((form:gsub('\1', function() return string.char(byte) end)))
        local shown = check.show(parts):gsub('\\x%x%x', '.')
        if parts == nil then
            kinds['nil'] = (kinds['nil'] or '') .. byte .. ' '
        else
            for k, v in pairs(parts) do
                k = k .. #v
                kinds[k] = (kinds[k] or '') .. byte .. ' '
            end
        end
    end
    for k in pairs(kinds) do
        table.insert(names, k)
    end
    table.sort(names)
    for _, k in ipairs(names) do
        check.values(('%q %s'):format(form, k), kinds[k])
    end
end

check [[
uri.parse('')
uri.parse('a b')
uri.parse(' host')
uri.parse('host ')
uri.parse('a\0b')
uri.parse()
#uri.parse(('a'):rep(300)).host
#uri.parse('/' .. ('a'):rep(200)).unix
uri.format{}
uri.format{host = 'h'}
uri.format{service = '1'}
uri.format{host = 'h', service = ''}
uri.format{login = 'l'}
uri.format({login = 'l', host = 'h'}, true)
uri.format{login = '', host = 'h'}
uri.format({login = 'l', password = '', host = 'h'}, true)
uri.format({password = 'p', host = 'h'}, true)
uri.format({login = 'l', password = 'p', host = 'h'}, true)
uri.format({login = 'l', password = 'p', host = 'h'})
uri.format({login = 'l', password = 'p', host = 'h'}, false)
uri.format{scheme = '', host = 'h'}
uri.format{scheme = 's', host = 'h', service = '5', path = '/p', query = 'q', fragment = 'f'}
uri.format{host = 'h', path = ''}
uri.format{host = 'h', path = 'p'}
uri.format{host = 'h', query = ''}
uri.format{host = 'h', fragment = ''}
uri.format{host = 'unix/', service = '/x', path = '/p'}
uri.format{host = '', service = '5'}
uri.format{path = '/x'}
uri.format{host = 'h', service = 5}
uri.format{host = true}
uri.format{host = {}}
uri.format{unix = '/x', path = '/y'}
uri.format{ipv6 = '::1', service = '1'}
uri.format{host = '::1', service = '1'}
]]
check.finish()
