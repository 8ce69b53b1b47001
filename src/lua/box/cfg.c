/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What box.cfg{} does outside Lua: the process's own settings, the start of the
 * data directory and of the listener, and options that change while it runs.
 * Options are described, checked and kept in cfg.lua.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <netinet/in.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "core/busy_poll.h"
#include "core/log.h"
#include "core/loop.h"
#include "core/memory.h"
#include "db/db.h"
#include "db/error.h"
#include "db/tuple/tuple.h"
#include "db/wal/wal.h"
#include "lua/box/box.h"
#include "lua/box/tls_params.h"
#include "lua/bridge.h"
#include "lua/finalizer.h"
#include "lua/modules.h"
#include "net/address.h"
#include "net/iproto.h"
#include "net/listen.h"

/* Helpers ----------------------------------------------------------------- */

/** The field of the configuration at 1, left on the stack; NULL where it is nil. */
static const char *string_option(lua_State *L, const char *name)
{
	lua_getfield(L, 1, name);
	return lua_isnil(L, -1) ? NULL : luaL_checkstring(L, -1);
}

static double number_option(lua_State *L, const char *name)
{
	lua_getfield(L, 1, name);
	double n = luaL_checknumber(L, -1);
	lua_pop(L, 1);
	return n;
}

static bool bool_option(lua_State *L, const char *name)
{
	lua_getfield(L, 1, name);
	bool yesno = lua_toboolean(L, -1);
	lua_pop(L, 1);
	return yesno;
}

/** Ends a start that failed: the reason is the last error. */
static void __attribute__((noreturn)) start_failed(void)
{
	diag_log();
	panic("can't initialize storage: %s", diag_last()->message);
}

/* The process ------------------------------------------------------------- */

/** The reason goes to standard error and, where it is open already, to the log file. */
static void __attribute__((noreturn, format(printf, 1, 2))) process_failed(const char *format, ...)
{
	va_list ap;
	va_start(ap, format);
	vfprintf(stderr, format, ap);
	va_end(ap);
	fputc('\n', stderr);
	if (log_file_name() != NULL) {
		va_start(ap, format);
		log_vwrite(LOG_FATAL, NULL, 0, NULL, format, ap);
		va_end(ap);
	}
	exit(EXIT_FAILURE);
}

static void become_user(const char *name)
{
	const struct passwd *pw = getpwnam(name);
	if (pw == NULL)
		process_failed("User not found: %s", name);
	if (getuid() != 0) {
		if (pw->pw_uid != getuid())
			process_failed("can't switch to user %s: not started as root", name);
		return;
	}
	if (setgid(pw->pw_gid) != 0 || initgroups(name, pw->pw_gid) != 0 || setuid(pw->pw_uid) != 0)
		process_failed("can't switch to user %s: %s", name, strerror(errno));
}

static char *pid_file_path;

static void remove_pid_file(void)
{
	unlink(pid_file_path);
}

/** Another process holds the lock on the pid file: which one? */
static void __attribute__((noreturn)) pid_file_taken(const char *path, int fd)
{
	char text[32] = "";
	ssize_t len = pread(fd, text, sizeof(text) - 1, 0);
	long pid = len > 0 ? strtol(text, NULL, 10) : 0;
	if (pid <= 0)
		process_failed("the process of pid file '%s' is running", path);
	process_failed("the process of pid file '%s' is running, its PID is %ld", path, pid);
}

/** Writes the process id; the lock says that the process lives. */
static void write_pid_file(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	if (fd < 0)
		process_failed("failed to create pid file '%s': %s", path, strerror(errno));
	if (flock(fd, LOCK_EX | LOCK_NB) != 0)
		pid_file_taken(path, fd);
	if (ftruncate(fd, 0) != 0 || dprintf(fd, "%d\n", (int)getpid()) < 0)
		process_failed("failed to write pid file '%s': %s", path, strerror(errno));
	pid_file_path = realpath(path, NULL);
	if (pid_file_path != NULL)
		atexit(remove_pid_file);
	/* The descriptor stays open, and with it the lock, for the life of the process. */
}

/** (configuration): user, directory. Ends the process where one fails. */
static int setup_process(lua_State *L)
{
	lua_check_finalizer(L); /* start() yields */
	const char *user = string_option(L, "username");
	if (user != NULL)
		become_user(user);
	const char *dir = string_option(L, "work_dir");
	if (dir != NULL && chdir(dir) != 0)
		process_failed("can't chdir to `%s': %s", dir, strerror(errno));
	return 0;
}

/** (configuration): the pid file. Ends the process where that fails. */
static int setup_pid_file(lua_State *L)
{
	const char *pid_file = string_option(L, "pid_file");
	if (pid_file != NULL)
		write_pid_file(pid_file);
	return 0;
}

