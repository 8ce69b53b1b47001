/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A procedure in several versions, for reload.lua: built once for each.
 */
#include <msgpuck.h>
#include <tarn/module.h>

int version(box_function_ctx_t *ctx, const char *args, const char *args_end);
int nap(box_function_ctx_t *ctx, const char *args, const char *args_end);

int version(box_function_ctx_t *ctx, const char *args, const char *args_end)
{
	(void)args;
	(void)args_end;
	char buf[16] = "", *end = mp_encode_uint(buf, VERSION);
	return box_return_mp(ctx, buf, end);
}

#if VERSION < 3
/** Sleeps first. */
int nap(box_function_ctx_t *ctx, const char *args, const char *args_end)
{
	fiber_sleep(0.01);
	return version(ctx, args, args_end);
}
#endif
