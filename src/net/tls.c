/* SPDX-License-Identifier: BSD-2-Clause
 *
 * See tls.h.
 */
#include "net/tls.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <openssl/err.h>
#include <openssl/ssl.h>

#include "core/diag.h"
#include "core/log.h"
#include "core/memory.h"

struct tls_context {
	/** Sockets of several threads may use it. */
	_Atomic int refs;
	SSL_CTX *ctx;
};

struct tls {
	struct tls_context *context;
	SSL *ssl;
	bool wants_write;
	/** After a failure OpenSSL is asked nothing more. */
	bool is_broken;
	char reason[256];
};

/** Takes the oldest error of OpenSSL, which is the cause, and forgets the others. */
static void take_reason(char *out, size_t size)
{
	unsigned long code = ERR_get_error();
	const char *reason = code != 0 ? ERR_reason_error_string(code) : NULL;
	snprintf(out, size, "%s", reason != NULL ? reason : "unknown reason");
	ERR_clear_error();
}

/* Contexts ------------------------------------------------------------------ */

static int wrong(const char *what, const char *value)
{
	char reason[200];
	take_reason(reason, sizeof(reason));
	diag_set(IllegalParams, "can't use %s '%s': %s", what, value, reason);
	return -1;
}

static int give_password(char *buf, int size, int is_writing, void *password)
{
	int len = password != NULL ? (int)strlen(password) : 0;
	if (len == 0)
		return 0;
	if (len > size)
		return -1;
	memcpy(buf, password, len);
	return len;
}

static bool load_key(SSL_CTX *ctx, const char *file, char *password)
{
	ERR_clear_error();
	SSL_CTX_set_default_passwd_cb_userdata(ctx, password);
	bool ok = SSL_CTX_use_PrivateKey_file(ctx, file, SSL_FILETYPE_PEM) == 1;
	SSL_CTX_set_default_passwd_cb_userdata(ctx, NULL);
	return ok;
}

/** Tries the lines of the file. 1: one was right, 0: none, -1: the file can't be read. */
static int load_key_with_file(SSL_CTX *ctx, const struct tls_params *p)
{
	enum { LINE_MAX_SIZE = 1024 };
	char line[LINE_MAX_SIZE];
	FILE *f = fopen(p->password_file, "re");
	if (f == NULL) {
		diag_set(IllegalParams, "can't use ssl_password_file '%s': %s", p->password_file,
			 strerror(errno));
		return -1;
	}
	bool is_loaded = false;
	while (!is_loaded && fgets(line, sizeof(line), f) != NULL) {
		line[strcspn(line, "\r\n")] = '\0';
		is_loaded = load_key(ctx, p->key_file, line);
	}
	memset(line, 0, sizeof(line));
	fclose(f);
	return is_loaded;
}

static int set_key(SSL_CTX *ctx, const struct tls_params *p)
{
	SSL_CTX_set_default_passwd_cb(ctx, give_password);
	if (load_key(ctx, p->key_file, (char *)p->password))
		return 0;
	if (p->password_file == NULL)
		return wrong("ssl_key_file", p->key_file);
	int rc = load_key_with_file(ctx, p);
	return rc > 0 ? 0 : rc < 0 ? -1 : wrong("ssl_key_file", p->key_file);
}

static int set_certificates(SSL_CTX *ctx, const struct tls_params *p, bool is_server)
{
	if (p->cert_file != NULL && SSL_CTX_use_certificate_chain_file(ctx, p->cert_file) != 1)
		return wrong("ssl_cert_file", p->cert_file);
	if (p->key_file != NULL && set_key(ctx, p) != 0)
		return -1;
	if (p->key_file != NULL && p->cert_file != NULL && SSL_CTX_check_private_key(ctx) != 1)
		return wrong("ssl_key_file", p->key_file);
	if (p->ca_file == NULL)
		return 0;
	if (SSL_CTX_load_verify_locations(ctx, p->ca_file, NULL) != 1)
		return wrong("ssl_ca_file", p->ca_file);
	if (is_server)
		SSL_CTX_set_client_CA_list(ctx, SSL_load_client_CA_file(p->ca_file));
	SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
	return 0;
}

static int set_ciphers(SSL_CTX *ctx, const char *ciphers)
{
	/* Suites of TLS 1.3 have a list of their own; a name belongs to one of the two. */
	bool ok = SSL_CTX_set_cipher_list(ctx, ciphers) == 1;
	if (!ok) {
		ERR_clear_error();
		ok = SSL_CTX_set_ciphersuites(ctx, ciphers) == 1;
	}
	return ok ? 0 : wrong("ssl_ciphers", ciphers);
}