/** (text): ends the process, which says why. */
static int fail(lua_State *L)
{
	process_failed("%s", luaL_checkstring(L, 1));
}

/* Listening --------------------------------------------------------------- */

/** (text) -> is it a URI? */
static int is_uri(lua_State *L)
{
	size_t len;
	const char *text = luaL_checklstring(L, 1, &len);
	struct address_uri uri;
	lua_pushboolean(L, address_parse(text, len, &uri));
	return 1;
}

/** The error of a bind that failed; names the address and, where it is taken, what to do. */
static int bind_failed(const char *where)
{
	diag_set(SocketError, "failed to bind %s: %s%s", where, strerror(errno),
		 errno == EADDRINUSE ? " (stop who listens there, or set another 'listen')" : "");
	return -1;
}

/** Can a socket be made in the directory of the path? */
static int probe_directory(const char *path)
{
	char dir[sizeof(((struct address_uri *)0)->path)];
	const char *slash = strrchr(path, '/');
	size_t len = slash == NULL ? 0 : slash == path ? 1 : (size_t)(slash - path);
	memcpy(dir, path, len);
	dir[len] = '\0';
	return access(len > 0 ? dir : ".", W_OK | X_OK);
}

/** Is there a directory for the unix socket, and nobody that listens there? */
static int probe_unix(const struct address_uri *uri)
{
	if (probe_directory(uri->path) != 0)
		return bind_failed(uri->path);
	struct sockaddr_un sa = {.sun_family = AF_UNIX};
	strcpy(sa.sun_path, uri->path);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return 0;
	int rc = connect(fd, (struct sockaddr *)&sa, sizeof(sa));
	close(fd);
	if (rc != 0)
		return 0;
	errno = EADDRINUSE;
	return bind_failed(uri->path);
}

static int probe_address(const struct address *address)
{
	int fd = socket(address->sa.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;
	if (fd < 0)
		return 0;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (address->sa.ss_family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on));
	const struct sockaddr *sa = (const struct sockaddr *)&address->sa;
	int rc = 0;
	if (bind(fd, sa, address->len) != 0 || listen(fd, 1) != 0) {
		char text[ADDRESS_TEXT_MAX];
		rc = bind_failed(address_format(sa, address->len, text, sizeof(text)));
	}
	close(fd);
	return rc;
}

/** Could we listen there? */
static int probe_uri(const char *text, size_t len)
{
	struct address_uri uri;
	struct address list[8];
	if (!address_parse(text, len, &uri))
		return 0;
	if (uri.path[0] != '\0')
		return probe_unix(&uri);
	int n = address_resolve(&uri, list, 8);
	for (int i = 0; i < n; i++) {
		if (probe_address(&list[i]) != 0)
			return -1;
	}
	return n < 0 ? -1 : 0;
}

/** What a configuration says of listening; the texts belong to Lua. */
struct listen_list {
	int count;
	struct listen_uri uris[LISTEN_MAX + 1];
	struct tls_params tls[LISTEN_MAX + 1];
};

/** [raises] Reads [{text, tls = {...}}, ...], or nil, at `idx`: what listen.lua makes. */
static void listen_read(lua_State *L, int idx, struct listen_list *list)
{
	list->count = 0;
	int count = lua_istable(L, idx) ? (int)lua_objlen(L, idx) : 0;
	for (int i = 0; i < count && i <= LISTEN_MAX; i++) {
		struct listen_uri *uri = &list->uris[list->count];
		struct tls_params *tls = &list->tls[list->count++];
		*uri = (struct listen_uri){0};
		lua_rawgeti(L, idx, i + 1);
		uri->text = lua_field_text(L, "text");
		uri->len = strlen(uri->text);
		lua_getfield(L, -1, "tls");
		if (lua_istable(L, -1)) {
			uri->tls = tls;
			*tls = lua_tls_params(L);
		}
		lua_pop(L, 2);
	}
}

/**
 * Could we listen there? Asked before any file is made, since a start that fails
 * leaves the directory as it was. The sockets proper are opened when there is data.
 */
static int probe_listen(const struct listen_list *list)
{
	for (int i = 0; i < list->count; i++) {
		struct tls_context *tls = NULL;
		if (list->uris[i].tls != NULL &&
		    (tls = tls_context_new(list->uris[i].tls, true)) == NULL)
			return -1;
		tls_context_unref(tls);
		if (probe_uri(list->uris[i].text, list->uris[i].len) != 0)
			return -1;
	}
	return 0;
}

/* Start ------------------------------------------------------------------- */

