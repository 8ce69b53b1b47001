/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Errors in MessagePack, with their chains of causes: {0: [error, cause, ...]}, each a
 * map of the protocol's keys. Source: the manual, "MessagePack extensions", type ERROR.
 */
#pragma once

#include <stdbool.h>

#include "core/buf.h"

struct error;

/** Appends the chain. `client_codes`: codes as error_client_code() has them, for the protocol. */
void error_put_stack(struct buf *out, const struct error *e, bool client_codes);

/**
 * Makes errors from a chain in well-formed MessagePack of exactly `data`..`end`; the
 * caller owns the reference. NULL (no error set) where it is something else. Keys and
 * types that are not known are passed over.
 */
struct error *error_from_stack(const char *data, const char *end);
