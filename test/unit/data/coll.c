/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Collations: order, hash and hint have to agree for any bytes, well-formed or not.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "core/diag.h"
#include "core/fiber.h"
#include "core/loop.h"
#include "data/coll.h"

enum { STRING_COUNT = 160, STRING_SIZE = 48 };

static char strings[STRING_COUNT][STRING_SIZE];
static size_t lengths[STRING_COUNT];

/** Pieces that near misses are made of: case, accents, ignorables, contractions, broken bytes. */
static const char *const pieces[] = {
	"a", "A", "b", "\xc3\xa1", "a\xcc\x81", "ss", "\xc3\x9f", "\xd0\xb5", "\xd1\x91", "ch", "c",
	"1", "10", "2", " ", "-", "\xcc\x81\xcc\xa3", "\xcc\xa3\xcc\x81", "\xff", "\xc3", "\xe4\xb8",
	"\xed\xa0\x80", "\xef\xbf\xbd", "\x01", "\xe4\xb8\xad", "\xf0\x9f\x98\x80", "\xc2\xad", "z",
	"\xef\xb7\x90", "\xef\xbf\xbf",
};

static void strings_draw(void)
{
	srand(20);
	for (int i = 0; i < STRING_COUNT; i++) {
		int count = rand() % 6;
		for (int k = 0; k < count; k++) {
			const char *piece = pieces[rand() % (sizeof(pieces) / sizeof(pieces[0]))];
			size_t len = strlen(piece);
			memcpy(strings[i] + lengths[i], piece, len);
			lengths[i] += len;
		}
		if (rand() % 10 == 0)
			strings[i][lengths[i]++] = '\0';
	}
}

static int sign(int n)
{
	return (n > 0) - (n < 0);
}

static void check_agreement(const struct coll *coll, int a, int b)
{
	int order = coll_compare(coll, strings[a], lengths[a], strings[b], lengths[b]);
	int back = coll_compare(coll, strings[b], lengths[b], strings[a], lengths[a]);
	assert_int_equal(sign(order), -sign(back));
	uint64_t hint_a = coll_hint(coll, strings[a], lengths[a]);
	uint64_t hint_b = coll_hint(coll, strings[b], lengths[b]);
	if (hint_a < hint_b)
		assert_true(order < 0);
	else if (hint_a > hint_b)
		assert_true(order > 0);
	bool is_same_hash = coll_hash(coll, strings[a], lengths[a], 7) ==
		coll_hash(coll, strings[b], lengths[b], 7);
	assert_true(is_same_hash == (order == 0));
}

static void test_agreement(void **state)
{
	static const struct coll_def defs[] = {
		{.locale = ""},
		{.locale = "", .strength = COLL_PRIMARY},
		{.locale = "", .strength = COLL_SECONDARY},
		{.locale = "", .strength = COLL_QUATERNARY, .alternate_handling = COLL_SHIFTED},
		{.locale = "", .strength = COLL_IDENTICAL},
		{.locale = "ru", .numeric_collation = COLL_ON, .case_first = COLL_UPPER_FIRST},
		{.locale = "es_u_co_trad", .case_level = COLL_ON, .strength = COLL_PRIMARY},
		{.locale = "fr_CA", .french_collation = COLL_ON, .normalization_mode = COLL_ON},
		{.locale = "zh", .case_first = COLL_LOWER_FIRST},
		{.locale = "vi"},
	};
	strings_draw();
	for (size_t d = 0; d < sizeof(defs) / sizeof(defs[0]); d++) {
		struct coll *coll = coll_new(&defs[d]);
		assert_non_null(coll);
		for (int a = 0; a < STRING_COUNT; a++) {
			for (int b = 0; b <= a; b++)
				check_agreement(coll, a, b);
		}
		coll_unref(coll);
	}
}

/** Longer than what fits on the stack. */
static void test_long(void **state)
{
	enum { SIZE = 100000 };
	struct coll *coll = coll_new(&(struct coll_def){.strength = COLL_PRIMARY});
	char *a = malloc(SIZE), *b = malloc(SIZE);
	memset(a, 'a', SIZE);
	memset(b, 'A', SIZE);
	assert_int_equal(coll_compare(coll, a, SIZE, b, SIZE), 0);
	assert_int_equal(coll_hash(coll, a, SIZE, 1), coll_hash(coll, b, SIZE, 1));
	assert_true(coll_hint(coll, a, SIZE) == coll_hint(coll, b, SIZE));
	b[SIZE - 1] = 'b';
	assert_true(coll_compare(coll, a, SIZE, b, SIZE) < 0);
	assert_int_not_equal(coll_hash(coll, a, SIZE, 1), coll_hash(coll, b, SIZE, 1));
	free(a);
	free(b);
	coll_unref(coll);
}

static void test_bad_locale(void **state)
{
	assert_null(coll_new(&(struct coll_def){.locale = "xxxxxxxxxxxxxxxxxx"}));
	assert_true(error_is(diag_last(), &type_CollationError));
	assert_string_equal(diag_last()->message, "U_ILLEGAL_ARGUMENT_ERROR");
	diag_clear(diag_get());
}

int main(void)
{
	fiber_init();
	loop_init();
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_agreement),
		cmocka_unit_test(test_long),
		cmocka_unit_test(test_bad_locale),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