static struct uuid uuid_option(lua_State *L, const char *name)
{
	struct uuid uuid = uuid_nil;
	const char *text = string_option(L, name);
	if (text != NULL)
		uuid_from_string(&uuid, text, strlen(text));
	return uuid;
}

static enum wal_mode wal_mode_option(lua_State *L)
{
	const char *mode = string_option(L, "wal_mode");
	return strcmp(mode, "none") == 0 ? WAL_NONE :
	       strcmp(mode, "fsync") == 0 ? WAL_FSYNC : WAL_WRITE;
}

/** 0, by default: tx serves the sockets. */
static int threads_option(lua_State *L)
{
	lua_getfield(L, 1, "iproto_threads");
	int count = luaL_optint(L, -1, 0);
	lua_pop(L, 1);
	return count;
}

static void set_limits(lua_State *L)
{
	db_set_memory(number_option(L, "memtx_memory"));
	double size_max = number_option(L, "memtx_max_tuple_size");
	tuple_size_max = size_max > 0 ? (size_t)size_max : SIZE_MAX;
	db_set_read_only(bool_option(L, "read_only"));
	checkpoint_set_count((int)number_option(L, "checkpoint_count"));
	net_set_msg_max((int)number_option(L, "net_msg_max"));
	net_set_readahead((size_t)number_option(L, "readahead"));
}

/**
 * (configuration, where to listen): loads the data or makes the first, and listens. Ends the
 * process where that fails. Yields.
 */
static int start(lua_State *L)
{
	struct listen_list listen;
	listen_read(L, 2, &listen);
	struct wal_config config = {
		.wal_dir = string_option(L, "wal_dir"),
		.memtx_dir = string_option(L, "memtx_dir"),
		.mode = wal_mode_option(L),
		.wal_max_size = (int64_t)number_option(L, "wal_max_size"),
		.force_recovery = bool_option(L, "force_recovery"),
		.instance_uuid = uuid_option(L, "instance_uuid"),
		.replicaset_uuid = uuid_option(L, "replicaset_uuid"),
		.read_only = bool_option(L, "read_only"),
		.hot_standby = bool_option(L, "hot_standby"),
	};
	int threads = threads_option(L);
	set_limits(L);
	if (lua_ctl_run_schema_init() != 0)
		return lua_throw(L);
	/* Whom a hot standby stands by has the address. */
	bool probe = listen.count > 0 && !config.hot_standby;
	if ((probe && probe_listen(&listen) != 0) || wal_start(&config) != 0)
		start_failed();
	db_is_configured = true;
	checkpoint_set_interval(number_option(L, "checkpoint_interval"));
	if (net_start_threads(threads) != 0 ||
	    (listen.count > 0 && net_listen_list(listen.uris, listen.count) != 0))
		start_failed();
	say_info("ready to accept requests");
	return 0;
}

/* Changes at run time ----------------------------------------------------- */

/** (where to listen) */
static int set_listen(lua_State *L)
{
	struct listen_list listen;
	listen_read(L, 1, &listen);
	return net_listen_list(listen.uris, listen.count) == 0 ? 0 : lua_throw(L);
}

static int set_memtx_memory(lua_State *L)
{
	db_set_memory(luaL_checknumber(L, 1));
	return 0;
}

/** (bytes; 0: no limit) Too little for what the heap has is refused. */
static int set_lua_memory(lua_State *L)
{
	/* So much must be left for work. */
	const size_t room = 1024 * 1024;
	size_t limit = (size_t)luaL_checknumber(L, 1);
	if (limit != 0 && lua_heap_used() + room > limit)
		lua_gc(L, LUA_GCCOLLECT, 0);
	if (limit != 0 && lua_heap_used() + room > limit) {
		char text[128];
		snprintf(text, sizeof(text), "Lua has %zu bytes in use, and needs 1 MB more",
			 lua_heap_used());
		client_error(ER_CFG, "lua_memory", text);
		return lua_throw(L);
	}
	lua_heap_set_limit(limit);
	return 0;
}

static int set_memtx_max_tuple_size(lua_State *L)
{
	double n = luaL_checknumber(L, 1);
	tuple_size_max = n > 0 ? (size_t)n : SIZE_MAX;
	return 0;
}

static int set_read_only(lua_State *L)
{
	db_set_read_only(lua_toboolean(L, 1));
	return 0;
}

static int set_checkpoint_count(lua_State *L)
{
	checkpoint_set_count((int)luaL_checknumber(L, 1));
	return 0;
}

static int set_checkpoint_interval(lua_State *L)
{
	double n = luaL_checknumber(L, 1);
	checkpoint_set_interval(n > 0 ? n : 0);
	return 0;
}

static int set_checkpoint_wal_threshold(lua_State *L)
{
	checkpoint_set_wal_threshold(luaL_checknumber(L, 1));
	return 0;
}

