/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Private to the layer: the fibers that run requests.
 */
#pragma once

#include <stdbool.h>

/** The most requests at work. */
extern int worker_requests_max;

/** There is work in a queue of connection.h: some fiber will run for it. Never yields. */
void worker_kick(void);

/** The running fiber may yield now: if there is more work, another fiber goes on with it. */
void worker_hand_over(void);

/** A loop turn is over: a new budget of requests. */
void worker_turn(void);

/** Ends the idle fibers. */
void worker_pool_free(void);

/** See net_on_request_end(). */
extern void (*worker_on_request_end)(void);
