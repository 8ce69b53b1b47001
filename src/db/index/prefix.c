/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Iterators by prefix, NP and PP, as ones of the usual kinds. Of the key's last part, a
 * string s, and a tuple's value t: NP begins at the first with t's first #s bytes above
 * s, PP at the last with these below s. Source: the reference's issue of its manual,
 * "'np' and 'pp' (next/previous prefix) iterators".
 *
 * A string is below s by its first bytes where it is below s: PP is LT. It is above by
 * these where it is not below the least string that is above all with that beginning:
 * s without the bytes 0xff at its end, and its last byte one higher.
 */
#include <assert.h>
#include <string.h>

#include "core/memory.h"
#include "data/mp.h"
#include "db/index/index_private.h"

/** The last part of a key. */
static const char *key_last_part(const char *key, uint32_t part_count)
{
	while (--part_count > 0)
		mp_next(&key);
	return key;
}

/** Puts a key with a higher last part in the place of the old one. */
static void prefix_set_next(struct prefix_bound *bound, const char *last)
{
	uint32_t len;
	const char *end = last, *s = mp_decode_str(&end, &len);
	while (len > 0 && (unsigned char)s[len - 1] == 0xff)
		len--;
	if (len == 0) {
		/* No string is above by its beginning: the next value of the part before. */
		bound->type = ITER_GT;
		bound->part_count--;
		bound->is_empty = bound->part_count == 0;
		return;
	}
	size_t before = last - bound->key;
	char *key = xmalloc(before + mp_sizeof_str(len));
	memcpy(key, bound->key, before);
	char *p = mp_encode_str(key + before, s, len);
	p[-1]++;
	bound->type = ITER_GE;
	bound->key = bound->memory = key;
}

void prefix_bound_create(struct prefix_bound *bound, const struct key_def *def,
			 enum iterator_type type, const char *key, uint32_t part_count)
{
	assert(type == ITER_NP || type == ITER_PP);
	*bound = (struct prefix_bound){
		.type = type == ITER_NP ? ITER_GT : ITER_LT,
		.key = key,
		.part_count = part_count,
	};
	if (type == ITER_PP || part_count == 0)
		return;
	const char *last = key_last_part(key, part_count);
	/* Where a collation orders strings, beginnings say nothing. */
	if (mp_typeof(*last) == MP_STR && def->parts[part_count - 1].coll == NULL)
		prefix_set_next(bound, last);
}
