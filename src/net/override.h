/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Private to the layer: requests that scripts do in place of the server (net_override()).
 */
#pragma once

#include <stdbool.h>

struct connection;
struct packet;
struct xrow_header;

/** Is any type overridden? */
extern int override_count;

/** As net_override_cb. */
int override_run(struct connection *con, const struct packet *packet,
		 const struct xrow_header *row);
