/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Texts that scripts read: JSON, YAML, CSV, URIs, MessagePack, and what is typed at a console
 * (its commands, its completion, and whether a statement is complete; nothing is run). What
 * was read is written and read again. The work is done by text.lua's function.
 */
#include "fuzz_lua.h"

static lua_State *L;

static void start(void)
{
	L = fuzz_lua_start();
	if (luaL_loadfile(L, FUZZ_DIR "/text.lua") != 0 || lua_pcall(L, 0, 1, 0) != 0) {
		fprintf(stderr, "%s\n", lua_tostring(L, -1));
		abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (L == NULL)
		start();
	lua_pushvalue(L, -1);
	lua_pushlstring(L, (const char *)data, size);
	if (lua_pcall(L, 1, 0, 0) != 0) {
		fprintf(stderr, "%s\n", lua_tostring(L, -1));
		abort();
	}
	fuzz_done();
	return 0;
}
