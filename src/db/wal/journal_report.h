/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What the log says about a journal that can't be written: the first failure at once, then
 * now and then how many there were, and when writing works again.
 */
#pragma once

#include <stddef.h>

/** So many commits have failed, with the last error. */
void journal_report_failure(size_t commits);

/** A write went well. */
void journal_report_success(void);
