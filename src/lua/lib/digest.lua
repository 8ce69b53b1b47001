-- SPDX-License-Identifier: BSD-2-Clause
--
-- The module `digest`: hashes, checksums, Base64, keys from passwords. Manual: module digest.
local ffi = require('ffi')
local C = require('internal.digest')
local crypto = require('crypto')
local xxhash = require('internal.digest_xxhash')

ffi.cdef[[
/* None of these yields or runs Lua. */
struct tarn_murmur { uint32_t state, size; unsigned char tail[4]; };
void tarn_murmur_update(struct tarn_murmur *m, const char *data, size_t size);
uint32_t tarn_murmur_result(const struct tarn_murmur *m);
uint32_t tarn_murmur_hash(const char *data, size_t size, uint32_t seed);
int32_t tarn_consistent_hash(uint64_t key, int32_t buckets);
uint32_t crc32c(uint32_t crc, const char *data, size_t size);
]]
local lib = ffi.C

local digest = {}

-- MurmurHash3 ---------------------------------------------------------------

local MURMUR_SEED = 13
local murmur_t = ffi.typeof('struct tarn_murmur')

local murmur_mt = {}
murmur_mt.__index = murmur_mt

local function murmur_new(options)
    local seed = options and options.seed or MURMUR_SEED
    local m = setmetatable({seed = seed, default_seed = MURMUR_SEED}, murmur_mt)
    m:clear()
    return m
end

function murmur_mt:update(text)
    if type(text) ~= 'string' then
        error('Usage: murhash:update(string)', 2)
    end
    lib.tarn_murmur_update(self.state, text, #text)
end

function murmur_mt:result()
    return lib.tarn_murmur_result(self.state)
end

function murmur_mt:clear()
    self.state = ffi.new(murmur_t, self.seed)
end

function murmur_mt:copy()
    local m = murmur_new(self)
    ffi.copy(m.state, self.state, ffi.sizeof(murmur_t))
    return m
end

digest.murmur = setmetatable({new = murmur_new, default_seed = MURMUR_SEED}, {
    __call = function(_, text)
        if type(text) ~= 'string' then
            error('Usage: digest.murhash(string)', 2)
        end
        return lib.tarn_murmur_hash(text, #text, MURMUR_SEED)
    end
})

-- CRC-32C -------------------------------------------------------------------

local CRC_BEGIN = 4294967295

local crc_mt = {}
crc_mt.__index = crc_mt

local function crc_new()
    return setmetatable({value = CRC_BEGIN}, crc_mt)
end

function crc_mt:update(text)
    if type(text) ~= 'string' then
        error('Usage crc32:update(string)', 2)
    end
    self.value = lib.crc32c(self.value, text, #text)
end

function crc_mt:result()
    return self.value
end

function crc_mt:clear()
    self.value = CRC_BEGIN
end

function crc_mt:copy()
    local crc = crc_new()
    crc.value = self.value
    return crc
end

digest.crc32 = setmetatable({new = crc_new, crc_begin = CRC_BEGIN}, {
    __call = function(_, text)
        if type(text) ~= 'string' then
            error('Usage digest.crc32(string)', 2)
        end
        return lib.crc32c(CRC_BEGIN, text, #text)
    end
})

function digest.crc32_update(crc, text)
    if type(text) ~= 'string' then
        error('Usage: digest.crc32_update(string)', 2)
    end
    return lib.crc32c(tonumber(crc), text, #text)
end

-- Cryptographic hashes, by OpenSSL --------------------------------------------

for _, name in ipairs({'md4', 'md5', 'sha224', 'sha256', 'sha384', 'sha512'}) do
    local hash = crypto.digest[name]
    local usage = ('Usage: digest.%s_hex(string)'):format(name)
    digest[name] = function(text)
        return hash(text)
    end
    digest[name .. '_hex'] = function(text)
        if type(text) ~= 'string' then
            error(usage, 2)
        end
        return hash(text):hex()
    end
end

function digest.sha1(text)
    if type(text) ~= 'string' then
        error('Usage: digest.sha1(string)', 2)
    end
    return crypto.digest.sha1(text)
end

function digest.sha1_hex(text)
    if type(text) ~= 'string' then
        error('Usage: digest.sha1_hex(string)', 2)
    end
    return crypto.digest.sha1(text):hex()
end

digest.aes256cbc = {
    encrypt = function(text, key, iv)
        return crypto.cipher.aes256.cbc.encrypt(text, key, iv)
    end,
    decrypt = function(text, key, iv)
        return crypto.cipher.aes256.cbc.decrypt(text, key, iv)
    end,
}

-- Keys from passwords ---------------------------------------------------------

local PBKDF2_ITERATIONS, PBKDF2_SIZE = 100000, 128

local function pbkdf2(password, salt, iterations, size)
    iterations, size = iterations or PBKDF2_ITERATIONS, size or PBKDF2_SIZE
    if type(iterations) ~= 'number' then
        error('iters must be a number', 3)
    elseif type(size) ~= 'number' then
        error('digest_len must be a number', 3)
    elseif size > PBKDF2_SIZE then
        error('too big digest size', 3)
    end
    return C.pbkdf2(password, salt, iterations, size)
end

-- In a worker thread: yields.
function digest.pbkdf2(password, salt, iterations, size)
    if type(password) ~= 'string' or type(salt) ~= 'string' then
        error('Usage: digest.pbkdf2(pass, salt[,iters][,digest_len])', 2)
    end
    return (pbkdf2(password, salt, iterations, size))
end

function digest.pbkdf2_hex(password, salt, iterations, size)
    if type(password) ~= 'string' or type(salt) ~= 'string' then
        error('Usage: digest.pbkdf2_hex(pass, salt)', 2)
    end
    return string.hex(pbkdf2(password, salt, iterations, size))
end

-- Base64 ----------------------------------------------------------------------

function digest.base64_encode(text, options)
    if type(text) ~= 'string' or (options ~= nil and type(options) ~= 'table') then
        error('Usage: digest.base64_encode(string[, table])', 2)
    end
    if options == nil then
        return C.base64_encode(text)
    end
    return C.base64_encode(text, options.urlsafe, options.nopad, options.nowrap)
end

-- Characters that are none of Base64's are skipped, padding too.
function digest.base64_decode(text)
    if type(text) ~= 'string' then
        error('Usage: digest.base64_decode(string)', 2)
    end
    return C.base64_decode(text)
end

digest.xxhash32, digest.xxhash64 = xxhash.xxhash32, xxhash.xxhash64

-- Others ------------------------------------------------------------------------

function digest.urandom(size)
    if size == nil then
        error('Usage: digest.urandom(len)', 2)
    end
    return C.urandom(type(size) == 'cdata' and tonumber(size) or size)
end

function digest.guava(key, buckets)
    if type(key) == 'number' and key < 0 then
        key = ffi.cast('int64_t', key) -- what a negative number is without a sign, LuaJIT leaves open
    end
    return lib.tarn_consistent_hash(key, buckets)
end

return digest
