/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Stored procedures in C for box.lua, against the public header and msgpuck alone.
 */
#include <msgpuck.h>
#include <tarn/module.h>

int echo(box_function_ctx_t *ctx, const char *args, const char *args_end);
int put(box_function_ctx_t *ctx, const char *args, const char *args_end);
int get(box_function_ctx_t *ctx, const char *args, const char *args_end);
int fails(box_function_ctx_t *ctx, const char *args, const char *args_end);
int fails_silently(box_function_ctx_t *ctx, const char *args, const char *args_end);
int nap(box_function_ctx_t *ctx, const char *args, const char *args_end);
int procedures(box_function_ctx_t *ctx, const char *args, const char *args_end);

/** Each argument is a result. */
int echo(box_function_ctx_t *ctx, const char *args, const char *args_end)
{
	(void)args_end;
	for (uint32_t count = mp_decode_array(&args); count > 0; count--) {
		const char *begin = args;
		mp_next(&args);
		if (box_return_mp(ctx, begin, args) != 0)
			return -1;
	}
	return 0;
}

static uint32_t space_id(void)
{
	return box_space_id_by_name("test", 4);
}

/** The arguments are a row; returns it. */
int put(box_function_ctx_t *ctx, const char *args, const char *args_end)
{
	box_tuple_t *tuple;
	if (box_replace(space_id(), args, args_end, &tuple) != 0)
		return -1;
	return box_return_tuple(ctx, tuple);
}

/** The arguments are a key; returns the row, its size and its number of fields. */
int get(box_function_ctx_t *ctx, const char *args, const char *args_end)
{
	box_tuple_t *tuple;
	uint32_t index_id = box_index_id_by_name(space_id(), "primary", 7);
	if (box_index_get(space_id(), index_id, args, args_end, &tuple) != 0)
		return -1;
	if (tuple == NULL)
		return 0;
	char number[16];
	box_return_tuple(ctx, tuple);
	box_return_mp(ctx, number, mp_encode_uint(number, box_tuple_bsize(tuple)));
	return box_return_mp(ctx, number, mp_encode_uint(number, box_tuple_field_count(tuple)));
}

int fails(box_function_ctx_t *ctx, const char *args, const char *args_end)
{
	(void)ctx;
	(void)args;
	(void)args_end;
	return box_error_raise(77, "on %s", "purpose");
}

int fails_silently(box_function_ctx_t *ctx, const char *args, const char *args_end)
{
	(void)ctx;
	(void)args;
	(void)args_end;
	return -1;
}

int nap(box_function_ctx_t *ctx, const char *args, const char *args_end)
{
	fiber_sleep(0.001);
	return echo(ctx, args, args_end);
}

int procedures(box_function_ctx_t *ctx, const char *args, const char *args_end)
{
	return echo(ctx, args, args_end);
}
