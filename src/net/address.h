/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Where to listen or connect: URIs as users write them, and socket addresses as
 * they are shown. Forms: "host:port", "[v6]:port", "port", "*:port",
 * "unix/:path", "/path", "./path"; a "scheme://" and a "user:password@" in front
 * are allowed, and parameters behind a question mark are passed over. Source: the manual, "URI".
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

enum {
	ADDRESS_HOST_MAX = 256,
	ADDRESS_SERVICE_MAX = 32,
	/** Room for address_format(): a unix path, or [v6]:port. */
	ADDRESS_TEXT_MAX = 160,
};

struct address_uri {
	/** Empty: any address. Not used for a unix socket. */
	char host[ADDRESS_HOST_MAX];
	/** A port or a service's name. */
	char service[ADDRESS_SERVICE_MAX];
	/** Path of a unix socket; empty for TCP. */
	char path[108];
};

/** Parses `len` bytes. False where they are no URI; no error is set. */
bool address_parse(const char *text, size_t len, struct address_uri *uri);

/** One address that a URI stands for. */
struct address {
	struct sockaddr_storage sa;
	socklen_t len;
};

/**
 * Finds the addresses of a URI, at most `max`, those of IPv4 first; returns their
 * number. -1 with SocketError where the name is unknown. Yields where the host
 * is a name; numbers and paths are taken at once.
 */
int address_resolve(const struct address_uri *uri, struct address *out, int max);

/**
 * Writes "127.0.0.1:3301", "[::1]:3301" or "unix/:/path" with a zero behind;
 * "unix/:(socket)" for a unix socket without a path. Returns `buf`.
 */
const char *address_format(const struct sockaddr *sa, socklen_t len, char *buf, size_t size);
