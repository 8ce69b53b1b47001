/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The numbers of the module `socket`: families, types, flags, protocols and options, by the
 * names that socket(2), ip(7) and tcp(7) have for them.
 */
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

#include "lua/lib/socket_private.h"

struct constant { const char *name; int value; };

static void push_constants(lua_State *L, const struct constant *c)
{
	lua_newtable(L);
	for (; c->name != NULL; c++) {
		lua_pushinteger(L, c->value);
		lua_setfield(L, -2, c->name);
	}
}

#define C(name) {#name, name}
#define END {NULL, 0}

static const struct constant domains[] = {
	C(AF_UNIX), C(AF_LOCAL), C(AF_INET), C(AF_INET6), C(AF_IPX), C(AF_NETLINK), C(AF_X25),
	C(AF_AX25), C(AF_ATMPVC), C(AF_APPLETALK), C(AF_PACKET), C(PF_UNIX), C(PF_LOCAL),
	C(PF_INET), C(PF_INET6), C(PF_IPX), C(PF_NETLINK), C(PF_X25), C(PF_AX25), C(PF_ATMPVC),
	C(PF_APPLETALK), C(PF_PACKET), END,
};

static const struct constant socket_types[] = {
	C(SOCK_STREAM), C(SOCK_DGRAM), C(SOCK_RAW), C(SOCK_SEQPACKET), C(SOCK_RDM), END,
};

static const struct constant send_flags[] = {
	C(MSG_OOB), C(MSG_PEEK), C(MSG_DONTROUTE), C(MSG_TRYHARD), C(MSG_CTRUNC), C(MSG_PROXY),
	C(MSG_TRUNC), C(MSG_DONTWAIT), C(MSG_EOR), C(MSG_WAITALL), C(MSG_FIN), C(MSG_SYN),
	C(MSG_CONFIRM), C(MSG_RST), C(MSG_ERRQUEUE), C(MSG_NOSIGNAL), C(MSG_MORE),
	C(MSG_WAITFORONE), C(MSG_FASTOPEN), C(MSG_CMSG_CLOEXEC), END,
};

static const struct constant ai_flags[] = {
	C(AI_PASSIVE), C(AI_CANONNAME), C(AI_NUMERICHOST), C(AI_V4MAPPED), C(AI_ALL),
	C(AI_ADDRCONFIG), C(AI_IDN), C(AI_CANONIDN), C(AI_NUMERICSERV), END,
};

static const struct constant protocols[] = {
	{"ip", IPPROTO_IP}, {"icmp", IPPROTO_ICMP}, {"tcp", IPPROTO_TCP}, {"udp", IPPROTO_UDP},
	{"ipv6", IPPROTO_IPV6}, {"ipv6-icmp", IPPROTO_ICMPV6}, END,
};

/** How scripts may use an option: its value's type, and whether it can be set. */
struct socket_option {
	const char *name;
	int value;
	enum { OPTION_OTHER, OPTION_INT, OPTION_TEXT } type;
	bool is_writable;
};

#define RW(name) {#name, name, OPTION_INT, true}
#define RO(name) {#name, name, OPTION_INT, false}

static const struct socket_option socket_options[] = {
	RW(SO_DEBUG), RW(SO_REUSEADDR), RO(SO_TYPE), RO(SO_ERROR), RW(SO_DONTROUTE),
	RW(SO_BROADCAST), RW(SO_SNDBUF), RW(SO_RCVBUF), RW(SO_KEEPALIVE), RW(SO_OOBINLINE),
	RW(SO_PRIORITY), {"SO_LINGER", SO_LINGER, OPTION_OTHER, false}, RW(SO_REUSEPORT),
	RW(SO_PASSCRED), RO(SO_PEERCRED), RW(SO_RCVLOWAT), RW(SO_SNDLOWAT), RW(SO_RCVTIMEO),
	RW(SO_SNDTIMEO), {"SO_BINDTODEVICE", SO_BINDTODEVICE, OPTION_TEXT, true},
	RW(SO_TIMESTAMP), RO(SO_ACCEPTCONN), RW(SO_SNDBUFFORCE), RW(SO_RCVBUFFORCE), RW(SO_MARK),
	RO(SO_PROTOCOL), RO(SO_DOMAIN), {NULL, 0, 0, 0},
};

static const struct socket_option tcp_options[] = {
	RW(TCP_NODELAY), RW(TCP_MAXSEG), RW(TCP_CORK), RW(TCP_KEEPIDLE), RW(TCP_KEEPINTVL),
	RW(TCP_KEEPCNT), RW(TCP_SYNCNT), RW(TCP_LINGER2), RW(TCP_DEFER_ACCEPT),
	RW(TCP_WINDOW_CLAMP), {"TCP_INFO", TCP_INFO, OPTION_OTHER, false}, RW(TCP_QUICKACK),
	{"TCP_CONGESTION", TCP_CONGESTION, OPTION_TEXT, true}, RW(TCP_USER_TIMEOUT),
	RW(TCP_FASTOPEN), RW(TCP_TIMESTAMP), RW(TCP_NOTSENT_LOWAT), {NULL, 0, 0, 0},
};

static void push_options(lua_State *L, const struct socket_option *o)
{
	lua_newtable(L);
	for (; o->name != NULL; o++) {
		lua_createtable(L, 0, 3);
		lua_pushinteger(L, o->value);
		lua_setfield(L, -2, "iname");
		lua_pushinteger(L, o->type);
		lua_setfield(L, -2, "type");
		lua_pushboolean(L, o->is_writable);
		lua_setfield(L, -2, "rw");
		lua_setfield(L, -2, o->name);
	}
}

static void set_constants(lua_State *L, const char *name, const struct constant *c)
{
	push_constants(L, c);
	lua_setfield(L, -2, name);
}

void lua_socket_set_constants(lua_State *L)
{
	set_constants(L, "DOMAIN", domains);
	set_constants(L, "SO_TYPE", socket_types);
	set_constants(L, "SEND_FLAGS", send_flags);
	set_constants(L, "AI_FLAGS", ai_flags);
	set_constants(L, "protocols", protocols);
	lua_newtable(L);
	push_options(L, socket_options);
	lua_rawseti(L, -2, SOL_SOCKET);
	push_options(L, tcp_options);
	lua_rawseti(L, -2, IPPROTO_TCP);
	lua_setfield(L, -2, "SO_OPT");
	lua_pushinteger(L, SOL_SOCKET);
	lua_setfield(L, -2, "SOL_SOCKET");
}
