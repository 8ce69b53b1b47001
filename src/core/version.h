/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Versions: our own, and that of the reference's release whose interface we follow,
 * which scripts (_TARANTOOL, box.info.version) and connectors (the greeting) compare
 * with what they need.
 */
#pragma once

#ifndef TARN_VERSION
#define TARN_VERSION "0.1.0"
#endif

#define TARN_COMPAT_RELEASE "2.6.0"
#define TARN_COMPAT_VERSION TARN_COMPAT_RELEASE "-0-gtarn" TARN_VERSION
