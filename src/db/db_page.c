/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Pages of a select: see the header.
 */
#include "db/db_page.h"

#include "core/fiber.h"
#include "data/base64.h"
#include "data/mp.h"
#include "db/error.h"
#include "db/index/index.h"
#include "db/schema/space.h"
#include "db/tuple/tuple.h"
#include "db/wal/xrow.h"

static int page_unsupported(const struct index *index, const char *what)
{
	const struct space *space = space_by_id(index->def->space_id);
	client_error(ER_UNSUPPORTED_INDEX_FEATURE, index->def->name,
		     index_type_names[index->def->type], index->space_name,
		     space->def->engine_name, what);
	return -1;
}

/** Only an index with an order has positions. */
static int page_check_index(const struct index *index)
{
	return index->def->type == INDEX_TREE ? 0 : page_unsupported(index, "pagination");
}

/** Appends the key by which the index orders a tuple; it has one such key only. */
static int page_put_key(const struct index *index, const struct tuple *tuple, struct buf *out)
{
	struct region *region = &fiber()->region;
	size_t mark = region_used(region);
	uint32_t size;
	const char *key = tuple_extract_key(tuple, index->def->cmp_def, region, &size);
	if (key == NULL)
		return -1;
	buf_append(out, key, size);
	region_truncate(region, mark);
	return 0;
}

int page_put_position(struct index *index, struct iterator *it, struct tuple *tuple,
		      struct buf *out)
{
	if (it->position == NULL)
		return page_put_key(index, tuple, out);
	struct region *region = &fiber()->region;
	size_t mark = region_used(region);
	uint32_t size;
	const char *key = it->position(it, region, &size);
	if (key == NULL)
		return -1;
	buf_append(out, key, size);
	region_truncate(region, mark);
	return 0;
}

int page_put_position_of(struct index *index, const char *data, const char *end, struct buf *out)
{
	const struct key_def *cmp_def = index->def->cmp_def;
	if (page_check_index(index) != 0)
		return -1;
	if (index->def->key_def->is_multikey || index->def->key_def->is_func)
		return page_unsupported(index, "positions of tuples");
	struct tuple *tuple = tuple_new(tuple_format_default, data, end);
	if (tuple == NULL)
		return -1;
	size_t begin = out->size;
	int rc = page_put_key(index, tuple, out);
	tuple_unref(tuple);
	if (rc != 0)
		return -1;
	const char *key = out->data + begin;
	uint32_t part_count = mp_decode_array(&key);
	if (key_validate(cmp_def, key, part_count, true, true) == 0)
		return 0;
	buf_truncate(out, begin);
	return -1;
}

void page_decode_position(const char *text, size_t len, struct buf *out)
{
	/* A position begins with an array's header, which no character of base64 is. */
	if (len > 0 && (unsigned char)*text < 0x80)
		out->size += base64_decode(text, len,
					   buf_reserve(out, base64_decoded_size_max(len)));
	else
		buf_append(out, text, len);
}

void page_of_request(struct select_page *page, const struct request *request, struct buf *after,
		     struct buf *position)
{
	*page = (struct select_page){.position = request->fetches_position ? position : NULL};
	if (request->after_position_size > 0) {
		page_decode_position(request->after_position, request->after_position_size, after);
		page->after = after->data;
		page->after_end = buf_end(after);
	} else if (request->after_tuple != NULL) {
		page->after = request->after_tuple;
		page->after_end = request->after_tuple_end;
		page->is_tuple = true;
	}
}

/** Positions come from clients: they may be anything. */
static int position_check(const struct index *index, const char *data, const char *end)
{
	if (mp_check_whole(data, end) == 0 && mp_typeof(*data) == MP_ARRAY) {
		uint32_t part_count = mp_decode_array(&data);
		if (key_validate(index->def->cmp_def, data, part_count, true, true) == 0)
			return 0;
	}
	client_error(ER_ITERATOR_POSITION);
	return -1;
}

int page_seek(struct index *index, struct iterator *it, const struct select_page *page)
{
	if (page == NULL || (page->after == NULL && page->position == NULL))
		return 0;
	if (page_check_index(index) != 0)
		return -1;
	if (page->after == NULL)
		return 0;
	struct buf position = BUF_INIT;
	int rc;
	if (page->is_tuple) {
		rc = page_put_position_of(index, page->after, page->after_end, &position);
	} else {
		rc = position_check(index, page->after, page->after_end);
		if (rc == 0)
			buf_append(&position, page->after, page->after_end - page->after);
	}
	if (rc == 0) {
		const char *key = position.data;
		mp_decode_array(&key);
		rc = it->seek(it, key);
	}
	buf_free(&position);
	return rc;
}
