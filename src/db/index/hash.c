/* SPDX-License-Identifier: BSD-2-Clause
 *
 * HASH indexes: an open table kept in the order of (hash, key).
 *
 * A tuple's home is given by the upper bits of its hash; entries stand in ascending
 * order, each at its home or behind it, without gaps in between. So the whole table
 * is one ordered sequence which neither growth nor other changes rearrange: an
 * iterator finds its place again by its last tuple, and never sees one twice.
 * Behind the last home there is a tail for what is pushed over the end.
 *
 * In a bulk load all entries come in that order, and are written one behind the other.
 *
 * A frozen view shares the table; the first change while it is shared makes a copy.
 */
#include <assert.h>
#include <string.h>

#include "core/memory.h"
#include "db/error.h"
#include "db/index/index_private.h"
#include "db/index/load.h"
#include "db/tuple/tuple.h"

enum {
	HASH_BITS_MIN = 4,
	HASH_BITS_MAX = 31,
	/** Slots behind the last home. A full tail makes the table grow. */
	HASH_TAIL = 64,
};

struct hash_slot {
	/** NULL: free. */
	struct tuple *tuple;
	uint32_t hash;
};

struct hash_table {
	/** The index and views that use it. */
	uint32_t refs;
	int bits;
	size_t slot_count;
	struct hash_slot slots[];
};

struct hash_index {
	struct index base;
	/** NULL where nothing was ever put in. */
	struct hash_table *table;
	size_t size;
	uint64_t version;
};

/* Tables ----------------------------------------------------------------- */

static size_t hash_table_bytes(size_t slot_count)
{
	return sizeof(struct hash_table) + slot_count * sizeof(struct hash_slot);
}

static void hash_table_clear(struct hash_table *table)
{
	memset(table->slots, 0, table->slot_count * sizeof(struct hash_slot));
}

/** What is in the slots is not set. NULL: OutOfMemory; never where `is_forced`. */
static struct hash_table *hash_table_alloc(int bits, bool is_forced)
{
	size_t slot_count = ((size_t)1 << bits) + HASH_TAIL;
	size_t size = hash_table_bytes(slot_count);
	struct hash_table *table = is_forced ? mem_alloc_forced(&index_memory, size) :
		mem_alloc(&index_memory, size);
	if (table == NULL)
		return NULL;
	table->refs = 1;
	table->bits = bits;
	table->slot_count = slot_count;
	return table;
}

/** An empty one. */
static struct hash_table *hash_table_new(int bits, bool is_forced)
{
	struct hash_table *table = hash_table_alloc(bits, is_forced);
	if (table != NULL)
		hash_table_clear(table);
	return table;
}

static void hash_table_unref(struct hash_table *table)
{
	if (table != NULL && --table->refs == 0)
		mem_free(&index_memory, table, hash_table_bytes(table->slot_count));
}

static inline size_t hash_home(const struct hash_table *table, uint32_t hash)
{
	return hash >> (32 - table->bits);
}

/** Copies all entries in their order. False where the tail is too short. */
static bool hash_table_fill(struct hash_table *to, const struct hash_table *from)
{
	size_t next = 0;
	for (size_t i = 0; i < from->slot_count; i++) {
		if (from->slots[i].tuple == NULL)
			continue;
		size_t home = hash_home(to, from->slots[i].hash);
		next = next > home ? next : home;
		if (next == to->slot_count)
			return false;
		to->slots[next++] = from->slots[i];
	}
	return true;
}

/* Bulk load -------------------------------------------------------------- */

/** May so many entries be in a table with so many homes: three quarters full at most? */
static inline bool hash_has_room(size_t count, int bits)
{
	return bits == HASH_BITS_MAX || count <= ((size_t)3 << bits) / 4;
}

/** The table is cleared by the load, in its thread. */
static int hash_load_reserve(struct index *index, size_t count)
{
	struct hash_index *hash = (struct hash_index *)index;
	int bits = HASH_BITS_MIN;
	while (!hash_has_room(count, bits))
		bits++;
	if (hash->table != NULL && hash->table->bits >= bits)
		return 0;
	hash_table_unref(hash->table);
	hash->table = hash_table_alloc(bits, false);
	return hash->table != NULL ? 0 : -1;
}

