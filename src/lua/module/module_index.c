/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The module interface (include/tarn/module.h): reads from indexes. Nothing here
 * yields.
 */
#include <sys/types.h>

#include "core/fiber.h"
#include "db/db.h"
#include "db/schema/space.h"
#include "db/tuple/key_def.h"
#include "lua/module/module_box.h"

/* Iterators ---------------------------------------------------------------------- */

MODULE_API int iterator_direction(enum iterator_type type);
MODULE_API struct iterator *box_index_iterator(uint32_t space_id, uint32_t index_id, int type,
					       const char *key, const char *key_end);
MODULE_API int box_iterator_next(struct iterator *it, struct tuple **result);
MODULE_API void box_iterator_free(struct iterator *it);

int iterator_direction(enum iterator_type type)
{
	return type == ITER_REQ || type == ITER_LT || type == ITER_LE ? -1 : 1;
}

struct iterator *box_index_iterator(uint32_t space_id, uint32_t index_id, int type,
				    const char *key, const char *key_end)
{
	return db_index_iterator(space_id, index_id, (uint32_t)type, key, key_end, NULL);
}

int box_iterator_next(struct iterator *it, struct tuple **result)
{
	struct tuple *t = NULL;
	int rc = db_iterator_next(it, &t);
	return module_give(rc, t, result);
}

void box_iterator_free(struct iterator *it)
{
	if (it != NULL)
		db_iterator_free(it);
}

/* Single tuples -------------------------------------------------------------------- */

MODULE_API int box_index_get(uint32_t space_id, uint32_t index_id, const char *key,
			     const char *key_end, struct tuple **result);
MODULE_API int box_index_min(uint32_t space_id, uint32_t index_id, const char *key,
			     const char *key_end, struct tuple **result);
MODULE_API int box_index_max(uint32_t space_id, uint32_t index_id, const char *key,
			     const char *key_end, struct tuple **result);
MODULE_API int box_index_random(uint32_t space_id, uint32_t index_id, uint32_t rnd,
				struct tuple **result);

int box_index_get(uint32_t space_id, uint32_t index_id, const char *key, const char *key_end,
		  struct tuple **result)
{
	struct tuple *t = NULL;
	int rc = db_index_get(space_id, index_id, key, key_end, &t);
	return module_give(rc, t, result);
}

int box_index_min(uint32_t space_id, uint32_t index_id, const char *key, const char *key_end,
		  struct tuple **result)
{
	struct tuple *t = NULL;
	int rc = db_index_min(space_id, index_id, key, key_end, &t);
	return module_give(rc, t, result);
}

int box_index_max(uint32_t space_id, uint32_t index_id, const char *key, const char *key_end,
		  struct tuple **result)
{
	struct tuple *t = NULL;
	int rc = db_index_max(space_id, index_id, key, key_end, &t);
	return module_give(rc, t, result);
}

int box_index_random(uint32_t space_id, uint32_t index_id, uint32_t rnd, struct tuple **result)
{
	struct tuple *t = NULL;
	int rc = db_index_random(space_id, index_id, rnd, &t);
	return module_give(rc, t, result);
}

/* Numbers and keys ------------------------------------------------------------------- */

MODULE_API ssize_t box_index_len(uint32_t space_id, uint32_t index_id);
MODULE_API ssize_t box_index_bsize(uint32_t space_id, uint32_t index_id);
MODULE_API ssize_t box_index_count(uint32_t space_id, uint32_t index_id, int type,
				   const char *key, const char *key_end);
MODULE_API const struct key_def *box_index_key_def(uint32_t space_id, uint32_t index_id);
MODULE_API char *box_tuple_extract_key(struct tuple *tuple, uint32_t space_id,
				       uint32_t index_id, uint32_t *size);

ssize_t box_index_len(uint32_t space_id, uint32_t index_id)
{
	return db_index_len(space_id, index_id);
}

ssize_t box_index_bsize(uint32_t space_id, uint32_t index_id)
{
	return db_index_bsize(space_id, index_id);
}

ssize_t box_index_count(uint32_t space_id, uint32_t index_id, int type, const char *key,
			const char *key_end)
{
	return db_index_count(space_id, index_id, (uint32_t)type, key, key_end);
}

const struct key_def *box_index_key_def(uint32_t space_id, uint32_t index_id)
{
	const struct space *space = space_find(space_id);
	const struct index *index = space != NULL ? space_index_find(space, index_id) : NULL;
	return index != NULL ? index->def->key_def : NULL;
}

char *box_tuple_extract_key(struct tuple *tuple, uint32_t space_id, uint32_t index_id,
			    uint32_t *size)
{
	uint32_t ignored;
	const struct key_def *def = box_index_key_def(space_id, index_id);
	if (def == NULL)
		return NULL;
	return (char *)tuple_extract_key(tuple, def, &fiber()->region,
					 size != NULL ? size : &ignored);
}
