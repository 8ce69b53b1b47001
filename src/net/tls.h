/* SPDX-License-Identifier: BSD-2-Clause
 *
 * TLS over a non-blocking socket, for connections of the server and of net.box, by OpenSSL.
 * Source: the manual, "Traffic encryption".
 *
 * A context is made once from files and serves many sockets; what is made of it keeps it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct tls_context;
struct tls;

/** Paths and texts; NULL: not given. Borrowed during the call. */
struct tls_params {
	/** PEM. A server needs both, a client may have both. */
	const char *key_file, *cert_file;
	/** PEM: who may have signed the peer's certificate, which is then asked for and checked. */
	const char *ca_file;
	/** Names of cipher suites, separated by colons. */
	const char *ciphers;
	/** The password of the key, and a file with passwords to try, one in a line. */
	const char *password, *password_file;
};

/** NULL with IllegalParams that says which file or text is wrong. One reference. */
struct tls_context *tls_context_new(const struct tls_params *params, bool is_server);
void tls_context_ref(struct tls_context *ctx);
/** NULL is allowed. */
void tls_context_unref(struct tls_context *ctx);

/** For a connected socket, which is the caller's. The handshake happens in reads and writes. */
struct tls *tls_new(struct tls_context *ctx, int fd, bool is_server);

/** Says goodbye where that does not wait, and frees. NULL is allowed. The socket stays open. */
void tls_delete(struct tls *tls);

/**
 * As recv() and send(): -1 with EAGAIN where it has to wait, for what tls_wants_write() says;
 * EPROTO where the peer does not speak TLS or is refused (see tls_reason()).
 */
ssize_t tls_read(struct tls *tls, void *data, size_t size);
ssize_t tls_write(struct tls *tls, const void *data, size_t size);

/** Does the last call that failed with EAGAIN wait for the socket to be writable? */
bool tls_wants_write(const struct tls *tls);

/** Is there input that was decrypted already? The socket does not tell of it. */
bool tls_has_input(const struct tls *tls);

/** Why the last call failed with EPROTO: a text that lives as long as `tls`. */
const char *tls_reason(const struct tls *tls);
