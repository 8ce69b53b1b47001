/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Closing a socket without losing what was sent last. Where input is left unread, a
 * close makes the kernel reset the connection, and the peer may never see the answer
 * that says why. So the socket is shut for writing, and input is dropped until the
 * peer closes too, or a second has passed.
 */
#pragma once

#include <ev.h>

#include "core/list.h"

/** The sockets that linger on one loop. */
struct linger_set {
	struct ev_loop *loop;
	struct list sockets;
	int count;
};

void linger_create(struct linger_set *linger, struct ev_loop *loop);

/** Takes the descriptor over and closes it in the end. Never yields. */
void linger_close(struct linger_set *linger, int fd);

/** Closes what still lingers. */
void linger_destroy(struct linger_set *linger);
