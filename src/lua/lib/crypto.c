/* SPDX-License-Identifier: BSD-2-Clause
 *
 * OpenSSL for scripts: message digests, HMAC and ciphers. `crypto.lua` and `digest.lua`
 * are made from these; nothing here yields.
 *
 * Each function returns its result, or nil and OpenSSL's text. Digests and ciphers that
 * OpenSSL 3 calls legacy (MD4, DES) come from its legacy provider, in a library context
 * of its own, where that is installed.
 */
#include <limits.h>
#include <string.h>

#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/provider.h>

#include "lua/bridge.h"
#include "lua/modules.h"

/** nil and the text of OpenSSL's first error in its queue, which is emptied. */
static int push_openssl_error(lua_State *L)
{
	char text[256];
	ERR_error_string_n(ERR_get_error(), text, sizeof(text));
	ERR_clear_error();
	lua_pushnil(L);
	lua_pushstring(L, text);
	return 2;
}

static const struct error_type type_CryptoError = {"CryptoError", NULL};

/** (text) raises an error object of the type CryptoError. */
static int crypto_raise(lua_State *L)
{
	diag_set(CryptoError, "%s", luaL_checkstring(L, 1));
	return lua_throw(L);
}

/** The library context with the legacy algorithms, made at the first need; NULL: there is none. */
static OSSL_LIB_CTX *legacy_context(void)
{
	static OSSL_LIB_CTX *context;
	if (context == NULL && (context = OSSL_LIB_CTX_new()) != NULL) {
		OSSL_PROVIDER_load(context, "default");
		OSSL_PROVIDER_load(context, "legacy");
	}
	return context;
}

/* Algorithms --------------------------------------------------------------- */

static struct lua_class digest_algorithm = {.name = "crypto.digest_algorithm"};
static struct lua_class cipher_algorithm = {.name = "crypto.cipher_algorithm"};

/** Pushes an object of the class that has no algorithm yet; where that belongs. */
static void **push_algorithm(lua_State *L, const struct lua_class *class)
{
	void **algorithm = lua_newuserdata(L, sizeof(*algorithm));
	*algorithm = NULL;
	lua_class_set(L, class);
	return algorithm;
}

static void *check_algorithm(lua_State *L, const struct lua_class *class)
{
	void **algorithm = lua_class_check(L, 1, class);
	return *algorithm;
}

/** (name) -> the algorithm. */
static int crypto_md(lua_State *L)
{
	const char *name = luaL_checkstring(L, 1);
	void **md = push_algorithm(L, &digest_algorithm);
	*md = EVP_MD_fetch(NULL, name, NULL);
	if (*md == NULL)
		*md = EVP_MD_fetch(legacy_context(), name, NULL);
	if (*md == NULL)
		return push_openssl_error(L);
	ERR_clear_error();
	return 1;
}

static int crypto_md_algorithm_gc(lua_State *L)
{
	void **md = lua_class_check(L, 1, &digest_algorithm);
	EVP_MD_free(*md);
	*md = NULL;
	return 0;
}

/** (name) -> the algorithm, as crypto_md(). */
static int crypto_cipher(lua_State *L)
{
	const char *name = luaL_checkstring(L, 1);
	void **cipher = push_algorithm(L, &cipher_algorithm);
	*cipher = EVP_CIPHER_fetch(NULL, name, NULL);
	if (*cipher == NULL)
		*cipher = EVP_CIPHER_fetch(legacy_context(), name, NULL);
	if (*cipher == NULL)
		return push_openssl_error(L);
	ERR_clear_error();
	return 1;
}

static int crypto_cipher_algorithm_gc(lua_State *L)
{
	void **cipher = lua_class_check(L, 1, &cipher_algorithm);
	EVP_CIPHER_free(*cipher);
	*cipher = NULL;
	return 0;
}

/* Digests ------------------------------------------------------------------ */

/** (md, text) -> the digest's bytes. */
static int crypto_hash(lua_State *L)
{
	const EVP_MD *md = check_algorithm(L, &digest_algorithm);
	size_t size;
	const char *data = luaL_checklstring(L, 2, &size);
	unsigned char out[EVP_MAX_MD_SIZE];
	unsigned int out_size;
	if (EVP_Digest(data, size, out, &out_size, md, NULL) != 1)
		return push_openssl_error(L);
	lua_pushlstring(L, (char *)out, out_size);
	return 1;
}

/* Digests in pieces ------------------------------------------------------ */

