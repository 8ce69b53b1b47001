/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Pages of a select: it may begin behind a tuple or a position, and tell the position of
 * its last tuple. A position is the key of a tuple by which its index orders it, with the
 * parts of the primary key where need be, as a MessagePack array; to users it is opaque.
 * Source: the manual, "index_object:select()".
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "core/buf.h"

struct index;
struct iterator;
struct request;
struct tuple;

/** What of a select is a page, and what comes of it. */
struct select_page {
	/** Begin behind: a tuple, an array in MessagePack, or else a position; NULL: neither. */
	const char *after, *after_end;
	bool is_tuple;
	/** Where the position of the last tuple is appended, if there is one; NULL: nowhere. */
	struct buf *position;
};

/** Appends a position from what a client gave, which is in base64 or not. */
void page_decode_position(const char *text, size_t len, struct buf *out);

/**
 * The page that a request asks for. `after` and `position`, both empty, are its memory, and the
 * caller's to free; the request lives as long as the page.
 */
void page_of_request(struct select_page *page, const struct request *request, struct buf *after,
		     struct buf *position);

/** Lets a new iterator begin where the page does. -1: ER_ITERATOR_POSITION and others. */
int page_seek(struct index *index, struct iterator *it, const struct select_page *page);

/** Appends the position of the tuple that an iterator has just returned. -1: OutOfMemory. */
int page_put_position(struct index *index, struct iterator *it, struct tuple *tuple,
		      struct buf *out);

/**
 * The same for an array of MessagePack that need not be a tuple of the space. -1: also
 * ER_UNSUPPORTED_INDEX_FEATURE, of a multikey or functional index, too, where a tuple has
 * many places; ER_KEY_PART_TYPE, where a part of the key is missing or of another type.
 */
int page_put_position_of(struct index *index, const char *data, const char *end, struct buf *out);
