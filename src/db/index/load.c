/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Bulk load: gathering and sorting of entries.
 *
 * Entries are sorted by hints, which touches no tuple: by a radix sort, from the
 * last byte to the first, that passes over bytes which all hints have in common.
 * It is stable. What is left are runs of equal hints. Where hints are exact and the
 * key has one part, these are duplicates. Hints of strings are taken from behind the
 * beginning that all have in common; those of a run get hints from behind their own
 * common beginning and are sorted by these. All others are compared,
 * in a merge sort; rows that were gathered in the order of the primary key mostly
 * turn out to be in order by then.
 *
 * Entries of a HASH index are sorted by their hashes, which is the order of its table.
 */
#include "db/index/load.h"

#include <assert.h>
#include <string.h>

#include "core/memory.h"
#include "core/diag.h"
#include "db/index/index_private.h"
#include "db/tuple/hint.h"
#include "db/tuple/tuple.h"

enum {
	/** Tuples asked for ahead of their use. */
	PREFETCH_DISTANCE = 16,
	/** Shorter runs are sorted by merging: clearing the counters of a radix sort costs more. */
	RADIX_COUNT_MIN = 256,
	/** Runs so short are sorted by insertion. */
	INSERTION_COUNT_MAX = 8,
	/** Strings of shorter runs, and those that differ only behind, are compared at once. */
	DEEPER_COUNT_MIN = 4,
	DEEPER_SKIP_MAX = 1024,
	/** A block can skip no more; and hints are made anew when the beginning gets shorter. */
	LOAD_SKIP_MAX = 64,
};

/* Gathering -------------------------------------------------------------- */

void index_load_create(struct index_load *load, struct index *index, size_t expected)
{
	*load = (struct index_load){.index = index,
				    .is_by_hash = index->def->type == INDEX_HASH};
	if (expected == 0)
		return;
	load->entries = mem_try(expected * sizeof(*load->entries));
	if (load->entries != NULL)
		load->capacity = expected;
}

void index_load_destroy(struct index_load *load)
{
	xfree(load->entries);
	load->entries = NULL;
	load->count = load->capacity = 0;
}

static int no_memory(size_t size)
{
	diag_set(OutOfMemory, "Failed to allocate %zu bytes in index build for entries", size);
	return -1;
}

static int load_grow(struct index_load *load)
{
	size_t capacity = load->capacity > 0 ? load->capacity * 2 : 1024;
	struct index_entry *entries = mem_try(capacity * sizeof(*entries));
	if (entries == NULL)
		return no_memory(capacity * sizeof(*entries));
	if (load->count > 0)
		memcpy(entries, load->entries, load->count * sizeof(*entries));
	xfree(load->entries);
	load->entries = entries;
	load->capacity = capacity;
	return 0;
}

/** The hint from byte `skip` on, from one that is from `skip` + `distance` on. */
static hint_t hint_earlier(hint_t hint, const char *common, uint32_t skip, uint32_t distance,
			   bool is_nullable)
{
	const char *data = common + skip;
	if (distance >= sizeof(hint_t))
		hint = hint_of_prefix(data, sizeof(hint_t));
	else
		hint = hint_of_prefix(data, distance) | (hint - is_nullable) >> 8 * distance;
	return is_nullable ? hint_above_nil(hint) : hint;
}

/** The strings have less in common than it seemed. */
static void load_skip_less(struct index_load *load, uint32_t skip)
{
	bool is_nullable = load->index->def->cmp_def->parts[0].is_nullable;
	for (size_t i = 0; i < load->count; i++)
		load->entries[i].hint = hint_earlier(load->entries[i].hint, load->first.data, skip,
						     load->skip - skip, is_nullable);
	load->skip = skip;
}

static hint_t load_bytes_hint(struct index_load *load, const struct tuple *tuple)
{
	const struct key_def *def = load->index->def->cmp_def;
	struct hint_bytes bytes = tuple_hint_bytes(tuple, def);
	if (load->count == 0) {
		load->first = bytes;
		load->skip = bytes.len < LOAD_SKIP_MAX ? bytes.len : LOAD_SKIP_MAX;
	} else if (load->skip > 0) {
		uint32_t common = hint_bytes_common(load->first, bytes, load->skip);
		if (common < load->skip)
			load_skip_less(load, common);
	}
	return hint_from_bytes(bytes, load->skip, def);
}

