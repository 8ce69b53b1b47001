/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The buffers of the module `buffer`, seen from C: msgpack.encode() writes to them.
 */
#pragma once

#include <stddef.h>

/** As `struct ibuf` in cdata.lua; the names of the fields are what scripts read and set. */
struct lua_ibuf {
	/**
	 * The memory, or NULL; what is not read yet; the end of the data; the end of the memory.
	 */
	char *buf, *rpos, *wpos, *epos;
	/** What the first allocation takes at least. */
	size_t start_capacity;
};

/**
 * Room for `size` bytes at `wpos`: returns `wpos`, which may have moved. NULL without memory (no
 * error is set), and where nothing is asked for and there is no memory yet.
 */
char *lua_ibuf_try_reserve(struct lua_ibuf *b, size_t size);

/** The same, for sizes that are no script's choice: stops the process without memory. */
char *lua_ibuf_reserve(struct lua_ibuf *b, size_t size);
