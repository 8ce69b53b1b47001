/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Open addressing with linear probing. A key stands in the first free slot from
 * its home slot on (hash & mask). A deletion closes the gap by moving later
 * entries of the run back, so there are no tombstones and probes stay short.
 * An entry is occupied where its value is not NULL. At most 3/4 are occupied,
 * so that every probe finds a free slot.
 */
#include "core/map.h"

#include <assert.h>
#include <string.h>

#include "core/memory.h"

enum { MAP_CAPACITY_MIN = 16 };

/** Is an entry whose home is `home` allowed to move from slot `at` to `gap`? (cyclic order) */
static inline bool may_fill(size_t gap, size_t home, size_t at, size_t mask)
{
	return ((at - home) & mask) >= ((at - gap) & mask);
}

static inline bool is_full(size_t count, size_t capacity)
{
	return (count + 1) * 4 > capacity * 3;
}

static inline size_t grown_capacity(size_t capacity)
{
	return capacity > 0 ? capacity * 2 : MAP_CAPACITY_MIN;
}

/* Integers ------------------------------------------------------------- */

/** Fibonacci hashing, folded: sequential keys spread, and it takes two instructions. */
static inline size_t hash_u64(uint64_t key)
{
	key *= UINT64_C(0x9e3779b97f4a7c15);
	return key ^ (key >> 32);
}

void map_u64_create(struct map_u64 *m)
{
	memset(m, 0, sizeof(*m));
}

void map_u64_destroy(struct map_u64 *m)
{
	xfree(m->slots);
	map_u64_create(m);
}

/** The slot of `key`, or the free one where it would go. */
static inline size_t u64_find(const struct map_u64 *m, uint64_t key)
{
	size_t mask = m->capacity - 1;
	size_t i = hash_u64(key) & mask;
	while (m->slots[i].value != NULL && m->slots[i].key != key)
		i = (i + 1) & mask;
	return i;
}

void *map_u64_get(const struct map_u64 *m, uint64_t key)
{
	return m->count > 0 ? m->slots[u64_find(m, key)].value : NULL;
}

static void u64_grow(struct map_u64 *m)
{
	struct map_u64 old = *m;
	m->capacity = grown_capacity(old.capacity);
	m->slots = xcalloc(m->capacity, sizeof(*m->slots));
	for (size_t i = 0; i < old.capacity; i++) {
		if (old.slots[i].value != NULL)
			m->slots[u64_find(m, old.slots[i].key)] = old.slots[i];
	}
	xfree(old.slots);
}

void *map_u64_put(struct map_u64 *m, uint64_t key, void *value)
{
	assert(value != NULL);
	if (is_full(m->count, m->capacity))
		u64_grow(m);
	struct map_u64_slot *slot = &m->slots[u64_find(m, key)];
	void *old = slot->value;
	m->count += old == NULL;
	slot->key = key;
	slot->value = value;
	return old;
}

void *map_u64_del(struct map_u64 *m, uint64_t key)
{
	if (m->count == 0)
		return NULL;
	size_t mask = m->capacity - 1;
	size_t gap = u64_find(m, key);
	void *old = m->slots[gap].value;
	if (old == NULL)
		return NULL;
	for (size_t i = (gap + 1) & mask; m->slots[i].value != NULL; i = (i + 1) & mask) {
		if (may_fill(gap, hash_u64(m->slots[i].key) & mask, i, mask)) {
			m->slots[gap] = m->slots[i];
			gap = i;
		}
	}
	m->slots[gap].value = NULL;
	m->count--;
	return old;
}

bool map_u64_next(const struct map_u64 *m, size_t *pos, uint64_t *key, void **value)
{
	while (*pos < m->capacity) {
		const struct map_u64_slot *slot = &m->slots[(*pos)++];
		if (slot->value != NULL) {
			*key = slot->key;
			*value = slot->value;
			return true;
		}
	}
	return false;
}

/* Strings -------------------------------------------------------------- */

/** FNV-1a with a final mix; names are short and come from the schema. */
static uint32_t hash_str(const char *key, size_t len)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325);
	for (size_t i = 0; i < len; i++)
		h = (h ^ (unsigned char)key[i]) * UINT64_C(0x100000001b3);
	return h ^ (h >> 32);
}

void map_str_create(struct map_str *m)
{
	memset(m, 0, sizeof(*m));
}

void map_str_destroy(struct map_str *m)
{
	for (size_t i = 0; i < m->capacity; i++) {
		if (m->slots[i].value != NULL)
			xfree(m->slots[i].key);
	}
	xfree(m->slots);
	map_str_create(m);
}

static size_t str_find(const struct map_str *m, const char *key, size_t len, uint32_t hash)
{
	size_t mask = m->capacity - 1;
	size_t i = hash & mask;
	for (; m->slots[i].value != NULL; i = (i + 1) & mask) {
		const struct map_str_slot *slot = &m->slots[i];
		if (slot->hash == hash && slot->len == len &&
		    (len == 0 || memcmp(slot->key, key, len) == 0))
			break;
	}
	return i;
}

void *map_str_get(const struct map_str *m, const char *key, size_t len)
{
	if (m->count == 0)
		return NULL;
	return m->slots[str_find(m, key, len, hash_str(key, len))].value;
}

static void str_grow(struct map_str *m)
{
	struct map_str old = *m;
	m->capacity = grown_capacity(old.capacity);
	m->slots = xcalloc(m->capacity, sizeof(*m->slots));
	for (size_t i = 0; i < old.capacity; i++) {
		const struct map_str_slot *slot = &old.slots[i];
		if (slot->value != NULL)
			m->slots[str_find(m, slot->key, slot->len, slot->hash)] = *slot;
	}
	xfree(old.slots);
}

void *map_str_put(struct map_str *m, const char *key, size_t len, void *value)
{
	assert(value != NULL);
	assert(len <= UINT32_MAX);
	if (is_full(m->count, m->capacity))
		str_grow(m);
	uint32_t hash = hash_str(key, len);
	struct map_str_slot *slot = &m->slots[str_find(m, key, len, hash)];
	void *old = slot->value;
	if (old == NULL) {
		m->count++;
		slot->key = xstrndup(key, len);
		slot->len = len;
		slot->hash = hash;
	}
	slot->value = value;
	return old;
}

void *map_str_del(struct map_str *m, const char *key, size_t len)
{
	if (m->count == 0)
		return NULL;
	size_t mask = m->capacity - 1;
	size_t gap = str_find(m, key, len, hash_str(key, len));
	void *old = m->slots[gap].value;
	if (old == NULL)
		return NULL;
	xfree(m->slots[gap].key);
	for (size_t i = (gap + 1) & mask; m->slots[i].value != NULL; i = (i + 1) & mask) {
		if (may_fill(gap, m->slots[i].hash & mask, i, mask)) {
			m->slots[gap] = m->slots[i];
			gap = i;
		}
	}
	m->slots[gap].value = NULL;
	m->slots[gap].key = NULL;
	m->count--;
	return old;
}

bool map_str_next(const struct map_str *m, size_t *pos, const char **key, size_t *len,
		  void **value)
{
	while (*pos < m->capacity) {
		const struct map_str_slot *slot = &m->slots[(*pos)++];
		if (slot->value != NULL) {
			*key = slot->key;
			*len = slot->len;
			*value = slot->value;
			return true;
		}
	}
	return false;
}