/** Entries come in the order of the table: each goes to its home, or next to the one before. */
static bool hash_load(struct index *index, const struct index_load *load)
{
	struct hash_index *hash = (struct hash_index *)index;
	struct hash_table *table = hash->table;
	assert(table != NULL || load->count == 0);
	if (table == NULL)
		return true;
	hash_table_clear(table);
	size_t next = 0;
	for (size_t i = 0; i < load->count; i++) {
		uint32_t value = (uint32_t)load->entries[i].hint;
		size_t home = hash_home(table, value);
		next = next > home ? next : home;
		if (next == table->slot_count) {
			hash_table_clear(table);
			return false;
		}
		table->slots[next++] = (struct hash_slot){load->entries[i].tuple, value};
	}
	hash->size = load->count;
	hash->version++;
	return true;
}

/* Places ----------------------------------------------------------------- */

/** What is looked for. */
struct hash_search {
	uint32_t hash;
	/** NULL: the key. */
	const struct tuple *tuple;
	const char *key;
	const struct key_def *def;
};

static inline int hash_compare(const struct tuple *tuple, const struct hash_search *search)
{
	if (search->tuple != NULL)
		return tuple_compare(tuple, search->tuple, search->def);
	return tuple_compare_with_key(tuple, search->key, search->def->part_count, search->def);
}

/** Where the entry is, or where it would be put. */
static inline size_t hash_seek(const struct hash_table *table, const struct hash_search *search,
			       bool *is_found)
{
	size_t i = hash_home(table, search->hash);
	*is_found = false;
	for (; i < table->slot_count && table->slots[i].tuple != NULL; i++) {
		const struct hash_slot *slot = &table->slots[i];
		if (slot->hash < search->hash)
			continue;
		if (slot->hash > search->hash)
			break;
		int rc = hash_compare(slot->tuple, search);
		if (rc >= 0) {
			*is_found = rc == 0;
			break;
		}
	}
	return i;
}

static struct hash_search hash_search_tuple(const struct index *index, const struct tuple *tuple)
{
	const struct key_def *def = index->def->key_def;
	return (struct hash_search){.hash = tuple_hash(tuple, def), .tuple = tuple, .def = def};
}

static struct hash_search hash_search_key(const struct index *index, const char *key)
{
	const struct key_def *def = index->def->key_def;
	return (struct hash_search){.hash = key_hash(key, def), .key = key, .def = def};
}

/** The first entry from slot `i` on, or NULL. */
static struct tuple *hash_scan(const struct hash_table *table, size_t *i)
{
	for (; table != NULL && *i < table->slot_count; ++*i)
		if (table->slots[*i].tuple != NULL)
			return table->slots[*i].tuple;
	return NULL;
}

/* Changes ---------------------------------------------------------------- */

/** Makes the table the index's own, and larger where it is full or `is_short`. */
static int hash_prepare(struct hash_index *hash, bool is_growing, bool is_short, bool is_forced)
{
	struct hash_table *table = hash->table;
	int bits = table != NULL ? table->bits : HASH_BITS_MIN;
	/* Three quarters full at most. */
	if (is_growing && table != NULL && bits < HASH_BITS_MAX &&
	    (is_short || !hash_has_room(hash->size + 1, bits)))
		bits++;
	if (table != NULL && bits == table->bits && table->refs == 1)
		return 0;
	struct hash_table *grown;
	for (;; bits++) {
		grown = hash_table_new(bits, is_forced);
		if (grown == NULL)
			return -1;
		if (table == NULL || hash_table_fill(grown, table))
			break;
		hash_table_unref(grown);
		if (bits == HASH_BITS_MAX) {
			diag_set(OutOfMemory, "Too many equal hashes in a HASH index");
			return -1;
		}
	}
	hash_table_unref(table);
	hash->table = grown;
	return 0;
}

