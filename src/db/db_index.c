/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Reads: selects, and what else an index can tell.
 */
#include "core/fiber.h"
#include "data/mp.h"
#include "db/db.h"
#include "db/db_page.h"
#include "db/error.h"
#include "db/schema/schema.h"
#include "db/tuple/tuple.h"
#include "db/txn/txn.h"

/** The index, for the current user to read. */
static struct index *find_readable(uint32_t space_id, uint32_t index_id)
{
	struct space *space = space_find(space_id);
	if (space == NULL || fiber_check_slice() != 0 ||
	    space_access_check(space, PRIV_READ) != 0 || txn_on_read() != 0)
		return NULL;
	return space_index_find(space, index_id);
}

/** Decodes the header of a key, an array. */
static int key_begin(const char **key, uint32_t *part_count)
{
	if (mp_typeof(**key) != MP_ARRAY) {
		client_error(ER_TUPLE_NOT_ARRAY);
		return -1;
	}
	*part_count = mp_decode_array(key);
	return 0;
}

static int iterator_type_check(uint32_t iterator)
{
	if (iterator < iterator_type_MAX)
		return 0;
	client_error(ER_ILLEGAL_PARAMS, "Invalid iterator type");
	return -1;
}

/** Not supported: size() of a view and the like. */
static int64_t unsupported(const struct index *index, const char *what)
{
	const struct space *space = space_by_id(index->def->space_id);
	client_error(ER_UNSUPPORTED_INDEX_FEATURE, index->def->name,
		     index_type_names[index->def->type], index->space_name,
		     space->def->engine_name, what);
	return -1;
}

/** Stores a borrowed tuple as a counted result. */
static int give(int rc, struct tuple **tuple, struct tuple **result)
{
	if (rc != 0)
		return -1;
	if (*tuple != NULL) {
		tuple_ref(*tuple);
		fiber()->usage.rows_read++;
	}
	*result = *tuple;
	return 0;
}

/** A full key of a unique index finds its row without an iterator. */
static int select_one(struct index *index, uint32_t offset, uint32_t limit, const char *key,
		      uint32_t part_count, struct port *port)
{
	struct tuple *tuple;
	if (index->vtab->get(index, key, part_count, &tuple) != 0)
		return -1;
	port_c_create(port);
	if (tuple != NULL && offset == 0 && limit > 0) {
		port_c_add_tuple(port, tuple);
		fiber()->usage.rows_read++;
	}
	return 0;
}

static int select_many(struct index *index, enum iterator_type type, uint32_t offset,
		       uint32_t limit, const char *key, uint32_t part_count,
		       struct select_page *page, struct port *port)
{
	struct iterator *it = index->vtab->iterator(index, type, key, part_count);
	if (it == NULL)
		return -1;
	if (page_seek(index, it, page) != 0) {
		it->free(it);
		return -1;
	}
	port_c_create(port);
	struct tuple *tuple, *last = NULL;
	int rc = 0;
	for (uint32_t found = 0; found < limit;) {
		rc = it->next(it, &tuple);
		if (rc != 0 || tuple == NULL)
			break;
		if (offset > 0) {
			offset--;
			continue;
		}
		port_c_add_tuple(port, tuple);
		last = tuple;
		found++;
	}
	if (rc == 0 && last != NULL && page != NULL && page->position != NULL)
		rc = page_put_position(index, it, last, page->position);
	it->free(it);
	fiber()->usage.rows_read += port_c_count(port);
	if (rc != 0)
		port_destroy(port);
	return rc;
}

int db_select(uint32_t space_id, uint32_t index_id, uint32_t iterator, uint32_t offset,
	      uint32_t limit, const char *key, const char *key_end, struct select_page *page,
	      struct port *port)
{
	(void)key_end;
	uint32_t part_count;
	struct index *index = find_readable(space_id, index_id);
	if (index == NULL || iterator_type_check(iterator) != 0 ||
	    key_begin(&key, &part_count) != 0 ||
	    index_check_key(index, iterator, key, part_count) != 0)
		return -1;
	const struct key_def *def = index->def->key_def;
	if (page == NULL && iterator == ITER_EQ && index->def->is_unique &&
	    part_count == def->part_count && !def->has_nullable)
		return select_one(index, offset, limit, key, part_count, port);
	return select_many(index, iterator, offset, limit, key, part_count, page, port);
}

int64_t db_index_len(uint32_t space_id, uint32_t index_id)
{
	struct index *index = find_readable(space_id, index_id);
	if (index == NULL)
		return -1;
	if (index->vtab->size == NULL)
		return unsupported(index, "size()");
	return index->vtab->size(index);
}

int64_t db_index_bsize(uint32_t space_id, uint32_t index_id)
{
	struct index *index = find_readable(space_id, index_id);
	return index == NULL ? -1 : (int64_t)index->vtab->bsize(index);
}

