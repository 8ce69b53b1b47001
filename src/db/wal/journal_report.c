/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Lines about a journal that can't be written. A full disk fails thousands of commits in a
 * second: one line for each would fill it even more.
 */
#include "db/wal/journal_report.h"

#include <stdbool.h>

#include "core/diag.h"
#include "core/log.h"
#include "core/sys.h"

/** Seconds between two lines about failures. */
static const double interval = 5;

static struct {
	bool is_failing;
	/** Commits that failed since writing last worked, and since the last line. */
	size_t total, untold;
	/** When the first of them failed, and of the last line; by the monotonic clock. */
	double first, told;
} report;

void journal_report_failure(size_t commits)
{
	double now = clock_monotonic();
	bool is_first = !report.is_failing;
	if (is_first)
		report.first = now;
	report.is_failing = true;
	report.total += commits;
	report.untold += commits;
	if (!is_first && now - report.told < interval)
		return;
	diag_log();
	if (!is_first)
		say_error("the journal can't be written; commits that failed in %.1f s: %zu",
			  now - report.told, report.untold);
	report.untold = 0;
	report.told = now;
}

void journal_report_success(void)
{
	if (!report.is_failing)
		return;
	say_warn("the journal can be written again; commits that failed in %.1f s: %zu",
		 clock_monotonic() - report.first, report.total);
	report.is_failing = false;
	report.total = report.untold = 0;
}
