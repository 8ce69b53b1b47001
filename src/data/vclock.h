/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Vector clocks: the last LSN seen of each replica, by replica id. The sum of
 * the LSNs, the signature, names journal files and snapshots.
 *
 * Text form, as in file headers: `{1: 10, 2: 5}`; components that are zero are
 * left out.
 */
#pragma once

#include <stdint.h>
#include <stddef.h>

enum {
	/** Replica ids are 0 (anonymous) to 31. */
	VCLOCK_MAX = 32,
	/** No text form is longer, the zero included. */
	VCLOCK_STR_MAX = VCLOCK_MAX * 26 + 3,
	/** What vclock_compare() returns where neither is behind the other. */
	VCLOCK_ORDER_UNDEFINED = INT32_MAX,
};

struct vclock {
	/** Sum of all components. */
	int64_t signature;
	int64_t lsn[VCLOCK_MAX];
};

/** All components zero. */
void vclock_create(struct vclock *vclock);

/** `replica_id` is below VCLOCK_MAX. */
static inline int64_t vclock_get(const struct vclock *vclock, uint32_t replica_id)
{
	return replica_id < VCLOCK_MAX ? vclock->lsn[replica_id] : 0;
}

/** Moves a component; to where is not checked. */
static inline void vclock_set(struct vclock *vclock, uint32_t replica_id, int64_t lsn)
{
	vclock->signature += lsn - vclock->lsn[replica_id];
	vclock->lsn[replica_id] = lsn;
}

/** The next LSN of a replica, which is made its component. */
static inline int64_t vclock_inc(struct vclock *vclock, uint32_t replica_id)
{
	vclock->signature++;
	return ++vclock->lsn[replica_id];
}

static inline int64_t vclock_sum(const struct vclock *vclock)
{
	return vclock->signature;
}

/** -1: a is behind b in some component and before it in none; 1 the other way; 0 equal. */
int vclock_compare(const struct vclock *a, const struct vclock *b);

/** Writes the text form and a zero; returns its length. */
size_t vclock_to_string(const struct vclock *vclock, char out[VCLOCK_STR_MAX]);

/** Reads the text form. -1 where it is damaged: a wrong sign, a replica twice, out of range. */
int vclock_from_string(struct vclock *vclock, const char *str, size_t len);
