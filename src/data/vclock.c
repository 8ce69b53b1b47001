/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Vector clocks: see vclock.h.
 */
#include "data/vclock.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

void vclock_create(struct vclock *vclock)
{
	memset(vclock, 0, sizeof(*vclock));
}

int vclock_compare(const struct vclock *a, const struct vclock *b)
{
	bool is_less = false, is_greater = false;
	for (int i = 0; i < VCLOCK_MAX; i++) {
		is_less |= a->lsn[i] < b->lsn[i];
		is_greater |= a->lsn[i] > b->lsn[i];
	}
	if (is_less && is_greater)
		return VCLOCK_ORDER_UNDEFINED;
	return is_greater - is_less;
}

size_t vclock_to_string(const struct vclock *vclock, char out[VCLOCK_STR_MAX])
{
	char *p = out;
	const char *separator = "";
	*p++ = '{';
	for (int i = 0; i < VCLOCK_MAX; i++) {
		if (vclock->lsn[i] == 0)
			continue;
		p += sprintf(p, "%s%d: %" PRId64, separator, i, vclock->lsn[i]);
		separator = ", ";
	}
	*p++ = '}';
	*p = '\0';
	return p - out;
}

struct vclock_reader {
	const char *pos, *end;
};

static void reader_skip_spaces(struct vclock_reader *r)
{
	while (r->pos < r->end && (*r->pos == ' ' || *r->pos == '\t'))
		r->pos++;
}

static bool reader_take(struct vclock_reader *r, char c)
{
	reader_skip_spaces(r);
	if (r->pos == r->end || *r->pos != c)
		return false;
	r->pos++;
	return true;
}

/** A decimal number up to `max`; false where there is none or it is larger. */
static bool reader_number(struct vclock_reader *r, int64_t max, int64_t *value)
{
	reader_skip_spaces(r);
	const char *start = r->pos;
	int64_t v = 0;
	for (; r->pos < r->end && *r->pos >= '0' && *r->pos <= '9'; r->pos++) {
		int digit = *r->pos - '0';
		if (v > (max - digit) / 10)
			return false;
		v = v * 10 + digit;
	}
	*value = v;
	return r->pos != start;
}

static bool reader_component(struct vclock_reader *r, struct vclock *vclock)
{
	int64_t id, lsn;
	if (!reader_number(r, VCLOCK_MAX - 1, &id) || !reader_take(r, ':') ||
	    !reader_number(r, INT64_MAX, &lsn))
		return false;
	if (vclock->lsn[id] != 0 || lsn > INT64_MAX - vclock->signature)
		return false;
	vclock_set(vclock, id, lsn);
	return true;
}

int vclock_from_string(struct vclock *vclock, const char *str, size_t len)
{
	struct vclock_reader r = {str, str + len};
	struct vclock result;
	vclock_create(&result);
	if (!reader_take(&r, '{'))
		return -1;
	if (!reader_take(&r, '}')) {
		do {
			if (!reader_component(&r, &result))
				return -1;
		} while (reader_take(&r, ','));
		if (!reader_take(&r, '}'))
			return -1;
	}
	reader_skip_spaces(&r);
	if (r.pos != r.end)
		return -1;
	*vclock = result;
	return 0;
}
