/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Checksums and hashes for scripts that OpenSSL has not: what digest.lua is made from.
 * Those in FFI neither yield nor run Lua.
 *
 * MurmurHash3, the 32-bit one, is Austin Appleby's algorithm (public domain). The
 * consistent hash is that of Lamping and Veach, "A Fast, Minimal Memory, Consistent
 * Hash Algorithm" (2014), which Guava has too.
 */
#include <endian.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <string.h>

#include "core/worker.h"
#include "data/base64.h"
#include "lua/bridge.h"
#include "lua/modules.h"

/** A MurmurHash3 of bytes that come in pieces. Known to digest.lua. */
struct tarn_murmur {
	uint32_t state;
	uint32_t size;
	/** The last 0 to 3 bytes, which fill no word yet. */
	unsigned char tail[4];
};

static uint32_t rotate_left(uint32_t x, int by)
{
	return x << by | x >> (32 - by);
}

static uint32_t murmur_scramble(uint32_t word)
{
	return rotate_left(word * 0xcc9e2d51, 15) * 0x1b873593;
}

static uint32_t word_of(const unsigned char *p, unsigned size)
{
	uint32_t word = 0;
	for (unsigned i = 0; i < size; i++)
		word |= (uint32_t)p[i] << 8 * i;
	return word;
}

static void murmur_word(struct tarn_murmur *m, const void *p)
{
	uint32_t word;
	memcpy(&word, p, sizeof(word));
	m->state ^= murmur_scramble(le32toh(word));
	m->state = rotate_left(m->state, 13) * 5 + 0xe6546b64;
}

void tarn_murmur_update(struct tarn_murmur *m, const char *data, size_t size);
uint32_t tarn_murmur_result(const struct tarn_murmur *m);
uint32_t tarn_murmur_hash(const char *data, size_t size, uint32_t seed);
int32_t tarn_consistent_hash(uint64_t key, int32_t buckets);

/** Takes `size` more bytes in. */
void tarn_murmur_update(struct tarn_murmur *m, const char *data, size_t size)
{
	const char *end = data + size;
	while (data < end && m->size % 4 != 0) {
		m->tail[m->size++ % 4] = *data++;
		if (m->size % 4 == 0)
			murmur_word(m, m->tail);
	}
	m->size += end - data;
	for (; end - data >= 4; data += 4)
		murmur_word(m, data);
	if (m->size % 4 != 0 && data < end)
		memcpy(m->tail, data, end - data);
}

uint32_t tarn_murmur_hash(const char *data, size_t size, uint32_t seed)
{
	struct tarn_murmur m = {.state = seed};
	tarn_murmur_update(&m, data, size);
	return tarn_murmur_result(&m);
}

/** The hash of what came so far. */
uint32_t tarn_murmur_result(const struct tarn_murmur *m)
{
	uint32_t h = m->state ^ murmur_scramble(word_of(m->tail, m->size % 4)) ^ m->size;
	h = (h ^ h >> 16) * 0x85ebca6b;
	h = (h ^ h >> 13) * 0xc2b2ae35;
	return h ^ h >> 16;
}

/** The bucket, from 0, of the key; few keys move when `buckets` grows. 0 where there are none. */
int32_t tarn_consistent_hash(uint64_t key, int32_t buckets)
{
	int64_t bucket = 0, next = 0;
	while (next < buckets) {
		bucket = next;
		key = key * 2862933555777941757ULL + 1;
		next = (bucket + 1) * ((double)(1LL << 31) / (double)((key >> 33) + 1));
	}
	return bucket;
}

/* PBKDF2 ----------------------------------------------------------------- */

enum { PBKDF2_SIZE_MAX = 128 };

struct pbkdf2 {
	const char *password, *salt;
	size_t password_size, salt_size;
	int iterations, size;
	unsigned char out[PBKDF2_SIZE_MAX];
};

static int pbkdf2_run(void *arg)
{
	struct pbkdf2 *p = arg;
	return PKCS5_PBKDF2_HMAC(p->password, p->password_size, (const unsigned char *)p->salt,
				 p->salt_size, p->iterations, EVP_sha256(), p->size, p->out);
}

