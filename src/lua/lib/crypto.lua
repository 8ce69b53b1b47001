-- SPDX-License-Identifier: BSD-2-Clause
--
-- The module `crypto`: digests, HMACs and ciphers, whole or in pieces. Manual: module crypto.
local C = require('internal.crypto')

-- As users and as OpenSSL name them.
local DIGESTS = {
    md4 = 'MD4', md5 = 'MD5', sha1 = 'SHA1', sha224 = 'SHA224', sha256 = 'SHA256',
    sha384 = 'SHA384', sha512 = 'SHA512', ripemd160 = 'RIPEMD160',
}
local ALGORITHMS = {aes128 = 'aes-128', aes192 = 'aes-192', aes256 = 'aes-256', des = 'des'}
local MODES = {'cbc', 'cfb', 'ecb', 'ofb'}

-- A table whose missing keys are errors.
local function strict_table(t, what)
    return setmetatable(t, {
        __index = function(_, name)
            error(what:format(name), 2)
        end
    })
end

-- Algorithms are looked up at their first use, and kept.
local function lazy(find)
    local known = {}
    return function(name)
        local found = known[name]
        if found == nil then
            local err
            found, err = find(name)
            if found == nil then
                return nil, err
            end
            known[name] = found
        end
        return found
    end
end
local md_of, cipher_of = lazy(C.md), lazy(C.cipher)

local function check_string(text, usage)
    if type(text) ~= 'string' then
        error('Usage: ' .. usage, 3)
    end
end

-- Digests -------------------------------------------------------------------

local digest_mt = {}
digest_mt.__index = digest_mt

-- Makes the digest ready for a new text.
function digest_mt:init()
    if self.freed then
        error("Digest context isn't usable", 2)
    end
    local md, err = md_of(self.name)
    if md ~= nil then
        self.ctx, err = C.md_new(md)
    end
    if self.ctx == nil then
        error("Can't init digest: " .. err, 2)
    end
    self.initialized = true
end

function digest_mt:update(text)
    if not self.initialized then
        error('Digest not initialized', 2)
    end
    check_string(text, 'digest:update(string)')
    local ok, err = C.md_update(self.ctx, text)
    if not ok then
        error("Can't update digest: " .. err, 2)
    end
end

function digest_mt:result()
    if not self.initialized then
        error('Digest not initialized', 2)
    end
    local bytes, err = C.md_final(self.ctx)
    if bytes == nil then
        error("Can't finalize digest: " .. err, 2)
    end
    self.initialized = false
    return bytes
end

function digest_mt:free()
    self.ctx, self.initialized, self.freed = nil, false, true
end

local digest_api = {}
for user_name, name in pairs(DIGESTS) do
    local usage = ('digest.%s(string)'):format(user_name)
    digest_api[user_name] = setmetatable({
        new = function()
            local digest = setmetatable({name = name}, digest_mt)
            digest:init()
            return digest
        end
    }, {
        __call = function(_, text)
            check_string(text, usage)
            local md, err = md_of(name)
            local bytes
            if md ~= nil then
                bytes, err = C.hash(md, text)
            end
            if bytes == nil then
                error("Can't init digest: " .. err, 2)
            end
            return bytes
        end
    })
end

-- HMAC ----------------------------------------------------------------------

local hmac_mt = {}
hmac_mt.__index = hmac_mt

function hmac_mt:init(key)
    if self.freed then
        error("HMAC context isn't usable", 2)
    elseif key == nil then
        error('Key should be specified for HMAC operations', 2)
    end
    check_string(key, 'hmac:init(key)')
    local err
    self.ctx, err = C.hmac_new(self.name, key)
    if self.ctx == nil then
        error("Can't init HMAC: " .. err, 2)
    end
    self.initialized = true
end

function hmac_mt:update(text)
    if not self.initialized then
        error('HMAC not initialized', 2)
    end
    check_string(text, 'hmac:update(string)')
    local ok, err = C.hmac_update(self.ctx, text)
    if not ok then
        error("Can't update HMAC: " .. err, 2)
    end
end

