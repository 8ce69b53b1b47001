/* SPDX-License-Identifier: BSD-2-Clause
 *
 * How long the operations of a TREE index take, without the layers above it.
 *
 *     ninja bench_tree && ./bench_tree [COUNT]
 *
 * For each kind of key: insertion in random and in ascending order, look-up,
 * a full scan, replacement in place, deletion; in nanoseconds of processor time
 * for one. Also the bytes the index takes for an entry, and insertions while a frozen view is open.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/fiber.h"
#include "core/memory.h"
#include "data/mp.h"
#include "db/index/index.h"
#include "db/tuple/tuple.h"

enum key_kind { KEY_UNSIGNED, KEY_STRING, KEY_TWO_PARTS, KEY_UNSIGNED_NO_HINT, KEY_KIND_MAX };

static const char *const kind_names[KEY_KIND_MAX] = {
	"unsigned", "string", "unsigned, unsigned", "unsigned, no hints",
};

static uint64_t random_state = 88172645463325252ull;

static uint64_t random_next(void)
{
	random_state ^= random_state >> 12;
	random_state ^= random_state << 25;
	random_state ^= random_state >> 27;
	return random_state * 2685821657736338717ull;
}

static char *encode_key(char *p, enum key_kind kind, uint64_t number)
{
	char text[32];
	switch (kind) {
	case KEY_STRING:
		sprintf(text, "user%012llu", (unsigned long long)number);
		return mp_encode_str(p, text, strlen(text));
	case KEY_TWO_PARTS:
		p = mp_encode_uint(p, number / 64);
		return mp_encode_uint(p, number % 64);
	default:
		return mp_encode_uint(p, number);
	}
}

static struct index *bench_index_new(enum key_kind kind, struct tuple_format **format)
{
	enum field_type type = kind == KEY_STRING ? FIELD_TYPE_STRING : FIELD_TYPE_UNSIGNED;
	struct key_part parts[] = {key_part_of(0, type, false), key_part_of(1, type, false)};
	struct key_def *key = key_def_new(parts, kind == KEY_TWO_PARTS ? 2 : 1);
	*format = tuple_format_new(&key, 1, NULL, 0, 0);
	struct index_def *def = index_def_new(512, 0, "pk", 2, INDEX_TREE, true,
					      kind != KEY_UNSIGNED_NO_HINT, key, NULL);
	struct index *index = index_new(def, "bench");
	index_def_delete(def);
	key_def_delete(key);
	return index;
}

static struct tuple *bench_tuple_new(struct tuple_format *format, enum key_kind kind,
				     uint64_t number)
{
	char data[128], *p = mp_encode_array(data, 3);
	p = encode_key(p, kind, number);
	if (kind != KEY_TWO_PARTS)
		p = mp_encode_uint(p, number);
	p = mp_encode_str(p, "some more data", 14);
	return tuple_new(format, data, p);
}

static void shuffle(struct tuple **tuples, size_t count)
{
	for (size_t i = count - 1; i > 0; i--) {
		size_t j = random_next() % (i + 1);
		struct tuple *t = tuples[i];
		tuples[i] = tuples[j];
		tuples[j] = t;
	}
}

/** Processor time, so that a busy machine disturbs less. */
static uint64_t cpu_ns(void)
{
	struct timespec ts;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

static uint64_t started;

static void begin(void)
{
	started = cpu_ns();
}

static void report(const char *what, size_t count)
{
	printf("  %-28s %7.1f ns\n", what, (double)(cpu_ns() - started) / count);
}

static void insert_all(struct index *index, struct tuple **tuples, size_t count)
{
	struct tuple *result;
	for (size_t i = 0; i < count; i++)
		if (index->vtab->replace(index, NULL, tuples[i], DUP_INSERT, &result) != 0)
			abort();
}

static void delete_all(struct index *index, struct tuple **tuples, size_t count)
{
	struct tuple *result;
	for (size_t i = 0; i < count; i++)
		index->vtab->replace(index, tuples[i], NULL, DUP_REPLACE, &result);
}

static void get_all(struct index *index, enum key_kind kind, size_t count)
{
	char key[64];
	struct tuple *result;
	for (size_t i = 0; i < count; i++) {
		encode_key(key, kind, random_next() % count);
		index->vtab->get(index, key, index->def->key_def->part_count, &result);
		if (result == NULL)
			abort();
	}
}

static void select_all(struct index *index, enum key_kind kind, size_t count)
{
	char key[64];
	struct tuple *result;
	for (size_t i = 0; i < count; i++) {
		encode_key(key, kind, random_next() % count);
		struct iterator *it = index->vtab->iterator(index, ITER_EQ, key,
							    index->def->key_def->part_count);
		it->next(it, &result);
		it->free(it);
		if (result == NULL)
			abort();
	}
}

static void scan_all(struct index *index, size_t count)
{
	struct tuple *tuple;
	size_t seen = 0;
	struct iterator *it = index->vtab->iterator(index, ITER_ALL, NULL, 0);
	while (it->next(it, &tuple), tuple != NULL)
		seen++;
	it->free(it);
	if (seen != count)
		abort();
}

static void run(enum key_kind kind, size_t count)
{
	struct tuple_format *format;
	struct index *index = bench_index_new(kind, &format);
	struct tuple **tuples = malloc(count * sizeof(*tuples));
	printf("%s, %zu entries\n", kind_names[kind], count);
	for (size_t i = 0; i < count; i++)
		tuples[i] = bench_tuple_new(format, kind, i);

	begin();
	insert_all(index, tuples, count);
	report("insert, ascending", count);
	printf("  %-28s %7.1f bytes\n", "index, for an entry",
	       (double)index->vtab->bsize(index) / count);
	delete_all(index, tuples, count);

	shuffle(tuples, count);
	begin();
	insert_all(index, tuples, count);
	report("insert, random", count);
	printf("  %-28s %7.1f bytes\n", "index, for an entry",
	       (double)index->vtab->bsize(index) / count);
	begin();
	get_all(index, kind, count);
	report("get, random", count);
	begin();
	select_all(index, kind, count);
	report("select by iterator, random", count);
	begin();
	scan_all(index, count);
	report("scan, for a tuple", count);

	shuffle(tuples, count);
	begin();
	struct tuple *result;
	for (size_t i = 0; i < count; i++)
		index->vtab->replace(index, tuples[i], tuples[i], DUP_REPLACE, &result);
	report("replace, random", count);
	begin();
	delete_all(index, tuples, count);
	report("delete, random", count);

	insert_all(index, tuples, count / 2);
	struct iterator *view = index->vtab->frozen_view(index);
	begin();
	insert_all(index, tuples + count / 2, count - count / 2);
	report("insert under a frozen view", count - count / 2);
	view->free(view);

	index_delete(index);
	for (size_t i = 0; i < count; i++)
		tuple_unref(tuples[i]);
	tuple_format_unref(format);
	free(tuples);
}

int main(int argc, char **argv)
{
	size_t count = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000000;
	fiber_init();
	tuple_init();
	for (int kind = 0; kind < KEY_KIND_MAX; kind++)
		run(kind, count);
	tuple_free();
	fiber_free();
	return 0;
}