/** (password, salt, iterations, size) -> bytes, or nil. In a worker thread: yields. */
static int digest_pbkdf2(lua_State *L)
{
	struct pbkdf2 p;
	p.password = luaL_checklstring(L, 1, &p.password_size);
	p.salt = luaL_checklstring(L, 2, &p.salt_size);
	p.iterations = luaL_checkinteger(L, 3);
	p.size = luaL_checkinteger(L, 4);
	if (p.iterations < 1 || p.size < 0 || p.size > PBKDF2_SIZE_MAX ||
	    worker_call(pbkdf2_run, &p) != 1)
		return 0;
	lua_pushlstring(L, (char *)p.out, p.size);
	return 1;
}

/* Bytes ------------------------------------------------------------------ */

/** (size) -> as many random bytes, fit for keys. */
static int digest_urandom(lua_State *L)
{
	int size = luaL_checkinteger(L, 1);
	if (size < 0)
		return luaL_error(L, "digest.urandom: the size is negative");
	struct buf *out = lua_scratch_get();
	unsigned char *p = (unsigned char *)buf_reserve(out, size);
	bool ok = RAND_bytes(p, size) == 1;
	if (ok)
		lua_pushlstring(L, (char *)p, size);
	lua_scratch_put(out);
	return ok ? 1 : luaL_error(L, "digest.urandom: no random bytes to be had");
}

/** (text) -> Base64 in one line, padded. */
/** Characters of a line of Base64. One that is full ends with a line break, unless padded. */
enum { BASE64_LINE = 72 };

/** Breaks the `size` characters at `from` into lines, from `to` on, which is before; their end. */
static char *base64_wrap(char *to, const char *from, size_t size)
{
	for (; size >= BASE64_LINE; from += BASE64_LINE, size -= BASE64_LINE) {
		memmove(to, from, BASE64_LINE);
		to += BASE64_LINE;
		if (size > BASE64_LINE || to[-1] != '=')
			*to++ = '\n';
	}
	memmove(to, from, size);
	return to + size;
}

/** base64_encode(string, urlsafe, nopad, nowrap) */
static int digest_base64_encode(lua_State *L)
{
	size_t size;
	const char *data = luaL_checklstring(L, 1, &size);
	bool is_urlsafe = lua_toboolean(L, 2), has_no_pad = is_urlsafe || lua_toboolean(L, 3);
	size_t encoded = base64_encoded_size(size), line_count = encoded / BASE64_LINE;
	struct buf *out = lua_scratch_get();
	char *room = buf_reserve(out, encoded + line_count), *text = room + line_count;
	size_t len = is_urlsafe ? base64_encode_url(data, size, text) :
				  base64_encode(data, size, text);
	while (has_no_pad && len > 0 && text[len - 1] == '=')
		len--;
	if (is_urlsafe || lua_toboolean(L, 4))
		lua_pushlstring(L, text, len);
	else
		lua_pushlstring(L, room, base64_wrap(room, text, len) - room);
	lua_scratch_put(out);
	return 1;
}

static int digest_base64_decode(lua_State *L)
{
	size_t size;
	const char *data = luaL_checklstring(L, 1, &size);
	struct buf *out = lua_scratch_get();
	char *p = buf_reserve(out, base64_decoded_size_max(size));
	lua_pushlstring(L, p, base64_decode_any(data, size, p));
	lua_scratch_put(out);
	return 1;
}

void lua_digest_init(lua_State *L)
{
	static const luaL_Reg functions[] = {
		{"pbkdf2", digest_pbkdf2},
		{"urandom", digest_urandom},
		{"base64_encode", digest_base64_encode},
		{"base64_decode", digest_base64_decode},
		{NULL, NULL},
	};
	lua_new_module(L, "internal.digest", functions);
	lua_pop(L, 1);
	lua_load_embedded(L, "digest.lua", "digest");
}
