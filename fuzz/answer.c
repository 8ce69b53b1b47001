/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What a server may send to net.box: an answer or a message to a request, which becomes Lua
 * values, a msgpack object or bytes in a buffer. The first two bytes of an input are the method
 * and what the request has asked for; a packet follows, as the transport has cut it.
 */
#include "fuzz_lua.h"

#include "core/memory.h"
#include "data/mp.h"
#include "db/iproto_const.h"
#include "db/wal/xrow.h"
#include "lua/netbox/netbox.h"
#include "lua/value/buffer.h"

enum { FLAG_RAW = 1, FLAG_BUFFER = 2, FLAG_SKIP_HEADER = 4, FLAG_AS_LIST = 8, FLAG_DROP = 16 };

static lua_State *L;

static void start(void)
{
	L = fuzz_lua_start();
	lua_gc(L, LUA_GCSETPAUSE, 100);
}

/** (request, flags): all that scripts can look at, twice. */
static int look(lua_State *L)
{
	struct netbox_request *r = lua_touserdata(L, 1);
	bool as_list = lua_toboolean(L, 2);
	for (uint32_t i = 0; i < r->push_count; i++)
		netbox_decode_push(L, r, i);
	lua_settop(L, 2);
	netbox_decode(L, r, as_list);
	lua_settop(L, 2);
	netbox_decode(L, r, as_list);
	return 0;
}

static void take(struct netbox_request *r, const struct xrow_header *row)
{
	const char *body = row->body != NULL ? row->body : "";
	size_t size = row->body != NULL ? row->body_size : 0;
	if (size > 0 && mp_typeof(*body) != MP_MAP)
		return;
	/* A message, and then the same as the answer. */
	netbox_request_push(r, body, size);
	netbox_request_finish(r, row->type, body, size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (L == NULL)
		start();
	if (size < 2)
		return 0;
	struct netbox_request r;
	struct lua_ibuf ibuf = {.start_capacity = 16};
	netbox_request_create(&r, data[0] % netbox_method_MAX);
	unsigned flags = data[1];
	r.may_have_formats = true;
	r.return_raw = (flags & FLAG_RAW) != 0;
	r.skip_header = (flags & FLAG_SKIP_HEADER) != 0;
	r.drop_pushes = (flags & FLAG_DROP) != 0;
	r.ibuf = (flags & FLAG_BUFFER) != 0 ? &ibuf : NULL;
	char *packet = fuzz_copy(data + 2, size - 2);
	const char *pos = packet;
	struct xrow_header row;
	if (xrow_header_decode(&row, &pos, packet + size - 2) == 0)
		take(&r, &row);
	free(packet);
	if (r.is_done && r.error == NULL) {
		lua_pushcfunction(L, look);
		lua_pushlightuserdata(L, &r);
		lua_pushboolean(L, (flags & FLAG_AS_LIST) != 0);
		lua_call_protected(L, 2, 0);
	}
	FUZZ_CHECK(lua_gettop(L) == 0);
	netbox_request_destroy(L, &r);
	if (ibuf.buf != NULL)
		FUZZ_CHECK(ibuf.rpos <= ibuf.wpos && ibuf.wpos <= ibuf.epos);
	xfree(ibuf.buf);
	fuzz_done();
	return 0;
}
