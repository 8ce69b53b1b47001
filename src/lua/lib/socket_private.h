/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What the files of the module `socket` share.
 */
#pragma once

#include <stdbool.h>
#include <sys/socket.h>

#include <lua.h>

struct addrinfo;

struct socket_address {
	struct sockaddr_storage sa;
	socklen_t len;
};

/**
 * The address of numbers at two places of the stack; a path where the host is "unix/".
 * False with errno set.
 */
bool lua_socket_make_address(lua_State *L, int host_idx, int port_idx, struct socket_address *a);

/** Sets host, port and family in the table at the top. [raises] */
void lua_socket_set_address(lua_State *L, const struct sockaddr *sa, socklen_t len);

/** Sets the type, or the protocol, in the table at the top. [raises] */
void lua_socket_set_type(lua_State *L, int type);
void lua_socket_set_protocol(lua_State *L, int protocol);

/** Pushes a list of what getaddrinfo(3) found. [raises] */
void lua_socket_push_list(lua_State *L, const struct addrinfo *list);

/** Sets the tables of numbers in the module at the top. [raises] */
void lua_socket_set_constants(lua_State *L);
