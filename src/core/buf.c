/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The slow half of the growing buffer: it doubles, so that n appended bytes
 * cost O(n) copies in all.
 */
#include "core/buf.h"

#include <stdint.h>

#include "core/memory.h"

enum { BUF_CAPACITY_MIN = 256 };

void buf_grow(struct buf *b, size_t extra)
{
	size_t need = extra <= SIZE_MAX / 4 ? b->size + extra : SIZE_MAX / 2;
	size_t capacity = b->capacity > 0 ? b->capacity : BUF_CAPACITY_MIN;
	while (capacity < need)
		capacity *= 2;
	b->data = xrealloc(b->data, capacity);
	b->capacity = capacity;
}

void buf_free(struct buf *b)
{
	xfree(b->data);
	*b = (struct buf)BUF_INIT;
}
