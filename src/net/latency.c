/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Log-linear histograms: each power of two has SUB buckets of equal width.
 */
#include "net/latency.h"

#include <string.h>

#include "core/ticks.h"
#include "db/iproto_const.h"

enum {
	SUB_BITS = 4,
	SUB = 1 << SUB_BITS,
	/** Ticks below 2^UNIT_BITS are not told apart: some 10 ns. */
	UNIT_BITS = 5,
	/** The longest time is 2^(UNIT_BITS + POWER_MAX) ticks: hours. */
	POWER_MAX = 40,
	BUCKETS = (POWER_MAX - SUB_BITS + 1) * SUB,
};

struct histogram {
	uint64_t count, max;
	uint64_t buckets[BUCKETS];
};

static struct histogram histograms[latency_type_MAX];

static inline unsigned bucket_of(uint64_t ticks)
{
	uint64_t v = ticks >> UNIT_BITS;
	if (v < SUB)
		return v;
	unsigned power = 63 - __builtin_clzll(v);
	if (power >= POWER_MAX)
		return BUCKETS - 1;
	return (power - SUB_BITS + 1) * SUB + ((v >> (power - SUB_BITS)) & (SUB - 1));
}

/** The largest number of ticks that falls into the bucket. */
static uint64_t bucket_end(unsigned bucket)
{
	if (bucket < SUB)
		return (uint64_t)(bucket + 1) << UNIT_BITS;
	unsigned power = bucket / SUB + SUB_BITS - 1;
	uint64_t v = SUB + bucket % SUB + 1;
	return v << (power - SUB_BITS + UNIT_BITS);
}

static inline unsigned place_of(uint32_t type)
{
	if (type == IPROTO_CALL_16)
		return IPROTO_CALL;
	if (type == IPROTO_OK)
		return LATENCY_OTHER;
	return type <= IPROTO_ROLLBACK ? type : type == IPROTO_PING ? LATENCY_PING : LATENCY_OTHER;
}

void latency_count(uint32_t type, uint64_t since)
{
	struct histogram *h = &histograms[place_of(type)];
	uint64_t now = ticks_now(), ticks = now > since ? now - since : 0;
	h->count++;
	h->buckets[bucket_of(ticks)]++;
	if (ticks > h->max)
		h->max = ticks;
}

const char *latency_name(int place)
{
	if (place == IPROTO_OK || place == IPROTO_CALL_16)
		return NULL;
	if (place == LATENCY_OTHER)
		return "OTHER";
	return iproto_type_name(place == LATENCY_PING ? IPROTO_PING : place);
}

/** Ticks that `share` of the requests did not exceed. */
static uint64_t quantile(const struct histogram *h, double share)
{
	uint64_t rank = (uint64_t)(h->count * share), seen = 0;
	for (unsigned i = 0; i < BUCKETS; i++) {
		seen += h->buckets[i];
		if (seen > rank)
			return bucket_end(i) < h->max ? bucket_end(i) : h->max;
	}
	return h->max;
}

bool latency_get(int place, struct latency *out)
{
	const struct histogram *h = &histograms[place];
	if (h->count == 0)
		return false;
	double unit = ticks_unit();
	out->count = h->count;
	out->p50 = quantile(h, 0.5) * unit;
	out->p99 = quantile(h, 0.99) * unit;
	out->p999 = quantile(h, 0.999) * unit;
	out->max = h->max * unit;
	return true;
}

void latency_reset(void)
{
	memset(histograms, 0, sizeof(histograms));
}
