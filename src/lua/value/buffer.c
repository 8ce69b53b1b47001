/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The module `buffer`: ibuf, a buffer that is written at its end and read from its
 * beginning. The methods are in buffer.lua; here is its memory.
 */
#include "lua/value/buffer.h"

#include <stdint.h>
#include <string.h>

#include "core/log.h"
#include "core/memory.h"
#include "lua/bridge.h"
#include "lua/modules.h"

/** More is refused: Lua's numbers and pointers cannot make sense of it. */
static const size_t IBUF_SIZE_MAX = (size_t)1 << 46;

char *lua_ibuf_try_reserve(struct lua_ibuf *b, size_t size)
{
	size_t used = b->wpos - b->rpos, capacity = b->epos - b->buf;
	if ((b->buf != NULL || size == 0) && size <= (size_t)(b->epos - b->wpos))
		return b->wpos;
	if (used + size <= capacity) {
		memmove(b->buf, b->rpos, used);
	} else {
		capacity = capacity > 0 ? capacity * 2 : b->start_capacity;
		while (capacity < used + size)
			capacity = capacity > 0 ? capacity * 2 : 64;
		char *data = mem_try(capacity);
		if (data == NULL) {
			capacity = used + size;
			data = mem_try(capacity);
		}
		if (data == NULL)
			return NULL;
		if (used > 0)
			memcpy(data, b->rpos, used);
		xfree(b->buf);
		b->buf = data;
		b->epos = data + capacity;
	}
	b->rpos = b->buf;
	b->wpos = b->buf + used;
	return b->wpos;
}

char *lua_ibuf_reserve(struct lua_ibuf *b, size_t size)
{
	char *room = lua_ibuf_try_reserve(b, size);
	if (room == NULL && size > 0)
		panic("no memory for a buffer of %zu bytes", size);
	return room;
}

/* By FFI: neither yield nor run Lua. */

char *tarn_ibuf_reserve(struct lua_ibuf *b, double size);
void tarn_ibuf_free(struct lua_ibuf *b);

/** NULL without memory and where the size or the fields, which scripts can set, make no sense. */
char *tarn_ibuf_reserve(struct lua_ibuf *b, double size)
{
	if (!(size >= 0 && size < (double)IBUF_SIZE_MAX) || b->rpos < b->buf ||
	    b->wpos < b->rpos || b->epos < b->wpos)
		return NULL;
	return lua_ibuf_try_reserve(b, (size_t)size);
}

void tarn_ibuf_free(struct lua_ibuf *b)
{
	xfree(b->buf);
	b->buf = b->rpos = b->wpos = b->epos = NULL;
}

void lua_buffer_init(lua_State *L)
{
	lua_load_embedded(L, "buffer.lua", "buffer");
}
