/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Addresses of sockets between Lua and C: a host and a port, or "unix/" and a path.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>

#include "lua/lib/socket_private.h"

static bool make_unix(struct socket_address *a, const char *path)
{
	struct sockaddr_un *un = (struct sockaddr_un *)&a->sa;
	memset(a, 0, sizeof(*a));
	un->sun_family = AF_UNIX;
	if (strlen(path) >= sizeof(un->sun_path)) {
		errno = ENAMETOOLONG;
		return false;
	}
	memcpy(un->sun_path, path, strlen(path));
	a->len = sizeof(*un);
	return true;
}

/** The system takes greater numbers, and cuts them. */
static bool is_port(const char *port)
{
	return strlen(port) <= 5 && atoi(port) <= UINT16_MAX;
}

bool lua_socket_make_address(lua_State *L, int host_idx, int port_idx, struct socket_address *a)
{
	const char *host = lua_tostring(L, host_idx), *port = lua_tostring(L, port_idx);
	if (host != NULL && strcmp(host, "unix/") == 0)
		return make_unix(a, port != NULL ? port : "");
	struct addrinfo hints = {.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE,
				 .ai_socktype = SOCK_STREAM}, *list;
	if (port == NULL)
		port = "0";
	if (host == NULL || strcmp(host, "*") == 0 || !is_port(port) ||
	    getaddrinfo(host, port, &hints, &list) != 0) {
		errno = EINVAL;
		return false;
	}
	memcpy(&a->sa, list->ai_addr, list->ai_addrlen);
	a->len = list->ai_addrlen;
	freeaddrinfo(list);
	return true;
}

static void set_string(lua_State *L, const char *name, const char *value)
{
	lua_pushstring(L, value);
	lua_setfield(L, -2, name);
}

static void set_family(lua_State *L, int family)
{
	switch (family) {
	case AF_INET: set_string(L, "family", "AF_INET"); break;
	case AF_INET6: set_string(L, "family", "AF_INET6"); break;
	case AF_UNIX: set_string(L, "family", "AF_UNIX"); break;
	default:
		lua_pushinteger(L, family);
		lua_setfield(L, -2, "family");
	}
}

void lua_socket_set_address(lua_State *L, const struct sockaddr *sa, socklen_t len)
{
	char host[INET6_ADDRSTRLEN];
	int port = 0;
	set_family(L, sa->sa_family);
	if (sa->sa_family == AF_UNIX) {
		const struct sockaddr_un *un = (const void *)sa;
		size_t size = len > offsetof(struct sockaddr_un, sun_path) ?
			      len - offsetof(struct sockaddr_un, sun_path) : 0;
		set_string(L, "host", "unix/");
		lua_pushlstring(L, un->sun_path, strnlen(un->sun_path, size));
		lua_setfield(L, -2, "port");
		return;
	} else if (sa->sa_family == AF_INET) {
		const struct sockaddr_in *in = (const void *)sa;
		inet_ntop(AF_INET, &in->sin_addr, host, sizeof(host));
		port = ntohs(in->sin_port);
	} else if (sa->sa_family == AF_INET6) {
		const struct sockaddr_in6 *in6 = (const void *)sa;
		inet_ntop(AF_INET6, &in6->sin6_addr, host, sizeof(host));
		port = ntohs(in6->sin6_port);
	} else {
		return;
	}
	set_string(L, "host", host);
	lua_pushinteger(L, port);
	lua_setfield(L, -2, "port");
}

void lua_socket_set_type(lua_State *L, int type)
{
	static const char *const names[] = {
		[SOCK_STREAM] = "SOCK_STREAM", [SOCK_DGRAM] = "SOCK_DGRAM", [SOCK_RAW] = "SOCK_RAW",
		[SOCK_RDM] = "SOCK_RDM", [SOCK_SEQPACKET] = "SOCK_SEQPACKET",
	};
	if (type > 0 && type < (int)(sizeof(names) / sizeof(names[0])) && names[type] != NULL)
		lua_pushstring(L, names[type]);
	else
		lua_pushinteger(L, type);
	lua_setfield(L, -2, "type");
}

void lua_socket_set_protocol(lua_State *L, int protocol)
{
	if (protocol == IPPROTO_TCP)
		lua_pushliteral(L, "tcp");
	else if (protocol == IPPROTO_UDP)
		lua_pushliteral(L, "udp");
	else
		lua_pushinteger(L, protocol);
	lua_setfield(L, -2, "protocol");
}

void lua_socket_push_list(lua_State *L, const struct addrinfo *list)
{
	lua_newtable(L);
	for (int i = 1; list != NULL; list = list->ai_next) {
		if (list->ai_family != AF_INET && list->ai_family != AF_INET6)
			continue;
		lua_createtable(L, 0, 6);
		lua_socket_set_address(L, list->ai_addr, list->ai_addrlen);
		lua_socket_set_type(L, list->ai_socktype);
		lua_socket_set_protocol(L, list->ai_protocol);
		if (list->ai_canonname != NULL)
			set_string(L, "canonname", list->ai_canonname);
		lua_rawseti(L, -2, i++);
	}
}
