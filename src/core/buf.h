/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A growing contiguous buffer of bytes: a response being encoded, a batch of
 * journal rows, a socket's input. Pointers into it live until it grows next.
 */
#pragma once

#include <stddef.h>
#include <string.h>

struct buf {
	char *data;
	/** Bytes in use. */
	size_t size;
	size_t capacity;
};

#define BUF_INIT {NULL, 0, 0}

/** Grows the capacity; the process stops where the system has no memory. */
void buf_grow(struct buf *b, size_t extra);

/** Frees the memory and leaves an empty buffer. */
void buf_free(struct buf *b);

/** Room for `n` bytes behind the data; they are not yet part of it. */
static inline char *buf_reserve(struct buf *b, size_t n)
{
	if (b->capacity - b->size < n)
		buf_grow(b, n);
	return b->data + b->size;
}

/** Takes `n` bytes into the data and returns where they begin. */
static inline char *buf_alloc(struct buf *b, size_t n)
{
	char *p = buf_reserve(b, n);
	b->size += n;
	return p;
}

static inline void buf_append(struct buf *b, const void *data, size_t n)
{
	if (n > 0)
		memcpy(buf_alloc(b, n), data, n);
}

/** Where the data ends now: a mark for buf_truncate(). */
static inline char *buf_end(struct buf *b)
{
	return b->data + b->size;
}

static inline void buf_truncate(struct buf *b, size_t size)
{
	b->size = size;
}

/** Drops the first `n` bytes. */
static inline void buf_consume(struct buf *b, size_t n)
{
	memmove(b->data, b->data + n, b->size - n);
	b->size -= n;
}
