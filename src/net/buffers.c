/* SPDX-License-Identifier: BSD-2-Clause
 *
 * See buffers.h.
 */
#include "net/buffers.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

#include "core/memory.h"
#include "net/iproto.h"

enum {
	CHUNK_CACHE_MAX = 64,
	BUF_CACHE_MAX = 64,
	/** A chunk of which this part is used at the most is not worth keeping. */
	SHRINK_PART = 8,
	/** An output buffer that grew larger is not kept. */
	BUF_CACHED_CAPACITY_MAX = 64 * 1024,
};

_Atomic size_t buffers_readahead = NET_READAHEAD_DEFAULT;

static _Thread_local struct chunk *chunk_cache[CHUNK_CACHE_MAX];
static _Thread_local int chunk_cache_count;
static _Thread_local bool is_keeping;
static _Thread_local struct buf buf_cache[BUF_CACHE_MAX];
static _Thread_local int buf_cache_count;

static inline size_t readahead(void)
{
	return atomic_load_explicit(&buffers_readahead, memory_order_relaxed);
}

struct chunk *chunk_get_exact(size_t capacity)
{
	struct chunk *c = xmalloc(sizeof(*c) + capacity);
	c->next = NULL;
	c->refs = 0;
	c->capacity = capacity;
	c->used = c->parsed = 0;
	return c;
}

struct chunk *chunk_get(size_t capacity)
{
	size_t usual = readahead();
	if (capacity > usual)
		return chunk_get_exact(capacity);
	while (chunk_cache_count > 0) {
		struct chunk *c = chunk_cache[--chunk_cache_count];
		if (c->capacity == usual)
			return c;
		xfree(c);
	}
	return chunk_get_exact(usual);
}

void chunk_put(struct chunk *c)
{
	assert(c->refs == 0);
	if (c->capacity != readahead() || chunk_cache_count == CHUNK_CACHE_MAX || !is_keeping) {
		xfree(c);
		return;
	}
	c->next = NULL;
	c->used = c->parsed = 0;
	chunk_cache[chunk_cache_count++] = c;
}

/**
 * How large the chunk for the packet at the end of a full one must be: the whole
 * packet, but no more than twice what has arrived of it.
 */
static size_t size_wanted(const struct chunk *c)
{
	size_t header, arrived = c->used - c->parsed;
	uint64_t size;
	chunk_scan(c, &header, &size);
	size_t whole = header + size;
	return whole < 2 * arrived ? whole : 2 * arrived;
}

struct chunk *chunk_make_room(struct chunk **in)
{
	struct chunk *c = *in;
	if (c == NULL)
		return *in = chunk_get(0);
	if (c->used < c->capacity)
		return c;
	size_t tail = c->used - c->parsed;
	size_t wanted = size_wanted(c);
	if (c->refs == 0 && wanted <= c->capacity && c->parsed > 0) {
		memmove(c->data, c->data + c->parsed, tail);
	} else {
		struct chunk *old = c;
		c = chunk_get(wanted > tail ? wanted : tail + 1);
		memcpy(c->data, old->data + old->parsed, tail);
		if (old->refs == 0)
			chunk_put(old);
		*in = c;
	}
	c->used = tail;
	c->parsed = 0;
	return c;
}

void chunk_shrink(struct chunk **in)
{
	struct chunk *c = *in;
	if (c->used > c->capacity / SHRINK_PART || c->parsed > 0 || c->refs > 0)
		return;
	struct chunk *small = chunk_get_exact(c->used);
	memcpy(small->data, c->data, c->used);
	small->used = c->used;
	small->read_at = c->read_at;
	chunk_put(c);
	*in = small;
}

void outbuf_get(struct buf *b)
{
	assert(b->data == NULL);
	if (buf_cache_count > 0)
		*b = buf_cache[--buf_cache_count];
}

void outbuf_put(struct buf *b)
{
	if (b->data == NULL)
		return;
	b->size = 0;
	if (b->capacity <= BUF_CACHED_CAPACITY_MAX && buf_cache_count < BUF_CACHE_MAX && is_keeping)
		buf_cache[buf_cache_count++] = *b;
	else
		buf_free(b);
	*b = (struct buf)BUF_INIT;
}

void buffers_init(void)
{
	is_keeping = true;
}

void buffers_free(void)
{
	is_keeping = false;
	buffers_drop();
}

void buffers_drop(void)
{
	while (chunk_cache_count > 0)
		xfree(chunk_cache[--chunk_cache_count]);
	while (buf_cache_count > 0)
		buf_free(&buf_cache[--buf_cache_count]);
}
