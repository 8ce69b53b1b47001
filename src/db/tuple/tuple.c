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

struct mem_account tuple_memory = {.name = "memtx_tuple", .limit = SIZE_MAX};
struct mem_account runtime_memory = {.name = "runtime", .limit = SIZE_MAX};
size_t tuple_size_max = 1024 * 1024;
void (*tuple_on_delete)(struct tuple *tuple);

enum {
	CHUNK_COUNT = 510,
	/** So few tuples are freed at once when the last view closes. */
	FREED_AT_ONCE = 500,
};

/** Tuples without references that are not freed yet. */
struct tuple_chunk {
	struct tuple_chunk *next;
	size_t count;
	struct tuple *tuples[CHUNK_COUNT];
};

/** Open read views, and tuples that wait for the last of them. */
static struct {
	uint32_t view_count;
	struct tuple_chunk *first, *last;
	size_t count;
} deferred;

size_t tuple_deferred_size;
/** Tuples that no view keeps any more. */
static struct tuple_chunk *garbage;
void (*tuple_on_garbage)(void);

void tuple_init(void)
{
	tuple_format_default = tuple_format_new(NULL, 0, NULL, 0, 0);
	assert(tuple_format_default != NULL);
	tuple_format_default->account = &runtime_memory;
}

void tuple_free(void)
{
	tuple_format_unref(tuple_format_default);
	tuple_format_default = NULL;
}

int tuple_check_size(const struct tuple_format *format, const char *data, const char *end)
{
	size_t counted = end - data + format->field_map_size + TUPLE_OVERHEAD;
	size_t counted_max = format == tuple_format_default ? INT32_MAX : tuple_size_max;
	if (counted <= counted_max)
		return 0;
	client_error(ER_MEMTX_MAX_TUPLE_SIZE, (unsigned)counted);
	return -1;
}

struct tuple *tuple_new(struct tuple_format *format, const char *data, const char *end)
{
	size_t bsize = end - data;
	if (tuple_check_size(format, data, end) != 0)
		return NULL;
	size_t size = sizeof(struct tuple) + format->field_map_size + bsize;
	struct mem_account *account = format->account;
	struct tuple *tuple = mem_alloc(account, size);
	if (tuple == NULL)
		return NULL;
	tuple->refs = 1;
	tuple->bsize = bsize;
	tuple->format_id = format->id;
	tuple->data_offset = sizeof(struct tuple) + format->field_map_size;
	tuple->is_dirty = tuple->has_keys = false;
	if (tuple_format_map_fields(format, data, (uint32_t *)(tuple + 1)) != 0) {
		mem_free(account, tuple, size);
		return NULL;
	}
	memcpy((char *)tuple + tuple->data_offset, data, bsize);
	tuple_format_ref(format);
	return tuple;
}

static size_t tuple_usable(const struct tuple *tuple)
{
	return mem_usable((size_t)tuple->data_offset + tuple->bsize);
}

static void tuple_destroy(struct tuple *tuple)
{
	struct tuple_format *format = tuple_format(tuple);
	if (tuple->has_keys)
		tuple_on_delete(tuple);
	mem_free(format->account, tuple, (size_t)tuple->data_offset + tuple->bsize);
	tuple_format_unref(format);
}

void tuple_delete(struct tuple *tuple)
{
	assert(tuple->refs == 0);
	if (deferred.view_count == 0) {
		tuple_destroy(tuple);
		return;
	}
	struct tuple_chunk *chunk = deferred.first;
	if (chunk == NULL || chunk->count == CHUNK_COUNT) {
		chunk = xmalloc(sizeof(*chunk));
		chunk->count = 0;
		chunk->next = deferred.first;
		if (deferred.first == NULL)
			deferred.last = chunk;
		deferred.first = chunk;
	}
	chunk->tuples[chunk->count++] = tuple;
	deferred.count++;
	tuple_deferred_size += tuple_usable(tuple);
}

void tuple_read_view_open(void)
{
	deferred.view_count++;
}

void tuple_read_view_close(void)
{
	assert(deferred.view_count > 0);
	if (--deferred.view_count > 0 || deferred.first == NULL)
		return;
	size_t count = deferred.count;
	deferred.last->next = garbage;
	garbage = deferred.first;
	deferred.first = deferred.last = NULL;
	deferred.count = 0;
	if (count <= FREED_AT_ONCE || tuple_on_garbage == NULL)
		tuple_collect_garbage(count);
	if (tuple_has_garbage() && tuple_on_garbage != NULL)
		tuple_on_garbage();
}

bool tuple_has_garbage(void)
{
	return garbage != NULL;
}

void tuple_collect_garbage(size_t count)
{
	struct tuple_chunk *chunk;
	for (; count > 0 && (chunk = garbage) != NULL; count--) {
		tuple_deferred_size -= tuple_usable(chunk->tuples[--chunk->count]);
		tuple_destroy(chunk->tuples[chunk->count]);
		if (chunk->count > 0)
			continue;
		garbage = chunk->next;
		xfree(chunk);
	}
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