int index_load_add(struct index_load *load, struct tuple *tuple)
{
	const struct key_def *def = load->index->def->cmp_def;
	if (tuple_key_is_excluded(tuple, load->index->def->key_def))
		return 0;
	if (load->count == load->capacity && load_grow(load) != 0)
		return -1;
	struct index_entry *entry = &load->entries[load->count];
	entry->tuple = tuple;
	if (load->is_by_hash)
		entry->hint = tuple_hash(tuple, load->index->def->key_def);
	else
		entry->hint = def->hint_is_bytes ? load_bytes_hint(load, tuple) :
			tuple_hint(tuple, def);
	load->count++;
	return 0;
}

static inline void tuple_prefetch(const struct tuple *tuple)
{
	__builtin_prefetch(tuple);
	__builtin_prefetch((const char *)tuple + 64);
}

int index_load_gather(struct index_load *load, struct iterator *it,
		      int (*check)(struct tuple *tuple, void *arg), void *arg)
{
	struct tuple *ring[PREFETCH_DISTANCE];
	size_t head = 0, tail = 0;
	bool is_over = false;
	for (;;) {
		while (!is_over && head - tail < PREFETCH_DISTANCE) {
			struct tuple *next;
			if (it->next(it, &next) != 0)
				return -1;
			is_over = next == NULL;
			if (is_over)
				break;
			tuple_prefetch(next);
			ring[head++ % PREFETCH_DISTANCE] = next;
		}
		if (head == tail)
			return 0;
		struct tuple *tuple = ring[tail++ % PREFETCH_DISTANCE];
		if ((check != NULL && check(tuple, arg) != 0) || index_load_add(load, tuple) != 0)
			return -1;
	}
}

/* Sorting by hints ------------------------------------------------------- */

static bool hints_ascend(const struct index_entry *entries, size_t count)
{
	for (size_t i = 1; i < count; i++)
		if (entries[i - 1].hint > entries[i].hint)
			return false;
	return true;
}

static void insertion_sort_by_hint(struct index_entry *entries, size_t count)
{
	for (size_t i = 1; i < count; i++) {
		struct index_entry e = entries[i];
		size_t j = i;
		for (; j > 0 && entries[j - 1].hint > e.hint; j--)
			entries[j] = entries[j - 1];
		entries[j] = e;
	}
}

/** One pass: by the byte at `shift`. `start` has where each of its values begins in `to`. */
static void radix_pass(struct index_entry *to, const struct index_entry *from, size_t count,
		       unsigned shift, size_t start[256])
{
	for (size_t i = 0; i < count; i++)
		to[start[from[i].hint >> shift & 255]++] = from[i];
}

/** Sorts `entries` with the help of `other`, which has room for as many. */
static void radix_sort(struct index_entry *entries, struct index_entry *other, size_t count)
{
	static _Thread_local size_t counts[8][256];
	struct index_entry *from = entries, *to = other;
	memset(counts, 0, sizeof(counts));
	for (size_t i = 0; i < count; i++)
		for (unsigned k = 0; k < 8; k++)
			counts[k][entries[i].hint >> 8 * k & 255]++;
	for (unsigned k = 0; k < 8; k++) {
		if (counts[k][entries[0].hint >> 8 * k & 255] == count)
			continue;
		size_t sum = 0;
		for (unsigned v = 0; v < 256; v++) {
			size_t n = counts[k][v];
			counts[k][v] = sum;
			sum += n;
		}
		radix_pass(to, from, count, 8 * k, counts[k]);
		struct index_entry *swap = from;
		from = to;
		to = swap;
	}
	if (from != entries)
		memcpy(entries, from, count * sizeof(*entries));
}