static int context_set_up(SSL_CTX *ctx, const struct tls_params *p, bool is_server)
{
	static const unsigned char session_id[] = "tarn";
	SSL_CTX_set_min_proto_version(ctx, TLS1_2_VERSION);
	/* Output buffers grow and so move; idle connections are to hold little memory. */
	SSL_CTX_set_mode(ctx, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
			 SSL_MODE_RELEASE_BUFFERS);
	SSL_CTX_set_options(ctx, SSL_OP_NO_RENEGOTIATION | SSL_OP_IGNORE_UNEXPECTED_EOF);
	SSL_CTX_set_session_id_context(ctx, session_id, sizeof(session_id));
	return p->ciphers != NULL && set_ciphers(ctx, p->ciphers) != 0 ? -1 :
	       set_certificates(ctx, p, is_server);
}

struct tls_context *tls_context_new(const struct tls_params *params, bool is_server)
{
	if (is_server && (params->key_file == NULL || params->cert_file == NULL)) {
		diag_set(IllegalParams, "%s parameter is mandatory for a server",
			 params->key_file == NULL ? "ssl_key_file" : "ssl_cert_file");
		return NULL;
	}
	ERR_clear_error();
	SSL_CTX *ctx = SSL_CTX_new(is_server ? TLS_server_method() : TLS_client_method());
	if (ctx == NULL) {
		wrong("transport", "ssl");
		return NULL;
	}
	if (context_set_up(ctx, params, is_server) != 0) {
		SSL_CTX_free(ctx);
		return NULL;
	}
	struct tls_context *context = xmalloc(sizeof(*context));
	context->refs = 1;
	context->ctx = ctx;
	return context;
}

void tls_context_ref(struct tls_context *ctx)
{
	ctx->refs++;
}

void tls_context_unref(struct tls_context *ctx)
{
	if (ctx == NULL || --ctx->refs > 0)
		return;
	SSL_CTX_free(ctx->ctx);
	xfree(ctx);
}

/* Sockets ------------------------------------------------------------------- */

struct tls *tls_new(struct tls_context *ctx, int fd, bool is_server)
{
	SSL *ssl = SSL_new(ctx->ctx);
	if (ssl == NULL || SSL_set_fd(ssl, fd) != 1)
		panic("not enough memory for a TLS connection");
	if (is_server)
		SSL_set_accept_state(ssl);
	else
		SSL_set_connect_state(ssl);
	struct tls *tls = xcalloc(1, sizeof(*tls));
	tls->context = ctx;
	tls->ssl = ssl;
	tls_context_ref(ctx);
	return tls;
}

void tls_delete(struct tls *tls)
{
	if (tls == NULL)
		return;
	if (!tls->is_broken && SSL_is_init_finished(tls->ssl))
		SSL_shutdown(tls->ssl);
	ERR_clear_error();
	SSL_free(tls->ssl);
	tls_context_unref(tls->context);
	xfree(tls);
}

/** What a call that gave `rc` <= 0 means: as recv(). */
static ssize_t failed(struct tls *tls, int rc, int saved_errno)
{
	int code = SSL_get_error(tls->ssl, rc);
	if (code == SSL_ERROR_WANT_READ || code == SSL_ERROR_WANT_WRITE) {
		tls->wants_write = code == SSL_ERROR_WANT_WRITE;
		errno = EAGAIN;
		return -1;
	}
	if (code == SSL_ERROR_ZERO_RETURN)
		return 0;
	tls->is_broken = true;
	if (code == SSL_ERROR_SYSCALL && ERR_peek_error() == 0) {
		snprintf(tls->reason, sizeof(tls->reason), "the connection was closed");
		errno = saved_errno != 0 ? saved_errno : ECONNRESET;
		return -1;
	}
	take_reason(tls->reason, sizeof(tls->reason));
	errno = EPROTO;
	return -1;
}

ssize_t tls_read(struct tls *tls, void *data, size_t size)
{
	if (tls->is_broken) {
		errno = EPROTO;
		return -1;
	}
	ERR_clear_error();
	errno = 0;
	tls->wants_write = false;
	int n = SSL_read(tls->ssl, data, size < INT32_MAX ? (int)size : INT32_MAX);
	return n > 0 ? n : failed(tls, n, errno);
}

ssize_t tls_write(struct tls *tls, const void *data, size_t size)
{
	if (tls->is_broken) {
		errno = EPROTO;
		return -1;
	}
	ERR_clear_error();
	errno = 0;
	tls->wants_write = false;
	int n = SSL_write(tls->ssl, data, size < INT32_MAX ? (int)size : INT32_MAX);
	if (n > 0)
		return n;
	ssize_t rc = failed(tls, n, errno);
	if (rc == 0)
		errno = EPIPE;
	return -1;
}

bool tls_wants_write(const struct tls *tls)
{
	return tls->wants_write;
}

bool tls_has_input(const struct tls *tls)
{
	return !tls->is_broken && SSL_pending(tls->ssl) > 0;
}

const char *tls_reason(const struct tls *tls)
{
	return tls->reason;
}
