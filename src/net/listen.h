/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Listening sockets: TCP and unix, several at once, changed at run time.
 */
#pragma once

#include "net/address.h"

struct tls_context;
struct tls_params;

/**
 * Takes over an accepted, non-blocking socket. `peer` and `tls` (NULL: none) live during the
 * call.
 */
typedef void (*listen_accept_cb)(int fd, const struct address *peer, struct tls_context *tls);

/** Where to listen, and how. Borrowed during calls. */
struct listen_uri {
	/** What address_parse() takes; parameters behind a question mark tell sockets apart. */
	const char *text;
	size_t len;
	/** NULL: not encrypted. */
	const struct tls_params *tls;
};

enum { LISTEN_MAX = 32 };

/**
 * Listens on the URIs in `uris`, separated by commas, instead of where it did
 * before; NULL or "": nowhere. Sockets that are in both sets stay open, new ones
 * are opened before old ones are closed: on failure nothing changes. A file left
 * at a unix socket's path by a process that is gone is replaced; any other is not.
 * -1: ER_CFG for a text that is no URI, SocketError that names the address and
 * the reason. Yields where a host is given by name.
 */
int listen_set(const char *uris, listen_accept_cb cb);

/**
 * The same for a list. A socket whose parameters alone have changed stays bound. -1 also
 * with IllegalParams for TLS that can't be set up.
 */
int listen_set_list(const struct listen_uri *uris, int count, listen_accept_cb cb);

/** Stops listening and removes the files of unix sockets. */
void listen_stop(void);

/** How many sockets listen. */
int listen_count(void);

/** The bound address of socket `i`, with its real port; "unix/:/path" for a unix socket. */
const char *listen_address(int i);