function hmac_mt:result()
    if not self.initialized then
        error('HMAC not initialized', 2)
    end
    local bytes, err = C.hmac_final(self.ctx)
    if bytes == nil then
        error("Can't finalize HMAC: " .. err, 2)
    end
    self.initialized = false
    return bytes
end

function hmac_mt:free()
    self.ctx, self.initialized, self.freed = nil, false, true
end

local hmac_api = {}
for user_name, name in pairs(DIGESTS) do
    local function new(key)
        local hmac = setmetatable({name = name}, hmac_mt)
        hmac:init(key)
        return hmac
    end
    local function sum(key, text, called)
        if type(text) ~= 'string' or (type(key) ~= 'string' and key ~= nil) then
            error(('Usage: hmac.%s(key, string)'):format(called), 3)
        elseif key == nil then
            error('Key should be specified for HMAC operations', 3)
        end
        local hmac = new(key)
        hmac:update(text)
        return hmac:result()
    end
    hmac_api[user_name] = setmetatable({new = new}, {
        __call = function(_, key, text)
            return (sum(key, text, user_name))
        end
    })
    hmac_api[user_name .. '_hex'] = function(key, text)
        return (sum(key, text, user_name .. '_hex'):hex())
    end
end

-- Ciphers -------------------------------------------------------------------

local cipher_mt = {}
cipher_mt.__index = cipher_mt

-- The key and the initialization vector may come one by one.
function cipher_mt:init(key, iv)
    if self.freed then
        error("Cipher context isn't usable", 2)
    end
    local cipher, err = cipher_of(self.name)
    if cipher == nil then
        C.raise('OpenSSL error: ' .. err)
    end
    local key_size, iv_size = C.cipher_sizes(cipher)
    if key ~= nil then
        check_string(key, 'cipher:init(key, iv)')
        if #key ~= key_size then
            C.raise(('key size expected %d, got %d'):format(key_size, #key))
        end
        self.key = key
    end
    if iv ~= nil then
        check_string(iv, 'cipher:init(key, iv)')
        if #iv ~= iv_size then
            C.raise(('IV size expected %d, got %d'):format(iv_size, #iv))
        end
        self.iv = iv
    end
    if self.key ~= nil and self.iv ~= nil then
        self.ctx, err = C.cipher_new(cipher, self.key, self.iv, self.encrypts)
        if self.ctx == nil then
            C.raise('OpenSSL error: ' .. err)
        end
        self.initialized = true
    end
end

function cipher_mt:update(text)
    if not self.initialized then
        error('Cipher not initialized', 2)
    end
    check_string(text, 'cipher:update(string)')
    local bytes, err = C.cipher_update(self.ctx, text)
    if bytes == nil then
        C.raise('OpenSSL error: ' .. err)
    end
    return bytes
end

function cipher_mt:result()
    if not self.initialized then
        error('Cipher not initialized', 2)
    end
    local bytes, err = C.cipher_final(self.ctx)
    if bytes == nil then
        C.raise('OpenSSL error: ' .. err)
    end
    self.initialized = false
    return bytes
end

function cipher_mt:free()
    self.ctx, self.key, self.iv, self.initialized, self.freed = nil, nil, nil, false, true
end

local function cipher_direction(name, encrypts)
    local function new(key, iv)
        local cipher = setmetatable({name = name, encrypts = encrypts}, cipher_mt)
        cipher:init(key, iv)
        return cipher
    end
    return setmetatable({new = new}, {
        __call = function(_, text, key, iv)
            local cipher = new(key, iv)
            local head = cipher:update(text)
            return head .. cipher:result()
        end
    })
end

local cipher_api = {}
for user_name, name in pairs(ALGORITHMS) do
    local modes = {}
    for _, mode in ipairs(MODES) do
        local full = ('%s-%s'):format(name, mode)
        modes[mode] = {
            encrypt = cipher_direction(full, true), decrypt = cipher_direction(full, false),
        }
    end
    cipher_api[user_name] = strict_table(modes, 'Cipher mode %s is not supported')
end

return {
    digest = strict_table(digest_api, 'Digest method "%s" is not supported'),
    hmac = strict_table(hmac_api, 'HMAC method "%s" is not supported'),
    cipher = strict_table(cipher_api, 'Cipher method "%s" is not supported'),
}
