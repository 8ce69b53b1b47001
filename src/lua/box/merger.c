/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What the module merger (merger.lua) does with buffers: reading tuples one by one from
 * MessagePack arrays in them, and writing an array of tuples.
 */
#include <string.h>

#include "data/mp.h"
#include "db/error.h"
#include "db/tuple/format.h"
#include "lua/bridge_impl.h"
#include "lua/box/tuple.h"
#include "lua/modules.h"
#include "lua/value/buffer.h"

/** The buffer at `idx`, or NULL. */
static struct lua_ibuf *to_ibuf(lua_State *L, int idx)
{
	void *payload;
	return lua_cdata(L, idx, &payload) == CDATA_IBUF ? payload : NULL;
}

static struct lua_ibuf *check_ibuf(lua_State *L, int idx)
{
	struct lua_ibuf *b = to_ibuf(L, idx);
	if (b == NULL)
		luaL_error(L, "a buffer expected");
	return b;
}

static int is_buffer(lua_State *L)
{
	lua_pushboolean(L, to_ibuf(L, 1) != NULL);
	return 1;
}

static int throw_end(lua_State *L)
{
	diag_set(IllegalParams, "Unexpected msgpack buffer end");
	return lua_throw(L);
}

/** (buffer): reads the head of an array; its length, 0 for an empty buffer. */
static int read_head(lua_State *L)
{
	struct lua_ibuf *b = check_ibuf(L, 1);
	uint32_t count = 0;
	if (b->rpos < b->wpos) {
		const char *pos = b->rpos;
		if (mp_typeof(*pos) != MP_ARRAY) {
			diag_set(IllegalParams, "Invalid merge source %p", (void *)b);
			return lua_throw(L);
		}
		if (mp_check_array(pos, b->wpos) > 0)
			return throw_end(L);
		count = mp_decode_array(&pos);
		b->rpos += pos - b->rpos;
	}
	lua_pushnumber(L, count);
	return 1;
}

/** (buffer): reads a tuple. */
static int read_tuple(lua_State *L)
{
	struct lua_ibuf *b = check_ibuf(L, 1);
	const char *begin = b->rpos, *end = begin;
	if (begin >= b->wpos || mp_check_value(&end, b->wpos) != 0)
		return throw_end(L);
	if (mp_typeof(*begin) != MP_ARRAY) {
		client_error(ER_TUPLE_NOT_ARRAY);
		return lua_throw(L);
	}
	lua_push_new_tuple(L, tuple_format_default, 0, begin, end);
	b->rpos += end - begin;
	return 1;
}

/** (buffer, list of tuples): appends them as an array, whose head always has five bytes. */
static int write_tuples(lua_State *L)
{
	struct lua_ibuf *b = check_ibuf(L, 1);
	size_t count = lua_objlen(L, 2);
	char *pos = lua_ibuf_reserve(b, 5);
	*pos++ = (char)0xdd;
	mp_store_u32(pos, count);
	b->wpos = pos + 4;
	for (size_t i = 1; i <= count; i++) {
		lua_rawgeti(L, 2, (int)i);
		uint32_t size;
		const char *data = lua_tuple_data(lua_check_tuple(L, -1, "a tuple expected"),
						  &size);
		memcpy(lua_ibuf_reserve(b, size), data, size);
		b->wpos += size;
		lua_pop(L, 1);
	}
	return 0;
}

void lua_merger_init(lua_State *L)
{
	static const luaL_Reg functions[] = {
		{"is_buffer", is_buffer}, {"read_head", read_head}, {"read_tuple", read_tuple},
		{"write_tuples", write_tuples},
		{NULL, NULL},
	};
	lua_new_module(L, "tarn.merger", functions);
}
