/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Collations: the order of strings by the rules of a language, through ICU.
 *
 * Strings are UTF-8; what is not well-formed in one counts as U+FFFD. Comparison
 * goes over the strings as they are; a hash is that of the sort key, which equal
 * strings share; a hint is the beginning of the sort key.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum {
	/** Bytes of a locale's name, without the zero. */
	COLL_LOCALE_MAX = 30,
};

/** A setting that is on, off, or as the locale has it. */
enum coll_switch { COLL_SWITCH_DEFAULT, COLL_ON, COLL_OFF, coll_switch_MAX };

enum coll_strength {
	COLL_STRENGTH_DEFAULT,
	COLL_PRIMARY, COLL_SECONDARY, COLL_TERTIARY, COLL_QUATERNARY, COLL_IDENTICAL,
	coll_strength_MAX,
};

enum coll_alternate {
	COLL_ALTERNATE_DEFAULT, COLL_NON_IGNORABLE, COLL_SHIFTED, coll_alternate_MAX,
};

enum coll_case_first {
	COLL_CASE_FIRST_DEFAULT, COLL_CASE_FIRST_OFF, COLL_UPPER_FIRST, COLL_LOWER_FIRST,
	coll_case_first_MAX,
};

/** What a collator is to be like: names and meanings are those of ICU's attributes. */
struct coll_def {
	char locale[COLL_LOCALE_MAX + 1];
	enum coll_strength strength;
	enum coll_switch french_collation, case_level, normalization_mode, numeric_collation;
	enum coll_alternate alternate_handling;
	enum coll_case_first case_first;
};

extern const struct error_type type_CollationError;

struct coll;

/** One reference, the caller's. NULL: CollationError with ICU's name of what is wrong. */
struct coll *coll_new(const struct coll_def *def);

/** Both take NULL, too. */
void coll_ref(struct coll *coll);
void coll_unref(struct coll *coll);

/** Below zero, zero, above zero. */
int coll_compare(const struct coll *coll, const char *a, size_t a_len, const char *b, size_t b_len);

/** Strings that compare equal hash alike. */
uint32_t coll_hash(const struct coll *coll, const char *s, size_t len, uint32_t seed);

/** 64 bits that order as strings do: hint(a) < hint(b) implies a < b. */
uint64_t coll_hint(const struct coll *coll, const char *s, size_t len);