static struct lua_class md_class = {.name = "crypto.md"};

/** (md) -> a digest that has seen nothing yet. */
static int crypto_md_new(lua_State *L)
{
	const EVP_MD *md = check_algorithm(L, &digest_algorithm);
	EVP_MD_CTX **ctx = lua_newuserdata(L, sizeof(*ctx));
	*ctx = NULL;
	lua_class_set(L, &md_class);
	*ctx = EVP_MD_CTX_new();
	if (*ctx == NULL || EVP_DigestInit_ex2(*ctx, md, NULL) != 1)
		return push_openssl_error(L);
	return 1;
}

/** (digest, text) -> true. */
static int crypto_md_update(lua_State *L)
{
	EVP_MD_CTX **ctx = lua_class_check(L, 1, &md_class);
	size_t size;
	const char *data = luaL_checklstring(L, 2, &size);
	if (EVP_DigestUpdate(*ctx, data, size) != 1)
		return push_openssl_error(L);
	lua_pushboolean(L, true);
	return 1;
}

/** (digest) -> its bytes; it can be used no more. */
static int crypto_md_final(lua_State *L)
{
	EVP_MD_CTX **ctx = lua_class_check(L, 1, &md_class);
	unsigned char out[EVP_MAX_MD_SIZE];
	unsigned int size;
	if (EVP_DigestFinal_ex(*ctx, out, &size) != 1)
		return push_openssl_error(L);
	lua_pushlstring(L, (char *)out, size);
	return 1;
}

static int crypto_md_gc(lua_State *L)
{
	EVP_MD_CTX **ctx = lua_class_check(L, 1, &md_class);
	EVP_MD_CTX_free(*ctx);
	*ctx = NULL;
	return 0;
}

/* HMAC ------------------------------------------------------------------- */

static struct lua_class hmac_class = {.name = "crypto.hmac"};

/** (name of the digest, key) -> an HMAC that has seen nothing yet. */
static int crypto_hmac_new(lua_State *L)
{
	static EVP_MAC *hmac, *hmac_legacy;
	const char *name = luaL_checkstring(L, 1);
	size_t key_size;
	const char *key = luaL_checklstring(L, 2, &key_size);
	EVP_MAC_CTX **ctx = lua_newuserdata(L, sizeof(*ctx));
	*ctx = NULL;
	lua_class_set(L, &hmac_class);
	bool is_legacy = strcmp(name, "MD4") == 0;
	EVP_MAC **mac = is_legacy ? &hmac_legacy : &hmac;
	if (*mac == NULL)
		*mac = EVP_MAC_fetch(is_legacy ? legacy_context() : NULL, "HMAC", NULL);
	OSSL_PARAM params[] = {
		OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, (char *)name, 0),
		OSSL_PARAM_construct_end(),
	};
	if (*mac == NULL || (*ctx = EVP_MAC_CTX_new(*mac)) == NULL ||
	    EVP_MAC_init(*ctx, (const unsigned char *)key, key_size, params) != 1)
		return push_openssl_error(L);
	return 1;
}

/** (hmac, text) -> true. */
static int crypto_hmac_update(lua_State *L)
{
	EVP_MAC_CTX **ctx = lua_class_check(L, 1, &hmac_class);
	size_t size;
	const char *data = luaL_checklstring(L, 2, &size);
	if (EVP_MAC_update(*ctx, (const unsigned char *)data, size) != 1)
		return push_openssl_error(L);
	lua_pushboolean(L, true);
	return 1;
}

/** (hmac) -> its bytes; it can be used no more. */
static int crypto_hmac_final(lua_State *L)
{
	EVP_MAC_CTX **ctx = lua_class_check(L, 1, &hmac_class);
	unsigned char out[EVP_MAX_MD_SIZE];
	size_t size;
	if (EVP_MAC_final(*ctx, out, &size, sizeof(out)) != 1)
		return push_openssl_error(L);
	lua_pushlstring(L, (char *)out, size);
	return 1;
}

static int crypto_hmac_gc(lua_State *L)
{
	EVP_MAC_CTX **ctx = lua_class_check(L, 1, &hmac_class);
	EVP_MAC_CTX_free(*ctx);
	*ctx = NULL;
	return 0;
}

/* Ciphers ---------------------------------------------------------------- */

static struct lua_class cipher_class = {.name = "crypto.cipher"};

