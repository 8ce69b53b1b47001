/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Private to the layer: headers of requests, as nearly all clients send them.
 */
#pragma once

#include <stdbool.h>

struct xrow_header;

/**
 * Decodes the headers that clients send: a short map with only the type, the
 * number and the schema version. False for any other, good or bad, which
 * xrow_header_decode() judges.
 */
bool header_decode_usual(struct xrow_header *row, const char *p, const char *end);
