/* SPDX-License-Identifier: BSD-2-Clause
 *
 * See password.h.
 */
#include "db/schema/password.h"

#include <string.h>
#include <sys/random.h>

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/sha.h>

#include "core/log.h"
#include "data/base64.h"
#include "data/mp.h"

const char *password_method_names[password_method_MAX] = {
	[PASSWORD_CHAP_SHA1] = "chap-sha1",
	[PASSWORD_PAP_SHA256] = "pap-sha256",
};

enum password_method password_method_by_name(const char *name, size_t len)
{
	int i = 0;
	while (i < password_method_MAX && (strlen(password_method_names[i]) != len ||
					   memcmp(password_method_names[i], name, len) != 0))
		i++;
	return i;
}

static void sha1(unsigned char out[SCRAMBLE_SIZE], const void *data, size_t size)
{
	SHA1(data, size, out);
}

static void sha256_salted(unsigned char out[PAP_HASH_SIZE], const unsigned char *salt,
			  const char *text, size_t len)
{
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();
	if (ctx == NULL || EVP_DigestInit_ex(ctx, EVP_sha256(), NULL) != 1 ||
	    EVP_DigestUpdate(ctx, salt, PAP_SALT_SIZE) != 1 ||
	    EVP_DigestUpdate(ctx, text, len) != 1 || EVP_DigestFinal_ex(ctx, out, NULL) != 1)
		panic("SHA-256 does not work");
	EVP_MD_CTX_free(ctx);
}

/* What is stored ------------------------------------------------------------ */

/** A string in base64 of exactly `size` bytes. */
static bool decode_bytes(const char **data, unsigned char *out, size_t size)
{
	unsigned char raw[PASSWORD_TEXT_SIZE];
	uint32_t len;
	if (mp_typeof(**data) != MP_STR)
		return false;
	const char *text = mp_decode_str(data, &len);
	if (len != base64_encoded_size(size) || base64_decode(text, len, raw) != size)
		return false;
	memcpy(out, raw, size);
	return true;
}

/** An empty string stands for no password. */
static bool decode_chap(struct password *password, const char **data)
{
	const char *p = *data;
	if (mp_typeof(*p) == MP_STR && mp_decode_strl(&p) == 0) {
		*data = p;
		return true;
	}
	password->has_chap = true;
	return decode_bytes(data, password->chap_hash, SCRAMBLE_SIZE);
}

/** [salt, hash] */
static bool decode_pap(struct password *password, const char **data)
{
	password->has_pap = true;
	return mp_typeof(**data) == MP_ARRAY && mp_decode_array(data) == 2 &&
	       decode_bytes(data, password->pap_salt, PAP_SALT_SIZE) &&
	       decode_bytes(data, password->pap_hash, PAP_HASH_SIZE);
}

const char *password_decode(struct password *password, const char *map)
{
	memset(password, 0, sizeof(*password));
	for (uint32_t count = mp_decode_map(&map); count > 0; count--) {
		enum password_method method = password_method_MAX;
		uint32_t len;
		if (mp_typeof(*map) == MP_STR) {
			const char *name = mp_decode_str(&map, &len);
			method = password_method_by_name(name, len);
		} else {
			mp_next(&map);
		}
		bool ok = true;
		if (method == PASSWORD_CHAP_SHA1)
			ok = decode_chap(password, &map);
		else if (method == PASSWORD_PAP_SHA256)
			ok = decode_pap(password, &map);
		else
			mp_next(&map);
		if (!ok)
			return "invalid user password";
	}
	return NULL;
}

void password_hash(const char *text, size_t len, char *out)
{
	unsigned char hash1[SCRAMBLE_SIZE], hash2[SCRAMBLE_SIZE];
	sha1(hash1, text, len);
	sha1(hash2, hash1, sizeof(hash1));
	out[base64_encode(hash2, sizeof(hash2), out)] = '\0';
}

void password_hash_pap(const char *text, size_t len, char *salt_out, char *hash_out)
{
	unsigned char salt[PAP_SALT_SIZE], hash[PAP_HASH_SIZE];
	if (getrandom(salt, sizeof(salt), 0) != sizeof(salt))
		panic("the system gives no random bytes");
	sha256_salted(hash, salt, text, len);
	salt_out[base64_encode(salt, sizeof(salt), salt_out)] = '\0';
	hash_out[base64_encode(hash, sizeof(hash), hash_out)] = '\0';
}

/* Checks -------------------------------------------------------------------- */

void password_scramble(const char *text, size_t len, const unsigned char *salt,
		       unsigned char *out)
{
	unsigned char hash1[SCRAMBLE_SIZE], seed[2 * SCRAMBLE_SIZE];
	sha1(hash1, text, len);
	memcpy(seed, salt, SCRAMBLE_SIZE);
	sha1(seed + SCRAMBLE_SIZE, hash1, sizeof(hash1));
	sha1(out, seed, sizeof(seed));
	for (int i = 0; i < SCRAMBLE_SIZE; i++)
		out[i] ^= hash1[i];
}

bool password_check_chap(const struct password *password, const unsigned char *scramble,
			 const unsigned char *salt)
{
	/* The client sent sha1(password) xor sha1(salt, sha1(sha1(password))). */
	unsigned char seed[2 * SCRAMBLE_SIZE], hash[SCRAMBLE_SIZE], check[SCRAMBLE_SIZE];
	memcpy(seed, salt, SCRAMBLE_SIZE);
	memcpy(seed + SCRAMBLE_SIZE, password->chap_hash, SCRAMBLE_SIZE);
	sha1(hash, seed, sizeof(seed));
	for (int i = 0; i < SCRAMBLE_SIZE; i++)
		hash[i] ^= scramble[i];
	sha1(check, hash, sizeof(hash));
	bool is_equal = CRYPTO_memcmp(check, password->chap_hash, SCRAMBLE_SIZE) == 0;
	return is_equal & password->has_chap;
}

bool password_check_pap(const struct password *password, const char *text, size_t len)
{
	unsigned char hash[PAP_HASH_SIZE];
	sha256_salted(hash, password->pap_salt, text, len);
	bool is_equal = CRYPTO_memcmp(hash, password->pap_hash, PAP_HASH_SIZE) == 0;
	return is_equal & password->has_pap;
}

bool password_matches(const struct password *password, const char *text, size_t len)
{
	unsigned char hash1[SCRAMBLE_SIZE], hash2[SCRAMBLE_SIZE];
	sha1(hash1, text, len);
	sha1(hash2, hash1, sizeof(hash1));
	return (password->has_chap && memcmp(hash2, password->chap_hash, SCRAMBLE_SIZE) == 0) ||
	       (password->has_pap && password_check_pap(password, text, len));
}
