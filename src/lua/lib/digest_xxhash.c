/* SPDX-License-Identifier: BSD-2-Clause
 *
 * xxHash of 32 and 64 bits (libxxhash) for digest_xxhash.lua, which reaches these by FFI: none of
 * them yields or runs Lua.
 */
#include <xxhash.h>

#include "lua/bridge.h"
#include "lua/modules.h"

uint32_t tarn_xxh32(const char *data, size_t size, uint32_t seed);
uint64_t tarn_xxh64(const char *data, size_t size, uint64_t seed);
void *tarn_xxh32_new(void);
void *tarn_xxh64_new(void);
void tarn_xxh32_free(void *state);
void tarn_xxh64_free(void *state);
void tarn_xxh32_reset(void *state, uint32_t seed);
void tarn_xxh64_reset(void *state, uint64_t seed);
void tarn_xxh32_update(void *state, const char *data, size_t size);
void tarn_xxh64_update(void *state, const char *data, size_t size);
uint32_t tarn_xxh32_digest(const void *state);
uint64_t tarn_xxh64_digest(const void *state);

/* The same for both sizes: a hash at once; a state (NULL: no memory), its seed, bytes, its hash. */
#define XXHASH(lower, upper, type)                                                    \
	type tarn_##lower(const char *data, size_t size, type seed)                   \
	{                                                                             \
		return upper(data, size, seed);                                       \
	}                                                                             \
	void *tarn_##lower##_new(void)                                                \
	{                                                                             \
		return upper##_createState();                                         \
	}                                                                             \
	void tarn_##lower##_free(void *state)                                         \
	{                                                                             \
		upper##_freeState(state);                                             \
	}                                                                             \
	void tarn_##lower##_reset(void *state, type seed)                             \
	{                                                                             \
		upper##_reset(state, seed);                                           \
	}                                                                             \
	void tarn_##lower##_update(void *state, const char *data, size_t size)        \
	{                                                                             \
		upper##_update(state, data, size);                                    \
	}                                                                             \
	type tarn_##lower##_digest(const void *state)                                 \
	{                                                                             \
		return upper##_digest(state);                                         \
	}

XXHASH(xxh32, XXH32, uint32_t)
XXHASH(xxh64, XXH64, uint64_t)

void lua_xxhash_init(lua_State *L)
{
	lua_load_embedded(L, "digest_xxhash.lua", "internal.digest_xxhash");
}
