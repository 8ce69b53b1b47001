/* SPDX-License-Identifier: BSD-2-Clause
 *
 * MessagePack to Lua and back: random values come back as they were, and no
 * well-formed bytes do harm. The seed is printed where a check fails.
 */
#include "harness.h"

#include "data/mp.h"
#include "lua/bridge_impl.h"

enum { DEPTH_MAX = 6 };

static uint64_t rnd_state;

static uint32_t rnd(uint32_t n)
{
	rnd_state = rnd_state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(rnd_state >> 33) % n;
}

static void put(struct buf *out, const char *begin, const char *end)
{
	buf_append(out, begin, end - begin);
}

static void put_scalar(struct buf *out)
{
	char p[64];
	uint64_t bits = ((uint64_t)rnd(1u << 31) << 33 | rnd(1u << 31)) >> rnd(64);
	switch (rnd(7)) {
	case 0: put(out, p, mp_encode_nil(p)); break;
	case 1: put(out, p, mp_encode_bool(p, rnd(2))); break;
	case 2: put(out, p, mp_encode_uint(p, bits)); break;
	case 3: put(out, p, mp_encode_int(p, -(int64_t)(bits >> 1) - 1)); break;
	case 4: put(out, p, mp_encode_double(p, (double)(bits >> 24) + 0.5)); break;
	default: {
		char text[300];
		uint32_t len = rnd(rnd(2) ? 8 : 300);
		for (uint32_t i = 0; i < len; i++)
			text[i] = (char)rnd(256);
		put(out, p, mp_encode_strl(p, len));
		buf_append(out, text, len);
	}
	}
}

/** Values that Lua keeps as they are: maps have one key, since order is not kept. */
static void put_value(struct buf *out, int depth)
{
	char p[8];
	uint32_t kind = depth < DEPTH_MAX ? rnd(6) : 5;
	if (kind == 0) {
		uint32_t count = rnd(20);
		put(out, p, mp_encode_array(p, count));
		while (count-- > 0)
			put_value(out, depth + 1);
	} else if (kind == 1) {
		put(out, p, mp_encode_map(p, 1));
		put(out, p, mp_encode_str(p, "k", 1));
		put_value(out, depth + 1);
	} else {
		put_scalar(out);
	}
}

LUA_TEST(test_there_and_back)
{
	for (uint32_t seed = 1; seed <= 3000; seed++) {
		rnd_state = seed;
		struct buf in = BUF_INIT, out = BUF_INIT;
		put_value(&in, 0);
		assert_int_equal(mp_check_whole(in.data, buf_end(&in)), 0);
		const char *p = in.data;
		lua_decode(L, &p, &lua_codec_default);
		assert_ptr_equal(p, buf_end(&in));
		assert_int_equal(lua_gettop(L), 1);
		lua_encode(L, 1, &out, &lua_codec_default);
		if (out.size != in.size || memcmp(out.data, in.data, in.size) != 0)
			fail_msg("seed %u", seed);
		lua_settop(L, 0);
		buf_free(&in);
		buf_free(&out);
	}
}

static int decode_protected(lua_State *L)
{
	const char *p = lua_touserdata(L, 1);
	lua_decode(L, &p, &lua_codec_default);
	return 0;
}

LUA_TEST(test_any_bytes)
{
	uint32_t good = 0;
	for (uint32_t seed = 1; seed <= 30000; seed++) {
		rnd_state = seed;
		char bytes[24];
		for (size_t i = 0; i < sizeof(bytes); i++)
			bytes[i] = (char)(rnd(3) ? rnd(256) : 0x80 + rnd(0x20) + 0x40 * rnd(2));
		const char *p = bytes;
		if (mp_check_value(&p, bytes + sizeof(bytes)) != 0)
			continue;
		good++;
		lua_pushcfunction(L, decode_protected);
		lua_pushlightuserdata(L, bytes);
		/* An unknown extension is an error; nothing else is. */
		if (lua_pcall(L, 1, 0, 0) != 0)
			assert_non_null(strstr(lua_tostring(L, -1), "extension"));
		lua_settop(L, 0);
	}
	assert_true(good > 1000);
}

LUA_TEST(test_deepest)
{
	struct buf in = BUF_INIT;
	for (int i = 0; i < MP_DEPTH_MAX - 1; i++)
		*buf_alloc(&in, 1) = (char)0x91;
	*buf_alloc(&in, 1) = 1;
	assert_int_equal(mp_check_whole(in.data, buf_end(&in)), 0);
	const char *p = in.data;
	lua_decode(L, &p, &lua_codec_default);
	assert_ptr_equal(p, buf_end(&in));
	buf_free(&in);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_there_and_back),
		cmocka_unit_test(test_any_bytes),
		cmocka_unit_test(test_deepest),
	};
	return cmocka_run_group_tests_name("lua/codec", tests, lua_setup, lua_teardown);
}
