/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Clocks for scripts. Read through FFI by clock.lua, and callable from C modules
 * under the names of the reference's module interface (manual: module clock).
 * None of them yields or runs Lua.
 */
#include <stdint.h>
#include <time.h>

#include "lua/bridge.h"
#include "lua/modules.h"

static uint64_t read_ns(clockid_t id)
{
	struct timespec ts;
	clock_gettime(id, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

uint64_t clock_realtime64(void);
uint64_t clock_monotonic64(void);
uint64_t clock_process64(void);
uint64_t clock_thread64(void);
double clock_process(void);
double clock_thread(void);

/** Nanoseconds since 1970. */
uint64_t clock_realtime64(void)
{
	return read_ns(CLOCK_REALTIME);
}

/** Nanoseconds since some moment in the past; never goes back. */
uint64_t clock_monotonic64(void)
{
	return read_ns(CLOCK_MONOTONIC);
}

/** Nanoseconds of processor time of the process. */
uint64_t clock_process64(void)
{
	return read_ns(CLOCK_PROCESS_CPUTIME_ID);
}

/** Nanoseconds of processor time of the thread. */
uint64_t clock_thread64(void)
{
	return read_ns(CLOCK_THREAD_CPUTIME_ID);
}

/** Seconds of processor time of the process. */
double clock_process(void)
{
	return clock_process64() / 1e9;
}

/** Seconds of processor time of the thread. */
double clock_thread(void)
{
	return clock_thread64() / 1e9;
}

void lua_clock_init(lua_State *L)
{
	lua_load_embedded(L, "clock.lua", "clock");
}