/** Puts an entry into its place, pushing those behind it. False where the tail is full. */
static bool hash_put_at(struct hash_table *table, size_t i, struct tuple *tuple, uint32_t hash)
{
	size_t end = i;
	while (end < table->slot_count && table->slots[end].tuple != NULL)
		end++;
	if (end == table->slot_count)
		return false;
	memmove(&table->slots[i + 1], &table->slots[i], (end - i) * sizeof(table->slots[0]));
	table->slots[i] = (struct hash_slot){.tuple = tuple, .hash = hash};
	return true;
}

/** Takes an entry out, pulling back those that are behind their home. */
static void hash_cut_at(struct hash_table *table, size_t i)
{
	size_t end = i + 1;
	while (end < table->slot_count && table->slots[end].tuple != NULL &&
	       hash_home(table, table->slots[end].hash) < end)
		end++;
	memmove(&table->slots[i], &table->slots[i + 1], (end - i - 1) * sizeof(table->slots[0]));
	table->slots[end - 1].tuple = NULL;
}

static int hash_insert(struct hash_index *hash, const struct hash_search *search,
		       struct tuple *tuple)
{
	bool is_short = false, is_found;
	for (;;) {
		if (hash_prepare(hash, true, is_short, index_is_undoing) != 0)
			return -1;
		size_t i = hash_seek(hash->table, search, &is_found);
		assert(!is_found);
		if (hash_put_at(hash->table, i, tuple, search->hash))
			break;
		if (hash->table->bits == HASH_BITS_MAX) {
			diag_set(OutOfMemory, "Too many equal hashes in a HASH index");
			return -1;
		}
		is_short = true;
	}
	hash->size++;
	hash->version++;
	return 0;
}

/** Takes a tuple out; it must be there. */
static void hash_remove(struct index *index, struct tuple *tuple)
{
	struct hash_index *hash = (struct hash_index *)index;
	struct hash_search search = hash_search_tuple(index, tuple);
	bool is_found;
	hash_prepare(hash, false, false, true);
	size_t i = hash_seek(hash->table, &search, &is_found);
	assert(is_found && hash->table->slots[i].tuple == tuple);
	hash_cut_at(hash->table, i);
	hash->size--;
	hash->version++;
}

static int hash_put(struct index *index, struct tuple *old_tuple, struct tuple *new_tuple,
		    enum dup_replace_mode mode, struct tuple **result)
{
	struct hash_index *hash = (struct hash_index *)index;
	struct hash_search search = hash_search_tuple(index, new_tuple);
	bool is_found = false;
	size_t i = hash->table != NULL ? hash_seek(hash->table, &search, &is_found) : 0;
	struct tuple *dup = is_found ? hash->table->slots[i].tuple : NULL;
	if (index_check_dup(index, old_tuple, dup, mode) != 0)
		return -1;
	if (dup != NULL) {
		if (hash_prepare(hash, false, false, index_is_undoing) != 0)
			return -1;
		i = hash_seek(hash->table, &search, &is_found);
		hash->table->slots[i].tuple = new_tuple;
		hash->version++;
		*result = dup;
		return 0;
	}
	if (hash_insert(hash, &search, new_tuple) != 0)
		return -1;
	if (old_tuple != NULL)
		hash_remove(index, old_tuple);
	*result = old_tuple;
	return 0;
}

static int hash_replace(struct index *index, struct tuple *old_tuple, struct tuple *new_tuple,
			enum dup_replace_mode mode, struct tuple **result)
{
	if (new_tuple != NULL)
		return hash_put(index, old_tuple, new_tuple, mode, result);
	hash_remove(index, old_tuple);
	*result = old_tuple;
	return 0;
}

/* Look-ups --------------------------------------------------------------- */

static void hash_destroy(struct index *index)
{
	hash_table_unref(((struct hash_index *)index)->table);
	xfree(index);
}

static size_t hash_size(struct index *index)
{
	return ((struct hash_index *)index)->size;
}

static size_t hash_bsize(struct index *index)
{
	struct hash_table *table = ((struct hash_index *)index)->table;
	return table != NULL ? hash_table_bytes(table->slot_count) : 0;
}

