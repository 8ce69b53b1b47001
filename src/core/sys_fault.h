/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A disk that fails: the table of sys.h with faults in front of the real system, by a
 * plan or drawn from a seed. It also knows what of each file would outlive a loss of
 * power. For tests; nothing of it is in force until `sys` points to sys_faulty.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "core/sys.h"

enum sys_call {
	SYS_OPEN,
	SYS_READ,	/* read and pread */
	SYS_WRITE,
	SYS_FTRUNCATE,
	SYS_FDATASYNC,
	SYS_FSYNC,
	SYS_RENAME,
	SYS_UNLINK,
	sys_call_MAX
};

/** One thing that goes wrong. */
struct sys_fault {
	enum sys_call call;
	/** Calls of the kind that go well before. */
	int after;
	/** How many fail then; -1: all. */
	int times;
	/** The errno they fail with. */
	int error;
	/**
	 * Of a write: so many bytes are written first, and their number is returned: the next
	 * write fails. 0: none are.
	 */
	int partial;
};

/** The table with faults. Any thread may call. */
extern const struct sys sys_faulty;

/** From now on these happen, instead of what was planned before. At most 16; copied. */
void sys_fault_plan(const struct sys_fault *faults, int count);

/**
 * From now on so many of a thousand calls fail, in a way and at a moment that the seed
 * decides: errors, short writes, a full disk that stays so for some calls.
 */
void sys_fault_random(uint64_t seed, int per_mille);

/** All goes well again; call counts are 0, and what was closed counts as synced. */
void sys_fault_clear(void);

/** Each of fdatasync and fsync takes so long; 0: as long as it takes. */
void sys_fault_delay_sync(int microseconds);

/** Calls of a kind since sys_fault_clear(), and how many failed. */
int sys_fault_calls(enum sys_call call);
int sys_fault_failed(enum sys_call call);

/**
 * What a loss of power leaves of the files that were written since the process began: what was
 * synced, and of what came behind it a part, its whole length with zeros, or nothing, by the
 * seed; what was cut off may be back where the cut was not synced. Calls of the table that
 * change files wait for ever behind it: the process has to end.
 */
void sys_fault_power_loss(uint64_t seed);
