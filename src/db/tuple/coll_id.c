/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Collations by id: see the header.
 */
#include "db/tuple/coll_id.h"

#include "core/map.h"
#include "core/memory.h"
#include "data/coll.h"

static struct map_u64 coll_ids;

void coll_id_cache_init(void)
{
	map_u64_create(&coll_ids);
}

void coll_id_cache_free(void)
{
	uint64_t id;
	void *coll_id;
	for (size_t pos = 0; map_u64_next(&coll_ids, &pos, &id, &coll_id);)
		coll_id_delete(coll_id);
	map_u64_destroy(&coll_ids);
}

const struct coll_id *coll_id_by_id(uint32_t id)
{
	return map_u64_get(&coll_ids, id);
}

struct coll_id *coll_id_new(uint32_t id, const char *name, uint32_t name_len, struct coll *coll)
{
	struct coll_id *coll_id = xmalloc(sizeof(*coll_id));
	coll_id->id = id;
	coll_id->name = xstrndup(name, name_len);
	coll_id->coll = coll;
	return coll_id;
}

void coll_id_delete(struct coll_id *coll_id)
{
	if (coll_id == NULL)
		return;
	coll_unref(coll_id->coll);
	xfree(coll_id->name);
	xfree(coll_id);
}

void coll_id_cache_put(struct coll_id *coll_id)
{
	map_u64_put(&coll_ids, coll_id->id, coll_id);
}

void coll_id_cache_del(uint32_t id)
{
	map_u64_del(&coll_ids, id);
}
