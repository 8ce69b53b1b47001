/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Tuples: see tuple.h. While a read view is open, tuples that nobody refers to
 * any more wait in a list until the last view closes.
 */
#include "db/tuple/tuple.h"

#include <assert.h>
#include <string.h>

#include "core/memory.h"
#include "data/mp.h"
#include "db/error.h"
#include "db/tuple/format.h"
#include "db/tuple/tuple_field.h"

enum {
	/** What the reference adds to a tuple's data when it compares with memtx_max_tuple_size. */
	TUPLE_OVERHEAD = 14,
};

struct mem_account tuple_memory = {.name = "tuple", .limit = SIZE_MAX};
struct mem_account runtime_memory = {.name = "runtime", .limit = SIZE_MAX};
size_t tuple_size_max = 1024 * 1024;

/** Open read views, and tuples that wait for the last of them. */
static struct {
	uint32_t view_count;
	struct tuple **tuples;
	size_t count, capacity;
} deferred;

void tuple_init(void)
{
	tuple_format_default = tuple_format_new(NULL, 0, NULL, 0, 0);
	assert(tuple_format_default != NULL);
}

void tuple_free(void)
{
	tuple_format_unref(tuple_format_default);
	tuple_format_default = NULL;
	xfree(deferred.tuples);
	memset(&deferred, 0, sizeof(deferred));
}

static struct mem_account *tuple_account(const struct tuple_format *format)
{
	return format == tuple_format_default ? &runtime_memory : &tuple_memory;
}

struct tuple *tuple_new(struct tuple_format *format, const char *data, const char *end)
{
	size_t bsize = end - data;
	size_t counted = bsize + format->field_map_size + TUPLE_OVERHEAD;
	size_t counted_max = format == tuple_format_default ? INT32_MAX : tuple_size_max;
	if (counted > counted_max) {
		client_error(ER_MEMTX_MAX_TUPLE_SIZE, (unsigned)counted);
		return NULL;
	}
	size_t size = sizeof(struct tuple) + format->field_map_size + bsize;
	struct mem_account *account = tuple_account(format);
	struct tuple *tuple = mem_alloc(account, size);
	if (tuple == NULL)
		return NULL;
	tuple->refs = 1;
	tuple->bsize = bsize;
	tuple->format_id = format->id;
	tuple->data_offset = sizeof(struct tuple) + format->field_map_size;
	tuple->is_dirty = false;
	if (tuple_format_map_fields(format, data, (uint32_t *)(tuple + 1)) != 0) {
		mem_free(account, tuple, size);
		return NULL;
	}
	memcpy((char *)tuple + tuple->data_offset, data, bsize);
	tuple_format_ref(format);
	return tuple;
}

static void tuple_destroy(struct tuple *tuple)
{
	struct tuple_format *format = tuple_format(tuple);
	mem_free(tuple_account(format), tuple, (size_t)tuple->data_offset + tuple->bsize);
	tuple_format_unref(format);
}

void tuple_delete(struct tuple *tuple)
{
	assert(tuple->refs == 0);
	if (deferred.view_count == 0) {
		tuple_destroy(tuple);
		return;
	}
	if (deferred.count == deferred.capacity) {
		deferred.capacity = deferred.capacity ? deferred.capacity * 2 : 1024;
		deferred.tuples = xrealloc(deferred.tuples,
					   deferred.capacity * sizeof(*deferred.tuples));
	}
	deferred.tuples[deferred.count++] = tuple;
}

void tuple_read_view_open(void)
{
	deferred.view_count++;
}

void tuple_read_view_close(void)
{
	assert(deferred.view_count > 0);
	if (--deferred.view_count > 0)
		return;
	for (size_t i = 0; i < deferred.count; i++)
		tuple_destroy(deferred.tuples[i]);
	xfree(deferred.tuples);
	deferred.tuples = NULL;
	deferred.count = deferred.capacity = 0;
}

uint32_t tuple_field_count(const struct tuple *tuple)
{
	const char *data = tuple_data(tuple);
	return mp_decode_array(&data);
}

const char *tuple_field(const struct tuple *tuple, uint32_t fieldno)
{
	return tuple_field_fast(tuple, fieldno);
}

struct tuple_format *tuple_format(const struct tuple *tuple)
{
	return tuple_formats[tuple->format_id];
}
