/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Parsing, resolving and printing addresses.
 */
#include "net/address.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/un.h>

#include "core/diag.h"
#include "core/worker.h"

/** Copies a part into a fixed array; false where it does not fit. */
static bool take(char *dst, size_t size, const char *begin, const char *end)
{
	size_t len = end - begin;
	if (len >= size || memchr(begin, '\0', len) != NULL)
		return false;
	memcpy(dst, begin, len);
	dst[len] = '\0';
	return true;
}

static const char *find(const char *begin, const char *end, char c)
{
	return memchr(begin, c, end - begin);
}

static const char *find_last(const char *begin, const char *end, char c)
{
	return memrchr(begin, c, end - begin);
}

/** A service's name, or a number that is a port. */
static bool is_service(const char *text)
{
	enum { PORT_MAX = 65535 };
	unsigned long port = 0;
	const char *p = text;
	for (; *p >= '0' && *p <= '9'; p++) {
		port = port * 10 + (*p - '0');
		if (port > PORT_MAX)
			return false;
	}
	return p > text ? *p == '\0' : *p != '\0';
}

/** Drops "scheme://" and "user:password@". */
static const char *skip_prefixes(const char *p, const char *end)
{
	const char *scheme = memmem(p, end - p, "://", 3);
	if (scheme != NULL)
		p = scheme + 3;
	const char *at = find_last(p, end, '@');
	return at != NULL && *p != '/' ? at + 1 : p;
}

static bool parse_host(const char *p, const char *end, struct address_uri *uri)
{
	if (*p == '[') {
		const char *close = find(p, end, ']');
		return close != NULL && close + 1 < end && close[1] == ':' &&
		       take(uri->host, sizeof(uri->host), p + 1, close) &&
		       take(uri->service, sizeof(uri->service), close + 2, end);
	}
	const char *colon = find(p, end, ':');
	if (colon == NULL) {
		/* A port alone. */
		for (const char *c = p; c < end; c++)
			if (*c < '0' || *c > '9')
				return false;
		return take(uri->service, sizeof(uri->service), p, end);
	}
	if (colon == p || find(colon + 1, end, ':') != NULL)
		return false;
	if (colon - p == 1 && *p == '*')
		p = colon;
	return take(uri->host, sizeof(uri->host), p, colon) &&
	       take(uri->service, sizeof(uri->service), colon + 1, end);
}

bool address_parse(const char *text, size_t len, struct address_uri *uri)
{
	memset(uri, 0, sizeof(*uri));
	const char *parameters = memchr(text, '?', len);
	const char *end = parameters != NULL ? parameters : text + len;
	const char *p = skip_prefixes(text, end);
	if (p == end)
		return false;
	static const char prefix[] = "unix/:";
	if (end - p > (ptrdiff_t)strlen(prefix) && memcmp(p, prefix, strlen(prefix)) == 0)
		return take(uri->path, sizeof(uri->path), p + strlen(prefix), end);
	if (*p == '/' || (end - p > 1 && p[0] == '.' && p[1] == '/'))
		return take(uri->path, sizeof(uri->path), p, end);
	return parse_host(p, end, uri) && is_service(uri->service);
}

struct lookup {
	const struct address_uri *uri;
	struct addrinfo hints;
	struct addrinfo *list;
	int error;
};

static int lookup_run(void *arg)
{
	struct lookup *l = arg;
	const char *host = l->uri->host[0] != '\0' ? l->uri->host : NULL;
	l->error = getaddrinfo(host, l->uri->service, &l->hints, &l->list);
	return 0;
}

static int collect(const struct addrinfo *list, int family, struct address *out, int max)
{
	int count = 0;
	for (; list != NULL && count < max; list = list->ai_next) {
		if (list->ai_family != family)
			continue;
		memcpy(&out[count].sa, list->ai_addr, list->ai_addrlen);
		out[count++].len = list->ai_addrlen;
	}
	return count;
}

static int resolve_unix(const struct address_uri *uri, struct address *out)
{
	struct sockaddr_un *un = (struct sockaddr_un *)&out->sa;
	memset(out, 0, sizeof(*out));
	un->sun_family = AF_UNIX;
	memcpy(un->sun_path, uri->path, sizeof(uri->path));
	out->len = sizeof(*un);
	return 1;
}

int address_resolve(const struct address_uri *uri, struct address *out, int max)
{
	if (uri->path[0] != '\0')
		return resolve_unix(uri, out);
	struct lookup l = {.uri = uri, .hints = {
		.ai_socktype = SOCK_STREAM,
		.ai_flags = AI_PASSIVE | AI_NUMERICHOST | AI_NUMERICSERV,
	}};
	lookup_run(&l);
	if (l.error != 0) {
		/* A name: that may take long. */
		l.hints.ai_flags = AI_PASSIVE;
		if (worker_call(lookup_run, &l) != 0)
			return -1;
	}
	if (l.error != 0) {
		diag_set(SocketError, "can't resolve %s:%s: %s", uri->host, uri->service,
			 gai_strerror(l.error));
		return -1;
	}
	int count = collect(l.list, AF_INET, out, max);
	count += collect(l.list, AF_INET6, out + count, max - count);
	freeaddrinfo(l.list);
	return count;
}

const char *address_format(const struct sockaddr *sa, socklen_t len, char *buf, size_t size)
{
	char ip[INET6_ADDRSTRLEN];
	if (sa->sa_family == AF_INET) {
		const struct sockaddr_in *in = (const void *)sa;
		inet_ntop(AF_INET, &in->sin_addr, ip, sizeof(ip));
		snprintf(buf, size, "%s:%u", ip, ntohs(in->sin_port));
	} else if (sa->sa_family == AF_INET6) {
		const struct sockaddr_in6 *in6 = (const void *)sa;
		inet_ntop(AF_INET6, &in6->sin6_addr, ip, sizeof(ip));
		snprintf(buf, size, "[%s]:%u", ip, ntohs(in6->sin6_port));
	} else {
		const struct sockaddr_un *un = (const void *)sa;
		size_t path_max = len > offsetof(struct sockaddr_un, sun_path) ?
				  len - offsetof(struct sockaddr_un, sun_path) : 0;
		int path_len = strnlen(un->sun_path, path_max);
		if (path_len > 0)
			snprintf(buf, size, "unix/:%.*s", path_len, un->sun_path);
		else
			snprintf(buf, size, "unix/:(socket)");
	}
	return buf;
}