/** (cipher) -> the bytes of its key and of its initialization vector. */
static int crypto_cipher_sizes(lua_State *L)
{
	const EVP_CIPHER *cipher = check_algorithm(L, &cipher_algorithm);
	lua_pushinteger(L, EVP_CIPHER_get_key_length(cipher));
	lua_pushinteger(L, EVP_CIPHER_get_iv_length(cipher));
	return 2;
}

/** (cipher, key, iv, encrypts) -> a cipher at work. Key and iv have the cipher's sizes. */
static int crypto_cipher_new(lua_State *L)
{
	const EVP_CIPHER *cipher = check_algorithm(L, &cipher_algorithm);
	size_t key_size, iv_size;
	const char *key = luaL_checklstring(L, 2, &key_size);
	const char *iv = luaL_checklstring(L, 3, &iv_size);
	if (key_size != (size_t)EVP_CIPHER_get_key_length(cipher) ||
	    iv_size != (size_t)EVP_CIPHER_get_iv_length(cipher))
		return luaL_error(L, "wrong size of the key or the initialization vector");
	EVP_CIPHER_CTX **ctx = lua_newuserdata(L, sizeof(*ctx));
	*ctx = NULL;
	lua_class_set(L, &cipher_class);
	*ctx = EVP_CIPHER_CTX_new();
	if (*ctx == NULL ||
	    EVP_CipherInit_ex2(*ctx, cipher, (const unsigned char *)key, (const unsigned char *)iv,
			       lua_toboolean(L, 4), NULL) != 1)
		return push_openssl_error(L);
	return 1;
}

/** (cipher, text) -> what can be told of the output so far. */
static int crypto_cipher_update(lua_State *L)
{
	EVP_CIPHER_CTX **ctx = lua_class_check(L, 1, &cipher_class);
	size_t size;
	const char *data = luaL_checklstring(L, 2, &size);
	if (size > INT_MAX - EVP_MAX_BLOCK_LENGTH)
		return luaL_error(L, "the text is too long: %f bytes", (double)size);
	struct buf *out = lua_scratch_get();
	unsigned char *p = (unsigned char *)buf_reserve(out, size + EVP_MAX_BLOCK_LENGTH);
	int out_size = 0;
	int rc = EVP_CipherUpdate(*ctx, p, &out_size, (const unsigned char *)data, size);
	lua_pushlstring(L, (char *)p, rc == 1 ? out_size : 0);
	lua_scratch_put(out);
	return rc == 1 ? 1 : push_openssl_error(L);
}

/** (cipher) -> the rest of the output; it can be used no more. */
static int crypto_cipher_final(lua_State *L)
{
	EVP_CIPHER_CTX **ctx = lua_class_check(L, 1, &cipher_class);
	unsigned char out[EVP_MAX_BLOCK_LENGTH];
	int size;
	if (EVP_CipherFinal_ex(*ctx, out, &size) != 1)
		return push_openssl_error(L);
	lua_pushlstring(L, (char *)out, size);
	return 1;
}

static int crypto_cipher_gc(lua_State *L)
{
	EVP_CIPHER_CTX **ctx = lua_class_check(L, 1, &cipher_class);
	EVP_CIPHER_CTX_free(*ctx);
	*ctx = NULL;
	return 0;
}

void lua_crypto_init(lua_State *L)
{
	static const luaL_Reg functions[] = {
		{"raise", crypto_raise},
		{"md", crypto_md},
		{"hash", crypto_hash},
		{"md_new", crypto_md_new},
		{"md_update", crypto_md_update},
		{"md_final", crypto_md_final},
		{"hmac_new", crypto_hmac_new},
		{"hmac_update", crypto_hmac_update},
		{"hmac_final", crypto_hmac_final},
		{"cipher", crypto_cipher},
		{"cipher_sizes", crypto_cipher_sizes},
		{"cipher_new", crypto_cipher_new},
		{"cipher_update", crypto_cipher_update},
		{"cipher_final", crypto_cipher_final},
		{NULL, NULL},
	};
	lua_class_new_with_gc(L, &digest_algorithm, crypto_md_algorithm_gc);
	lua_class_new_with_gc(L, &cipher_algorithm, crypto_cipher_algorithm_gc);
	lua_class_new_with_gc(L, &md_class, crypto_md_gc);
	lua_class_new_with_gc(L, &hmac_class, crypto_hmac_gc);
	lua_class_new_with_gc(L, &cipher_class, crypto_cipher_gc);
	lua_new_module(L, "internal.crypto", functions);
	lua_pop(L, 1);
	lua_load_embedded(L, "crypto.lua", "crypto");
}