static int set_wal_queue_max_size(lua_State *L)
{
	double n = luaL_checknumber(L, 1);
	journal_set_queue_size_max(n < 1e18 ? (size_t)n : SIZE_MAX);
	return 0;
}

static int set_too_long_threshold(lua_State *L)
{
	journal_set_too_long(luaL_checknumber(L, 1));
	return 0;
}

/** (megabytes; 0: no limit) */
static int set_snap_io_rate_limit(lua_State *L)
{
	double n = luaL_checknumber(L, 1);
	checkpoint_set_rate_limit(n > 0 ? n * 1024 * 1024 : 0);
	return 0;
}

static int set_wal_cleanup_delay(lua_State *L)
{
	gc_set_delay(luaL_checknumber(L, 1));
	return 0;
}

static int set_net_msg_max(lua_State *L)
{
	net_set_msg_max((int)luaL_checknumber(L, 1));
	return 0;
}

static int set_readahead(lua_State *L)
{
	net_set_readahead((size_t)luaL_checknumber(L, 1));
	return 0;
}

/** nil: the server chooses. */
static int set_io_busy_poll(lua_State *L)
{
	loop_set_busy_poll(lua_isnil(L, 1) ? busy_poll_default() : luaL_checknumber(L, 1));
	return 0;
}

static int set_io_collect_interval(lua_State *L)
{
	ev_set_io_collect_interval(loop_ev, luaL_checknumber(L, 1));
	return 0;
}

static int snapshot(lua_State *L)
{
	if (checkpoint_make() != 0)
		return lua_throw(L);
	lua_pushliteral(L, "ok");
	return 1;
}

/** (place from the newest) -> path of the snapshot */
static int backup_begin(lua_State *L)
{
	lua_Number back = lua_isnoneornil(L, 1) ? 0 : luaL_checknumber(L, 1);
	if (back < 0)
		return luaL_error(L, "invalid checkpoint index");
	char *path = backup_start(back < UINT32_MAX ? (uint32_t)back : UINT32_MAX);
	if (path == NULL)
		return lua_throw(L);
	lua_pushstring(L, path);
	xfree(path);
	return 1;
}

static int backup_end(lua_State *L)
{
	backup_stop();
	return 0;
}

/** (level from 0, text): a line of the log */
static int say_line(lua_State *L)
{
	say((int)luaL_checkinteger(L, 1), "%s", luaL_checkstring(L, 2));
	return 0;
}

/** (text) -> is it a UUID? */
static int is_uuid(lua_State *L)
{
	size_t len;
	const char *text = luaL_checklstring(L, 1, &len);
	struct uuid uuid;
	lua_pushboolean(L, uuid_from_string(&uuid, text, len) == 0);
	return 1;
}

void lua_cfg_init(lua_State *L)
{
	static const luaL_Reg funcs[] = {
		{"setup_process", setup_process}, {"setup_pid_file", setup_pid_file},
		{"fail", fail}, {"start", start}, {"is_uri", is_uri},
		{"is_uuid", is_uuid}, {"say", say_line}, {"snapshot", snapshot},
		{"backup_start", backup_begin}, {"backup_stop", backup_end},
		{"set_listen", set_listen}, {"set_memtx_memory", set_memtx_memory},
		{"set_lua_memory", set_lua_memory},
		{"set_memtx_max_tuple_size", set_memtx_max_tuple_size},
		{"set_read_only", set_read_only}, {"set_checkpoint_count", set_checkpoint_count},
		{"set_checkpoint_interval", set_checkpoint_interval},
		{"set_checkpoint_wal_threshold", set_checkpoint_wal_threshold},
		{"set_wal_queue_max_size", set_wal_queue_max_size},
		{"set_too_long_threshold", set_too_long_threshold},
		{"set_snap_io_rate_limit", set_snap_io_rate_limit},
		{"set_wal_cleanup_delay", set_wal_cleanup_delay},
		{"set_net_msg_max", set_net_msg_max}, {"set_readahead", set_readahead},
		{"set_io_busy_poll", set_io_busy_poll},
		{"set_io_collect_interval", set_io_collect_interval}, {NULL, NULL},
	};
	lua_new_module(L, "tarn.cfg", funcs);
	lua_pop(L, 1);
	lua_load_embedded(L, "listen.lua", "tarn.box.listen");
	lua_load_embedded(L, "cfg_options.lua", "tarn.box.cfg_options");
	lua_load_embedded(L, "cfg_env.lua", "tarn.box.cfg_env");
	lua_ctl_init(L);
	lua_load_embedded(L, "cfg.lua", "tarn.box.cfg");
}
