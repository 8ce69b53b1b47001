/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Private to the layer: one request, from its bytes to its answer.
 */
#pragma once

#include <stdbool.h>

struct connection;
struct packet;
struct request;

/**
 * Decodes a packet, does what it asks for and answers. Works for the connection's
 * session until it returns (the caller leaves the session). Yields where the
 * request does. False: a request of its stream is at work, which keeps the packet
 * until its turn comes.
 */
bool request_process(struct connection *con, const struct packet *packet);

/** AUTH (auth.c): 0 and the session has another user, or -1 with an error set. May yield. */
int auth_process(struct connection *con, const struct request *request);

/** Writes the greeting of GREETING_SIZE bytes with the salt (auth.c). */
void auth_greeting(const unsigned char *salt, char *out);

/** Fills a salt with random bytes (auth.c). */
void auth_salt(unsigned char *salt);