static int hash_get(struct index *index, const char *key, uint32_t part_count,
		    struct tuple **result)
{
	struct hash_table *table = ((struct hash_index *)index)->table;
	*result = NULL;
	if (table == NULL)
		return 0;
	struct hash_search search = hash_search_key(index, key);
	bool is_found;
	size_t i = hash_seek(table, &search, &is_found);
	if (is_found)
		*result = table->slots[i].tuple;
	return 0;
}

static int hash_min(struct index *index, const char *key, uint32_t part_count,
		    struct tuple **result)
{
	index_unsupported(index, "min()");
	return -1;
}

static int hash_max(struct index *index, const char *key, uint32_t part_count,
		    struct tuple **result)
{
	index_unsupported(index, "max()");
	return -1;
}

static int hash_random(struct index *index, uint32_t seed, struct tuple **result)
{
	struct hash_table *table = ((struct hash_index *)index)->table;
	*result = NULL;
	if (table == NULL)
		return 0;
	size_t i = index_mix_seed(seed) % table->slot_count;
	*result = hash_scan(table, &i);
	if (*result == NULL) {
		i = 0;
		*result = hash_scan(table, &i);
	}
	return 0;
}

/* Iterators -------------------------------------------------------------- */

enum hash_iterator_state { HASH_ITERATOR_FRESH, HASH_ITERATOR_ACTIVE, HASH_ITERATOR_DONE };

struct hash_iterator {
	struct iterator base;
	enum hash_iterator_state state;
	enum iterator_type type;
	/** The index's version that `pos` belongs to. */
	uint64_t version;
	size_t pos;
	/** What was returned last; referenced. */
	struct tuple *last;
	uint32_t part_count;
	char key[];
};

static void hash_iterator_free(struct iterator *base)
{
	struct hash_iterator *it = (struct hash_iterator *)base;
	if (it->last != NULL)
		tuple_unref(it->last);
	xfree(it);
}

/** The entry behind the given one, whether that is still there or not. */
static size_t hash_behind(struct index *index, const struct tuple *tuple)
{
	struct hash_search search = hash_search_tuple(index, tuple);
	bool is_found;
	size_t i = hash_seek(((struct hash_index *)index)->table, &search, &is_found);
	return is_found ? i + 1 : i;
}

static struct tuple *hash_iterator_start(struct hash_iterator *it)
{
	struct index *index = it->base.index;
	struct tuple *found = NULL;
	if (it->part_count > 0 && it->type != ITER_ALL)
		hash_get(index, it->key, it->part_count, &found);
	if (it->type == ITER_EQ)
		return found;
	if (it->type == ITER_GT && it->part_count > 0) {
		if (found == NULL)
			return NULL;
		it->pos = hash_behind(index, found);
	}
	return hash_scan(((struct hash_index *)index)->table, &it->pos);
}

static struct tuple *hash_iterator_go_on(struct hash_iterator *it)
{
	struct hash_index *hash = (struct hash_index *)it->base.index;
	if (it->version != hash->version)
		it->pos = hash_behind(&hash->base, it->last);
	else
		it->pos++;
	return hash_scan(hash->table, &it->pos);
}

static int hash_iterator_next(struct iterator *base, struct tuple **tuple)
{
	struct hash_iterator *it = (struct hash_iterator *)base;
	*tuple = NULL;
	if (it->state == HASH_ITERATOR_DONE)
		return 0;
	*tuple = it->state == HASH_ITERATOR_FRESH ? hash_iterator_start(it) :
		hash_iterator_go_on(it);
	if (*tuple == NULL || it->type == ITER_EQ) {
		it->state = HASH_ITERATOR_DONE;
		return 0;
	}
	it->state = HASH_ITERATOR_ACTIVE;
	it->version = ((struct hash_index *)base->index)->version;
	tuple_ref(*tuple);
	if (it->last != NULL)
		tuple_unref(it->last);
	it->last = *tuple;
	return 0;
}

