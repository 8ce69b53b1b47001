/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Collations over ICU's collators: see the header.
 */
#include "data/coll.h"

#include <string.h>
#include <unicode/ucol.h>
#include <unicode/uiter.h>
#include <unicode/ustring.h>

#include "core/diag.h"
#include "core/log.h"
#include "core/memory.h"
#include "data/mp.h"

const struct error_type type_CollationError = {"CollationError", &type_Exception};

struct coll {
	uint32_t refs;
	UCollator *collator;
};

static const UColAttributeValue coll_strengths[coll_strength_MAX] = {
	UCOL_DEFAULT, UCOL_PRIMARY, UCOL_SECONDARY, UCOL_TERTIARY, UCOL_QUATERNARY, UCOL_IDENTICAL,
};

static const UColAttributeValue coll_switches[coll_switch_MAX] = {
	UCOL_DEFAULT, UCOL_ON, UCOL_OFF,
};

static const UColAttributeValue coll_alternates[coll_alternate_MAX] = {
	UCOL_DEFAULT, UCOL_NON_IGNORABLE, UCOL_SHIFTED,
};

static const UColAttributeValue coll_case_firsts[coll_case_first_MAX] = {
	UCOL_DEFAULT, UCOL_OFF, UCOL_UPPER_FIRST, UCOL_LOWER_FIRST,
};

static void coll_set_attributes(UCollator *collator, const struct coll_def *def, UErrorCode *status)
{
	const struct { UColAttribute attribute; UColAttributeValue value; } settings[] = {
		{UCOL_STRENGTH, coll_strengths[def->strength]},
		{UCOL_FRENCH_COLLATION, coll_switches[def->french_collation]},
		{UCOL_CASE_LEVEL, coll_switches[def->case_level]},
		{UCOL_NORMALIZATION_MODE, coll_switches[def->normalization_mode]},
		{UCOL_NUMERIC_COLLATION, coll_switches[def->numeric_collation]},
		{UCOL_ALTERNATE_HANDLING, coll_alternates[def->alternate_handling]},
		{UCOL_CASE_FIRST, coll_case_firsts[def->case_first]},
	};
	for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
		if (settings[i].value != UCOL_DEFAULT)
			ucol_setAttribute(collator, settings[i].attribute, settings[i].value,
					  status);
	}
}

struct coll *coll_new(const struct coll_def *def)
{
	UErrorCode status = U_ZERO_ERROR;
	UCollator *collator = ucol_open(def->locale, &status);
	if (U_SUCCESS(status))
		coll_set_attributes(collator, def, &status);
	if (U_FAILURE(status)) {
		diag_set(CollationError, "%s", u_errorName(status));
		ucol_close(collator);
		return NULL;
	}
	struct coll *coll = xmalloc(sizeof(*coll));
	coll->refs = 1;
	coll->collator = collator;
	return coll;
}

void coll_ref(struct coll *coll)
{
	if (coll != NULL)
		coll->refs++;
}

void coll_unref(struct coll *coll)
{
	if (coll == NULL || --coll->refs > 0)
		return;
	ucol_close(coll->collator);
	xfree(coll);
}

/** With a collator that could be opened, only memory can be missing. */
static inline void coll_check(UErrorCode status)
{
	if (U_FAILURE(status))
		panic("ICU cannot collate: %s", u_errorName(status));
}

int coll_compare(const struct coll *coll, const char *a, size_t a_len, const char *b, size_t b_len)
{
	UErrorCode status = U_ZERO_ERROR;
	UCollationResult result = ucol_strcollUTF8(coll->collator, a, a_len, b, b_len, &status);
	coll_check(status);
	return result;
}

/** Room on the stack for usual strings; longer ones get memory of their own. */
enum { COLL_UNITS_ON_STACK = 256, COLL_KEY_ON_STACK = 1024 };

/** The hash of the sort key of a string in UTF-16. */
static uint32_t coll_hash_units(const struct coll *coll, const UChar *units, int32_t count,
				uint32_t seed)
{
	uint8_t on_stack[COLL_KEY_ON_STACK], *key = on_stack;
	int32_t size = ucol_getSortKey(coll->collator, units, count, key, sizeof(on_stack));
	if (size > (int32_t)sizeof(on_stack)) {
		key = xmalloc(size);
		ucol_getSortKey(coll->collator, units, count, key, size);
	}
	uint32_t hash = mp_hash_bytes(key, size, seed);
	if (key != on_stack)
		xfree(key);
	return hash;
}

uint32_t coll_hash(const struct coll *coll, const char *s, size_t len, uint32_t seed)
{
	/* No string has more units in UTF-16 than bytes in UTF-8. */
	UChar on_stack[COLL_UNITS_ON_STACK], *units = on_stack;
	if (len > COLL_UNITS_ON_STACK)
		units = xmalloc(len * sizeof(*units));
	int32_t count = 0;
	UErrorCode status = U_ZERO_ERROR;
	u_strFromUTF8WithSub(units, len > COLL_UNITS_ON_STACK ? len : COLL_UNITS_ON_STACK, &count,
			     s, len, 0xfffd, NULL, &status);
	coll_check(status);
	uint32_t hash = coll_hash_units(coll, units, count, seed);
	if (units != on_stack)
		xfree(units);
	return hash;
}

uint64_t coll_hint(const struct coll *coll, const char *s, size_t len)
{
	UCharIterator iterator;
	uiter_setUTF8(&iterator, s, len);
	uint32_t state[2] = {0, 0};
	uint8_t key[sizeof(uint64_t)] = {0};
	UErrorCode status = U_ZERO_ERROR;
	ucol_nextSortKeyPart(coll->collator, &iterator, state, key, sizeof(key), &status);
	coll_check(status);
	uint64_t hint;
	memcpy(&hint, key, sizeof(hint));
	return mp_bswap_u64(hint);
}
