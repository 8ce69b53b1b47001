/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The cache of sequences and how they count.
 */
#include "db/schema/sequence.h"

#include "core/fiber.h"
#include "core/map.h"
#include "core/memory.h"
#include "data/mp.h"
#include "db/db_int.h"
#include "db/error.h"
#include "db/schema/schema.h"

static struct map_u64 sequences;

struct sequence *sequence_by_id(uint32_t id)
{
	return map_u64_get(&sequences, id);
}

void sequence_foreach(void (*cb)(struct sequence *seq, void *arg), void *arg)
{
	uint64_t id;
	void *value;
	for (size_t pos = 0; map_u64_next(&sequences, &pos, &id, &value);)
		cb(value, arg);
}

void sequence_cache_put(struct sequence *seq)
{
	map_u64_put(&sequences, seq->def->id, seq);
}

void sequence_cache_del(struct sequence *seq)
{
	map_u64_del(&sequences, seq->def->id);
}

void sequence_def_delete(struct sequence_def *def)
{
	xfree(def->name);
	xfree(def);
}

void sequence_delete(struct sequence *seq)
{
	sequence_def_delete(seq->def);
	xfree(seq);
}

void sequence_cache_init(void)
{
	map_u64_create(&sequences);
}

void sequence_cache_free(void)
{
	uint64_t id;
	void *value;
	for (size_t pos = 0; map_u64_next(&sequences, &pos, &id, &value);)
		sequence_delete(value);
	map_u64_destroy(&sequences);
}

/* Counting ------------------------------------------------------------------- */

/** The value behind `value`; false where the bound is passed. */
static bool sequence_step(const struct sequence_def *def, int64_t value, int64_t *next)
{
	if (def->step > 0) {
		if (value < def->min) {
			*next = def->min;
			return true;
		}
		return value < def->max && !__builtin_add_overflow(value, def->step, next) &&
			*next <= def->max;
	}
	if (value > def->max) {
		*next = def->max;
		return true;
	}
	return value > def->min && !__builtin_add_overflow(value, def->step, next) &&
		*next >= def->min;
}

int sequence_advance(struct sequence *seq, int64_t *value)
{
	const struct sequence_def *def = seq->def;
	if (!seq->is_started) {
		*value = def->start;
	} else if (!sequence_step(def, seq->value, value)) {
		if (!def->is_cyclic) {
			client_error(ER_SEQUENCE_OVERFLOW, def->name);
			return -1;
		}
		*value = def->step > 0 ? def->min : def->max;
	}
	seq->value = *value;
	seq->is_started = seq->is_dirty = true;
	return 0;
}

void sequence_follow(struct sequence *seq, int64_t value)
{
	if (seq->is_started && (seq->def->step > 0 ? value <= seq->value : value >= seq->value))
		return;
	seq->value = value;
	seq->is_started = seq->is_dirty = true;
}

int sequence_access_check(const struct sequence *seq)
{
	return access_check(PRIV_WRITE, OBJECT_SEQUENCE, seq->def->name, seq->def->uid,
			    &seq->access);
}

/* _sequence_data --------------------------------------------------------------- */

int sequence_write(struct sequence *seq)
{
	char row[32], *p = row;
	p = mp_encode_array(p, 2);
	p = mp_encode_uint(p, seq->def->id);
	p = seq->value < 0 ? mp_encode_int(p, seq->value) : mp_encode_uint(p, seq->value);
	seq->is_dirty = false;
	struct request request = {
		.type = IPROTO_REPLACE,
		.space_id = SPACE_SEQUENCE_DATA,
		.tuple = row,
		.tuple_end = p,
	};
	int rc = db_process_unchecked(&request, NULL);
	if (rc != 0)
		seq->is_dirty = true;
	return rc;
}

/** Any sequence whose value is not in _sequence_data, or NULL. */
static struct sequence *sequence_find_dirty(void)
{
	uint64_t id;
	void *value;
	for (size_t pos = 0; map_u64_next(&sequences, &pos, &id, &value);) {
		struct sequence *seq = value;
		if (seq->is_dirty)
			return seq;
	}
	return NULL;
}

static int flush_f(va_list ap)
{
	(void)ap;
	struct sequence *seq;
	/* Each write yields: the map may be another one afterwards. */
	while ((seq = sequence_find_dirty()) != NULL) {
		if (sequence_write(seq) != 0)
			return -1;
	}
	return 0;
}

int sequence_flush(void)
{
	/* In fibers of their own, since the caller may have a transaction. */
	while (sequence_find_dirty() != NULL) {
		struct fiber *f = fiber_new("sequence_flush", flush_f);
		if (f == NULL)
			return -1;
		fiber_set_joinable(f, true);
		fiber_start(f);
		if (fiber_join(f) != 0)
			return -1;
	}
	return 0;
}
