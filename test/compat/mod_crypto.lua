-- SPDX-License-Identifier: BSD-2-Clause
-- crypto: digests, HMACs and ciphers, whole and in pieces, and what each refuses.
local check = require('check')
crypto = require('crypto')
key16, iv16 = ('k'):rep(16), ('i'):rep(16)
SIZES = {aes128 = {16, 16}, aes192 = {24, 16}, aes256 = {32, 16}}
function cipher(name, mode, text)
    local key = ('k'):rep(SIZES[name][1])
    local iv = ('i'):rep(mode == 'ecb' and 0 or SIZES[name][2])
    local secret = crypto.cipher[name][mode].encrypt(text, key, iv)
    return secret, crypto.cipher[name][mode].decrypt(secret, key, iv)
end
function pieces(h, ...)
    for _, s in ipairs({...}) do
        h:update(s)
    end
    return h
end
aes = crypto.cipher.aes128.cbc
for _, name in ipairs({'aes128', 'aes192', 'aes256'}) do
    for _, mode in ipairs({'cbc', 'cfb', 'ecb', 'ofb'}) do
        check.call(name .. ' ' .. mode, cipher, name, mode, 'hello, world')
        check.call(name .. ' ' .. mode .. ', empty', cipher, name, mode, '')
        check.call(name .. ' ' .. mode .. ', long', cipher, name, mode, ('0123456789'):rep(50))
    end
end
for _, name in ipairs({'md5', 'sha1', 'sha224', 'sha256', 'sha384', 'sha512', 'ripemd160'}) do
    check.call(name, function() return crypto.digest[name]('abc'), crypto.digest[name]('') end)
    check.call(name .. ' in pieces', function()
        return pieces(crypto.digest[name].new(), 'a', '', 'bc'):result()
    end)
    check.call('hmac ' .. name, function()
        return crypto.hmac[name]('key', 'abc'), crypto.hmac[name .. '_hex']('key', 'abc')
    end)
    for _, called in ipairs({name, name .. '_hex'}) do
        check.call('hmac ' .. called .. ' of nothing', crypto.hmac[called], '', '')
        check.call('hmac ' .. called .. ' without a key', crypto.hmac[called], nil, 'abc')
        check.call('hmac ' .. called .. ' of a number', crypto.hmac[called], 'key', 5)
    end
    check.call('hmac ' .. name .. ' in pieces', function()
        return pieces(crypto.hmac[name].new('key'), 'a', 'bc'):result()
    end)
end
check [[
crypto.digest.xx
crypto.hmac.xx
crypto.cipher.foo
crypto.cipher.aes128.foo
aes.foo
aes.encrypt('a', 'k', iv16)
aes.encrypt('a', key16, 'i')
aes.encrypt(1, key16, iv16)
aes.encrypt('a', nil, iv16)
aes.encrypt('a', key16)
aes.encrypt()
aes.decrypt(('a'):rep(15), key16, iv16)
crypto.cipher.aes128.ecb.encrypt('a', key16, iv16)
crypto.digest.md5(1)
crypto.digest.md5()
crypto.hmac.md5(1, 2)
crypto.hmac.md5('a')
d = crypto.digest.sha1.new()
d:result()
d:result()
d:update('a')
d:init()
pieces(d, 'abc'):result()
d:free()
d:update('a')
c = aes.encrypt.new(key16, iv16)
c:update('hello '), c:update('world, this is long'), c:result()
c:update('a')
c:result()
c:init(key16, iv16)
c:update('again') .. c:result()
c:update(1)
c:free()
c:update('a')
aes.encrypt.new():update('a')
aes.encrypt.new():result()
c = aes.encrypt.new(key16)
c:update('a')
c:init(nil, iv16)
c:update('a'), c:result()
h = crypto.hmac.sha1.new('key')
h:result()
h:result()
h:update('a')
h:init('key')
pieces(h, 'abc'):result()
h:free()
h:update('a')
crypto.hmac.sha1.new()
]]
check.finish()
