/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Time zones: abbreviations with an offset of their own (MSK), and the zones of the tz
 * database (Europe/Moscow), whose compiled files the system has. A zone's file is read
 * at its first use, and kept.
 *
 * Source: RFC 8536 (TZif), POSIX (the rule at its end).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	/** Numbers of zones are below it. */
	TIMEZONE_INDEX_MAX = 1012,
	/** Offsets in minutes: what datetimes may have. */
	TIMEZONE_OFFSET_MIN = -12 * 60,
	TIMEZONE_OFFSET_MAX = 14 * 60,
	TIMEZONE_AMBIGUOUS = -1,
};

/** What holds at a moment in a zone. */
struct timezone_info {
	/** Seconds east of UTC. */
	int32_t offset;
	int32_t is_dst;
};

/**
 * A zone's number by its name; 0: there is none, TIMEZONE_AMBIGUOUS: an abbreviation
 * that several zones use. Other names of the tz database are taken for the zones that
 * they are links to.
 */
int timezone_by_name(const char *name, size_t len);

/** The name, lives for good; NULL where there is no such zone. */
const char *timezone_name(int index);

/** At a moment, in seconds from the epoch. -1: no such zone, or the system has no file for it. */
int timezone_at(int index, int64_t utc, struct timezone_info *info);

/**
 * At a time of the zone's clocks, in seconds from the epoch as if they showed UTC. Of a
 * time that is there twice the first; one that is skipped counts by the offset before.
 */
int timezone_at_local(int index, int64_t local, struct timezone_info *info);
