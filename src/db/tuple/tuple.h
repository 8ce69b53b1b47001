/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Tuples: immutable, counted rows in MessagePack. Only tx touches the count.
 *
 *     struct tuple | field map (offsets of indexed fields) | MessagePack array
 *                                                            ^ data_offset
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tuple_format;
struct key_def;
struct mem_account;

struct tuple {
	uint32_t refs;
	/** Size of the MessagePack array. */
	uint32_t bsize;
	uint16_t format_id;
	/** From the start of this structure to the array. */
	uint16_t data_offset;
	/** No longer in any index (set when it leaves the primary key). */
	bool is_dirty;
	/** A functional index has keys for it: see tuple_on_delete. */
	bool has_keys;
};

_Static_assert(sizeof(struct tuple) == 16, "the field map behind it stays aligned");

/** Memory of all tuples of memtx spaces; its limit is `memtx_memory`. */
extern struct mem_account tuple_memory;
/** Memory of tuples that belong to no space. */
extern struct mem_account runtime_memory;
/** `memtx_max_tuple_size`, in bytes. */
extern size_t tuple_size_max;

/** Called for a tuple that `has_keys` before it is freed. */
extern void (*tuple_on_delete)(struct tuple *tuple);

void tuple_init(void);
void tuple_free(void);

/**
 * A tuple of a format from a MessagePack array, which is copied and must be
 * well-formed; checks it against the format. The caller owns the one reference.
 * NULL: ER_TUPLE_NOT_ARRAY, ER_FIELD_TYPE, ER_FIELD_MISSING, ER_EXACT_FIELD_COUNT,
 * ER_MEMTX_MAX_TUPLE_SIZE, OutOfMemory.
 */
struct tuple *tuple_new(struct tuple_format *format, const char *data, const char *end);

/** May a row be so large? -1: ER_MEMTX_MAX_TUPLE_SIZE. */
int tuple_check_size(const struct tuple_format *format, const char *data, const char *end);

/** Frees a tuple without references; called by tuple_unref(). */
void tuple_delete(struct tuple *tuple);

static inline void tuple_ref(struct tuple *tuple)
{
	tuple->refs++;
}

static inline void tuple_unref(struct tuple *tuple)
{
	if (--tuple->refs == 0)
		tuple_delete(tuple);
}

/**
 * While a read view is open, a tuple that loses its last reference is kept and
 * freed when the last view closes (so that a checkpoint thread may read it); many are
 * left as garbage then, to be collected in steps. Never yields.
 */
void tuple_read_view_open(void);
void tuple_read_view_close(void);

/** Bytes, of tuple_memory, that are kept for views, or are garbage. */
extern size_t tuple_deferred_size;
bool tuple_has_garbage(void);
/** Frees up to `count` tuples of it. */
void tuple_collect_garbage(size_t count);
/** Called when there is garbage; may be NULL. */
extern void (*tuple_on_garbage)(void);

/** The MessagePack array; lives as long as the tuple. */
static inline const char *tuple_data(const struct tuple *tuple)
{
	return (const char *)tuple + tuple->data_offset;
}

static inline const char *tuple_data_range(const struct tuple *tuple, uint32_t *size)
{
	*size = tuple->bsize;
	return tuple_data(tuple);
}

uint32_t tuple_field_count(const struct tuple *tuple);

/** The field by its number from 0 (through the field map where it has it), or NULL. */
const char *tuple_field(const struct tuple *tuple, uint32_t fieldno);

/** The format; lives as long as the tuple. */
struct tuple_format *tuple_format(const struct tuple *tuple);
