/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What a write takes says little where the processor is shared: any write may be the one at
 * which the thread had to make room for others. So a single slow one means nothing.
 */
#include "db/wal/journal_speed.h"

#include "core/log.h"
#include "core/sys.h"

enum {
	/** A write that took longer is slow ... */
	SLOW_WRITE_NS = 10 * 1000 * 1000,
	/** ... and the device is, where so many of the last 16 writes were ... */
	SLOW_WRITE_COUNT = 2,
	/** ... until so many in a row took less than this. */
	FAST_WRITE_NS = 1000 * 1000,
	FAST_WRITE_COUNT = 16,
};

/** Seconds between two lines in the log. */
static const double interval = 60;

static void tell(struct journal_speed *speed, uint64_t ns)
{
	double now = clock_monotonic();
	if (speed->_told != 0 && now - speed->_told < interval)
		return;
	speed->_told = now;
	say_warn("writes to the journal take %.3f s: worker threads do them now", ns * 1e-9);
}

void journal_speed_note(struct journal_speed *speed, uint64_t ns)
{
	speed->_slow_writes = (uint16_t)(speed->_slow_writes << 1 | (ns > SLOW_WRITE_NS));
	if (ns > SLOW_WRITE_NS) {
		speed->_fast_writes = 0;
		if (speed->is_slow || __builtin_popcount(speed->_slow_writes) < SLOW_WRITE_COUNT)
			return;
		speed->is_slow = true;
		tell(speed, ns);
	} else if (speed->is_slow && ns < FAST_WRITE_NS &&
		   ++speed->_fast_writes == FAST_WRITE_COUNT) {
		speed->is_slow = false;
		speed->_slow_writes = 0;
	}
}