static void sort_by_hint(struct index_entry *entries, struct index_entry *other, size_t count)
{
	if (count <= INSERTION_COUNT_MAX) {
		insertion_sort_by_hint(entries, count);
		return;
	}
	if (hints_ascend(entries, count))
		return;
	if (count >= RADIX_COUNT_MIN) {
		radix_sort(entries, other, count);
		return;
	}
	size_t half = count / 2;
	sort_by_hint(entries, other, half);
	sort_by_hint(entries + half, other, count - half);
	memcpy(other, entries, half * sizeof(*entries));
	size_t a = 0, b = half, out = 0;
	while (a < half && b < count)
		entries[out++] = other[a].hint <= entries[b].hint ? other[a++] : entries[b++];
	memcpy(entries + out, other + a, (half - a) * sizeof(*entries));
}

/* Sorting by comparison -------------------------------------------------- */

struct sorter {
	const struct key_def *def;
	/** Hints are hashes, which tell nothing of the order of keys. */
	bool is_by_hash;
	/**
	 * Two entries were equal. Entries that end up side by side have been compared with each
	 * other, by their hints or whole, so nothing more is needed to find that out.
	 */
	bool has_equal;
};

static int entry_compare(struct sorter *s, const struct index_entry *a,
			 const struct index_entry *b)
{
	int rc = tuple_compare(a->tuple, b->tuple, s->def);
	s->has_equal |= rc == 0;
	return rc;
}

/** Are the entries in order? */
static bool entries_ascend(struct sorter *s, const struct index_entry *entries, size_t count)
{
	for (size_t i = 1; i < count; i++) {
		if (i + PREFETCH_DISTANCE < count)
			tuple_prefetch(entries[i + PREFETCH_DISTANCE].tuple);
		if (entry_compare(s, &entries[i - 1], &entries[i]) > 0)
			return false;
	}
	return true;
}

static void insertion_sort(struct sorter *s, struct index_entry *entries, size_t count)
{
	for (size_t i = 1; i < count; i++) {
		struct index_entry e = entries[i];
		size_t j = i;
		for (; j > 0 && entry_compare(s, &entries[j - 1], &e) > 0; j--)
			entries[j] = entries[j - 1];
		entries[j] = e;
	}
}

static void merge_sort(struct sorter *s, struct index_entry *entries, struct index_entry *other,
		       size_t count)
{
	if (count <= INSERTION_COUNT_MAX) {
		insertion_sort(s, entries, count);
		return;
	}
	size_t half = count / 2;
	merge_sort(s, entries, other, half);
	merge_sort(s, entries + half, other, count - half);
	if (entry_compare(s, &entries[half - 1], &entries[half]) <= 0)
		return;
	memcpy(other, entries, half * sizeof(*entries));
	size_t a = 0, b = half, out = 0;
	while (a < half && b < count)
		entries[out++] = entry_compare(s, &other[a], &entries[b]) <= 0 ?
			other[a++] : entries[b++];
	memcpy(entries + out, other + a, (half - a) * sizeof(*entries));
}

/* Runs of equal hints ---------------------------------------------------- */

/** How many bytes all strings of a run have in common at their beginning. */
static uint32_t run_common(const struct index_entry *run, size_t count, const struct key_def *def)
{
	struct hint_bytes first = tuple_hint_bytes(run[0].tuple, def);
	uint32_t common = first.len;
	for (size_t i = 1; i < count; i++) {
		if (i + PREFETCH_DISTANCE < count)
			tuple_prefetch(run[i + PREFETCH_DISTANCE].tuple);
		common = hint_bytes_common(first, tuple_hint_bytes(run[i].tuple, def), common);
	}
	return common;
}

static void sort_entries(struct sorter *s, struct index_entry *entries, struct index_entry *other,
			 size_t count, uint32_t skip);

/**
 * Sorts a run of strings that have the bytes from `skip` on in common that hints show, by those
 * behind. False where they have less in common.
 */
static bool run_sort_deeper(struct sorter *s, struct index_entry *run, struct index_entry *other,
			    size_t count, uint32_t skip)
{
	hint_t hint = run[0].hint;
	uint32_t common = run_common(run, count, s->def);
	if (common < skip + sizeof(hint_t))
		return false;
	for (size_t i = 0; i < count; i++)
		run[i].hint = hint_from_bytes(tuple_hint_bytes(run[i].tuple, s->def), common,
					      s->def);
	sort_entries(s, run, other, count, common);
	for (size_t i = 0; i < count; i++)
		run[i].hint = hint;
	return true;
}