static struct iterator *hash_iterator(struct index *index, enum iterator_type type,
				      const char *key, uint32_t part_count)
{
	if (type != ITER_EQ && type != ITER_ALL && type != ITER_GT) {
		index_unsupported(index, "requested iterator type");
		return NULL;
	}
	size_t key_size = index_key_size(key, part_count);
	struct hash_iterator *it = xcalloc(1, sizeof(*it) + key_size);
	it->base.next = hash_iterator_next;
	it->base.free = hash_iterator_free;
	it->base.index = index;
	it->base.space_id = index->def->space_id;
	it->base.index_id = index->def->iid;
	it->type = type;
	it->part_count = part_count;
	if (key_size > 0)
		memcpy(it->key, key, key_size);
	return &it->base;
}

static int64_t hash_count(struct index *index, enum iterator_type type, const char *key,
			  uint32_t part_count)
{
	if (type == ITER_ALL || (type == ITER_GT && part_count == 0))
		return ((struct hash_index *)index)->size;
	struct iterator *it = hash_iterator(index, type, key, part_count);
	if (it == NULL)
		return -1;
	int64_t count = -1;
	struct tuple *tuple;
	do {
		count++;
		it->next(it, &tuple);
	} while (tuple != NULL);
	it->free(it);
	return count;
}

/* Frozen views ----------------------------------------------------------- */

struct hash_frozen_view {
	struct iterator base;
	struct hash_table *table;
	size_t pos;
};

static int hash_frozen_next(struct iterator *base, struct tuple **tuple)
{
	struct hash_frozen_view *it = (struct hash_frozen_view *)base;
	*tuple = hash_scan(it->table, &it->pos);
	it->pos++;
	return 0;
}

static void hash_frozen_free(struct iterator *base)
{
	hash_table_unref(((struct hash_frozen_view *)base)->table);
	xfree(base);
}

static struct iterator *hash_frozen_view(struct index *index)
{
	struct hash_frozen_view *it = xcalloc(1, sizeof(*it));
	it->base.next = hash_frozen_next;
	it->base.free = hash_frozen_free;
	it->base.index = index;
	it->base.space_id = index->def->space_id;
	it->base.index_id = index->def->iid;
	it->table = ((struct hash_index *)index)->table;
	if (it->table != NULL)
		it->table->refs++;
	return &it->base;
}

/* Check ------------------------------------------------------------------ */

static const char *hash_find_damage(struct hash_index *hash)
{
	const struct hash_table *table = hash->table;
	const struct key_def *def = hash->base.def->key_def;
	const struct hash_slot *prev = NULL;
	size_t size = 0;
	for (size_t i = 0; table != NULL && i < table->slot_count; i++) {
		const struct hash_slot *slot = &table->slots[i];
		if (slot->tuple == NULL)
			continue;
		size++;
		if (slot->hash != tuple_hash(slot->tuple, def))
			return "a hash differs from its tuple's";
		if (hash_home(table, slot->hash) > i)
			return "an entry stands before its home";
		if (hash_home(table, slot->hash) < i && slot[-1].tuple == NULL)
			return "there is a gap before an entry";
		if (prev != NULL && (prev->hash > slot->hash || (prev->hash == slot->hash &&
		    tuple_compare(prev->tuple, slot->tuple, def) >= 0)))
			return "entries do not ascend";
		prev = slot;
	}
	return size == hash->size ? NULL : "the count of entries is wrong";
}

static bool hash_check(struct index *index)
{
	return index_is_sound(index, hash_find_damage((struct hash_index *)index));
}

static const struct index_vtab hash_index_vtab = {
	.destroy = hash_destroy,
	.size = hash_size,
	.bsize = hash_bsize,
	.min = hash_min,
	.max = hash_max,
	.random = hash_random,
	.count = hash_count,
	.get = hash_get,
	.replace = hash_replace,
	.iterator = hash_iterator,
	.frozen_view = hash_frozen_view,
	.load_reserve = hash_load_reserve,
	.load = hash_load,
	.check = hash_check,
};

struct index *hash_index_new(struct index_def *def)
{
	struct hash_index *index = xcalloc(1, sizeof(*index));
	index->base.vtab = &hash_index_vtab;
	return &index->base;
}
