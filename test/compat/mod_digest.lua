-- SPDX-License-Identifier: BSD-2-Clause
-- digest: every function, whole and in pieces, and what each refuses.
local check = require('check')
digest = require('digest')
function pieces(h, ...)
    for _, s in ipairs({...}) do
        h:update(s)
    end
    return h
end
function corpus(seed, count)
    math.randomseed(seed)
    local all = {}
    for i = 1, count do
        local s = {}
        for j = 1, math.random(0, 150) do
            s[j] = string.char(math.random(0, 255))
        end
        all[i] = table.concat(s)
    end
    return all
end
texts = corpus(7, 200)
function of_all(f)
    local out = {}
    for i, s in ipairs(texts) do
        out[i] = f(s)
    end
    return digest.sha1_hex(table.concat(out, ','))
end
check [[
digest.md5_hex('a'), digest.sha1_hex('a'), digest.sha224_hex('a'), digest.sha256_hex('a')
digest.sha384_hex(''), digest.sha512_hex('')
digest.md5('tarn'), digest.sha1('tarn'), digest.sha512('tarn')
digest.md5_hex(), digest.md5()
digest.md5_hex(1)
digest.sha1(1)
digest.sha1_hex({})
digest.sha256()
digest.crc32('abc'), digest.crc32(''), digest.crc32.crc_begin
digest.crc32_update(5, 'abc'), digest.crc32_update(digest.crc32('a'), 'bc')
digest.crc32(1)
digest.crc32()
digest.crc32_update('abc')
digest.crc32_update()
c = pieces(digest.crc32.new(), 'a', 'bc')
c:result(), c.value, c:copy():result()
d = c:copy(); d:clear(); return d:result(), c:result()
c:update(1)
digest.murmur('abc'), digest.murmur(''), digest.murmur('abcd'), digest.murmur('abcde')
m = pieces(digest.murmur.new(), 'a', '', 'bc', 'defg')
m:result(), m:copy():result(), digest.murmur('abcdefg')
e = m:copy(); e:clear(); return e:result(), m:result()
pieces(digest.murmur.new({seed = 5}), 'ab', 'c'):result(), pieces(digest.murmur.new({}), 'abc'):result()
m:update(1)
digest.murmur()
digest.murmur(1)
digest.guava(10863919174838991ULL, 11), digest.guava(1, 2), digest.guava(1, 1)
digest.guava(1, 0)
digest.guava('a', 2)
digest.guava(1)
digest.pbkdf2_hex('password', 'salt', 2, 20), digest.pbkdf2_hex('a', 'b', 10, 64), #digest.pbkdf2('a', 'b', 1)
digest.pbkdf2_hex('a', 'b', 10, 6.5)
digest.pbkdf2('a', 'b', 0)
digest.pbkdf2_hex('a', 'b', -1)
digest.pbkdf2('a')
digest.pbkdf2_hex(1, 'b')
digest.pbkdf2_hex('a', 'b', 'x')
digest.pbkdf2('a', 'b', 1, 500)
digest.base64_encode(''), digest.base64_encode('a'), digest.base64_encode('ab'), digest.base64_encode('abc')
digest.base64_encode(('a'):rep(54)), digest.base64_encode(('a'):rep(108)), digest.base64_encode(('x'):rep(100))
digest.base64_encode(('x'):rep(100), {nowrap = true}), digest.base64_encode('a', {nopad = true})
digest.base64_encode(('ab?~\255'):rep(30), {urlsafe = true})
digest.base64_encode(1)
digest.base64_encode('a', 5)
digest.base64_decode('YWI'), digest.base64_decode('!!YWI='), digest.base64_decode('YW_-'), digest.base64_decode('')
digest.base64_decode('YW+/'), digest.base64_decode('YW\nI='), digest.base64_decode('YWI=YWI=')
digest.base64_decode(1)
#digest.urandom(0), #digest.urandom(5), digest.urandom(16) ~= digest.urandom(16)
digest.urandom()
digest.aes256cbc.encrypt('abc', ('k'):rep(32), ('i'):rep(16))
digest.aes256cbc.decrypt(digest.aes256cbc.encrypt('abc', ('k'):rep(32), ('i'):rep(16)), ('k'):rep(32), ('i'):rep(16))
digest.aes256cbc.encrypt('abc', 'k', ('i'):rep(16))
digest.aes256cbc.decrypt(('a'):rep(16), ('k'):rep(32), ('i'):rep(16))
digest.aes256cbc.decrypt(digest.aes256cbc.encrypt('', ('k'):rep(32), ('i'):rep(16)), ('k'):rep(32), ('i'):rep(16))
digest.crc32.new():result(), digest.crc32.new('ignored'):result(), pieces(digest.crc32.new(), ''):result()
digest.murmur.new(nil):copy():result(), digest.murmur.new({seed = 1}):copy().seed ~= nil
of_all(digest.murmur), of_all(digest.crc32), of_all(digest.md5), of_all(digest.base64_encode)
of_all(function(s) return digest.base64_decode((s:gsub('[{-\127]', ''))) end)
of_all(function(s) return digest.base64_decode(digest.base64_encode(s, {urlsafe = true})) end) == of_all(function(s) return s end)
]]
check.finish()