static void run_sort(struct sorter *s, struct index_entry *run, struct index_entry *other,
		     size_t count, uint32_t skip)
{
	if (!s->is_by_hash && hint_settles(run[0].hint, s->def->part_count, s->def)) {
		s->has_equal = true;
		return;
	}
	if (entries_ascend(s, run, count))
		return;
	if (s->is_by_hash || !s->def->hint_is_bytes || count < DEEPER_COUNT_MIN ||
	    skip > DEEPER_SKIP_MAX || !run_sort_deeper(s, run, other, count, skip))
		merge_sort(s, run, other, count);
}

/** Asks for a tuple that is going to be compared, since its hint is not the only one. */
static void run_prefetch(const struct index_entry *entries, size_t count, size_t pos)
{
	if (pos + 1 < count && (entries[pos].hint == entries[pos + 1].hint ||
				entries[pos].hint == entries[pos - 1].hint))
		tuple_prefetch(entries[pos].tuple);
}

/** The first entry behind the run that begins at `begin`. */
static size_t run_end(const struct index_entry *entries, size_t count, size_t begin)
{
	size_t end = begin;
	do {
		run_prefetch(entries, count, end + PREFETCH_DISTANCE);
		end++;
	} while (end < count && entries[end].hint == entries[begin].hint);
	return end;
}

/** Sorts entries whose hints are of the strings from `skip` on. */
static void sort_entries(struct sorter *s, struct index_entry *entries, struct index_entry *other,
			 size_t count, uint32_t skip)
{
	sort_by_hint(entries, other, count);
	for (size_t begin = 0, end; begin < count; begin = end) {
		end = run_end(entries, count, begin);
		if (end - begin > 1)
			run_sort(s, entries + begin, other, end - begin, skip);
	}
}

/* Duplicates ------------------------------------------------------------- */

/** Are keys equal that order entries with the primary key behind? Those with a nil may be. */
static bool has_nullable_duplicate(const struct index_load *load)
{
	const struct key_def *def = load->index->def->key_def, *cmp_def = load->index->def->cmp_def;
	const struct index_entry *e = load->entries;
	for (size_t i = 1; i < load->count; i++) {
		hint_t open = hint_open_bits(e[i].hint, def->part_count, cmp_def);
		if ((e[i - 1].hint | open) == (e[i].hint | open) &&
		    tuple_compare(e[i - 1].tuple, e[i].tuple, def) == 0 &&
		    !tuple_key_has_null(e[i].tuple, def))
			return true;
	}
	return false;
}

static int check_unique(const struct index_load *load, bool has_equal)
{
	const struct index_def *def = load->index->def;
	if (!def->is_unique)
		return 0;
	bool is_whole_key = load->is_by_hash || def->cmp_def->part_count == def->key_def->part_count;
	if (is_whole_key ? !has_equal : !has_nullable_duplicate(load))
		return 0;
	index_duplicate(load->index);
	return -1;
}

int index_load_sort(struct index_load *load)
{
	if (load->count < 2)
		return 0;
	size_t size = load->count * sizeof(*load->entries);
	struct index_entry *other = mem_try(size);
	if (other == NULL)
		return no_memory(size);
	const struct index_def *def = load->index->def;
	struct sorter sorter = {.def = load->is_by_hash ? def->key_def : def->cmp_def,
				.is_by_hash = load->is_by_hash};
	sort_entries(&sorter, load->entries, other, load->count, load->skip);
	xfree(other);
	return check_unique(load, sorter.has_equal);
}

int index_load_each(const struct index_load *load)
{
	struct index *index = load->index;
	struct tuple *unused;
	for (size_t i = 0; i < load->count; i++)
		if (index->vtab->replace(index, NULL, load->entries[i].tuple, DUP_INSERT,
					 &unused) != 0)
			return -1;
	return 0;
}

int index_load_put(const struct index_load *load)
{
	const struct index_vtab *vtab = load->index->vtab;
	if (vtab->load_reserve(load->index, load->count) != 0)
		return -1;
	return vtab->load(load->index, load) ? 0 : index_load_each(load);
}

int index_load_finish(struct index_load *load)
{
	return index_load_sort(load) == 0 ? index_load_put(load) : -1;
}