int db_index_get(uint32_t space_id, uint32_t index_id, const char *key, const char *key_end,
		 struct tuple **result)
{
	(void)key_end;
	uint32_t part_count;
	struct tuple *tuple;
	struct index *index = find_readable(space_id, index_id);
	if (index == NULL)
		return -1;
	if (!index->def->is_unique) {
		client_error(ER_MORE_THAN_ONE_TUPLE);
		return -1;
	}
	if (key_begin(&key, &part_count) != 0)
		return -1;
	if (key_validate(index->def->key_def, key, part_count, true, false) != 0)
		return index_explain_key(index, key, part_count);
	return give(index->vtab->get(index, key, part_count, &tuple), &tuple, result);
}

/** The key of min(), max() and the like: any prefix. NULL: all. */
static int bound_key(struct index *index, const char **key, uint32_t *part_count)
{
	*part_count = 0;
	if (*key == NULL)
		return 0;
	if (key_begin(key, part_count) != 0)
		return -1;
	if (key_validate(index->def->key_def, *key, *part_count, false, true) != 0)
		return index_explain_key(index, *key, *part_count);
	return 0;
}

/** The least tuple with the key, or the greatest. */
static int index_bound(uint32_t space_id, uint32_t index_id, bool is_max, const char *key,
		       struct tuple **result)
{
	uint32_t part_count;
	struct tuple *tuple;
	struct index *index = find_readable(space_id, index_id);
	if (index == NULL)
		return -1;
	if (index->def->type != INDEX_TREE)
		return unsupported(index, is_max ? "max()" : "min()");
	if (bound_key(index, &key, &part_count) != 0)
		return -1;
	const struct index_vtab *vtab = index->vtab;
	return give((is_max ? vtab->max : vtab->min)(index, key, part_count, &tuple), &tuple,
		    result);
}

int db_index_min(uint32_t space_id, uint32_t index_id, const char *key, const char *key_end,
		 struct tuple **result)
{
	(void)key_end;
	return index_bound(space_id, index_id, false, key, result);
}

int db_index_max(uint32_t space_id, uint32_t index_id, const char *key, const char *key_end,
		 struct tuple **result)
{
	(void)key_end;
	return index_bound(space_id, index_id, true, key, result);
}

int db_index_random(uint32_t space_id, uint32_t index_id, uint32_t seed, struct tuple **result)
{
	struct tuple *tuple;
	struct index *index = find_readable(space_id, index_id);
	if (index == NULL)
		return -1;
	if (index->vtab->random == NULL)
		return unsupported(index, "random()");
	return give(index->vtab->random(index, seed, &tuple), &tuple, result);
}

int64_t db_index_count(uint32_t space_id, uint32_t index_id, uint32_t iterator, const char *key,
		       const char *key_end)
{
	(void)key_end;
	uint32_t part_count;
	struct index *index = find_readable(space_id, index_id);
	if (index == NULL || iterator_type_check(iterator) != 0 ||
	    key_begin(&key, &part_count) != 0 ||
	    index_check_key(index, iterator, key, part_count) != 0)
		return -1;
	return index->vtab->count(index, iterator, key, part_count);
}

int db_index_tuple_position(uint32_t space_id, uint32_t index_id, const char *tuple,
			    const char *tuple_end, struct buf *out)
{
	struct index *index = find_readable(space_id, index_id);
	return index != NULL ? page_put_position_of(index, tuple, tuple_end, out) : -1;
}

struct iterator *db_index_iterator(uint32_t space_id, uint32_t index_id, uint32_t iterator,
				   const char *key, const char *key_end,
				   const struct select_page *page)
{
	(void)key_end;
	uint32_t part_count;
	struct index *index = find_readable(space_id, index_id);
	if (index == NULL || iterator_type_check(iterator) != 0 ||
	    key_begin(&key, &part_count) != 0 ||
	    index_check_key(index, iterator, key, part_count) != 0)
		return NULL;
	struct iterator *it = index_iterator_new(index, iterator, key, part_count);
	if (it != NULL && page_seek(index, it, page) != 0) {
		it->free(it);
		return NULL;
	}
	return it;
}

int db_iterator_next(struct iterator *it, struct tuple **result)
{
	struct tuple *tuple;
	if (fiber_check_slice() != 0 || txn_on_read() != 0)
		return -1;
	return give(it->next(it, &tuple), &tuple, result);
}

void db_iterator_free(struct iterator *it)
{
	it->free(it);
}

static int space_check_indexes(struct space *space, void *arg)
{
	(void)arg;
	for (uint32_t i = 0; i < space->index_count; i++) {
		struct index *index = space->index[i];
		if (index->vtab->check == NULL || index->vtab->check(index))
			continue;
		client_error(ER_ALTER_SPACE, space_name(space), "an index is damaged");
		return -1;
	}
	return 0;
}

int db_check_indexes(void)
{
	return space_foreach(space_check_indexes, NULL);
}
