/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Child processes for popen.lua, which checks arguments and holds what users see.
 *
 * posix_spawn(3) starts a program, in a worker thread, since whoever calls it waits for
 * the exec. Its end is told by a descriptor of the process (pidfd_open(2)), so that no
 * handler of SIGCHLD takes the exit codes of other code's children.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/coio.h"
#include "core/fiber.h"
#include "core/loop.h"
#include "core/memory.h"
#include "core/sys.h"
#include "core/worker.h"
#include "lua/bridge.h"
#include "lua/modules.h"

extern char **environ;

struct child {
	struct ev_io watcher;
	pid_t pid;
	int pidfd;
	bool is_dead;
	/** As waitpid(2) gives it, once it is dead. */
	int status;
	/** Our ends of its standard streams, -1 where there is none. */
	int fd[3];
	bool is_group, is_kept;
	/** Its end has come. */
	struct fiber_cond ended;
	/** No handle has it any more: freed at its end. */
	bool is_orphan;
};

static struct lua_class child_class = {.name = "popen.child"};

static void child_free(struct child *c)
{
	fiber_cond_destroy(&c->ended);
	xfree(c);
}

/** The process is over: takes its exit code, which ends its number's life. */
static void on_end(struct ev_loop *loop, struct ev_io *io, int events)
{
	struct child *c = (struct child *)io;
	int status;
	if (waitpid(c->pid, &status, WNOHANG) != c->pid)
		return;
	ev_io_stop(loop_ev, io);
	close(c->pidfd);
	c->status = status;
	c->is_dead = true;
	fiber_cond_broadcast(&c->ended);
	if (c->is_orphan)
		child_free(c);
}

static struct child *check_child(lua_State *L, int idx)
{
	struct child *c = *(struct child **)lua_class_check(L, idx, &child_class);
	if (c == NULL)
		luaL_error(L, "popen: attempt to operate on a closed handle");
	return c;
}

/* Start ------------------------------------------------------------------ */

enum stream_action {
	STREAM_INHERIT, STREAM_DEVNULL, STREAM_CLOSE, STREAM_PIPE,
};

static const char *const stream_actions[] = {"inherit", "devnull", "close", "pipe", NULL};

struct spawn {
	char **argv, **env;
	enum stream_action action[3];
	/** The child's ends of pipes. */
	int fd[3];
	bool closes_fds, restores_signals, sets_sid;
	pid_t pid;
};

/** The attributes and actions of posix_spawn: 0 or an error number. */
static int spawn_prepare(const struct spawn *s, posix_spawn_file_actions_t *actions,
			 posix_spawnattr_t *attr)
{
	sigset_t none, all;
	sigemptyset(&none);
	sigfillset(&all);
	short flags = POSIX_SPAWN_SETSIGMASK;
	int rc = posix_spawnattr_setsigmask(attr, &none);
	if (s->restores_signals) {
		flags |= POSIX_SPAWN_SETSIGDEF;
		rc = rc != 0 ? rc : posix_spawnattr_setsigdefault(attr, &all);
	}
	if (s->sets_sid)
		flags |= POSIX_SPAWN_SETSID;
	rc = rc != 0 ? rc : posix_spawnattr_setflags(attr, flags);
	for (int i = 0; i < 3 && rc == 0; i++) {
		if (s->action[i] == STREAM_DEVNULL)
			rc = posix_spawn_file_actions_addopen(actions, i, "/dev/null", O_RDWR, 0);
		else if (s->action[i] == STREAM_CLOSE)
			rc = posix_spawn_file_actions_addclose(actions, i);
		else if (s->action[i] == STREAM_PIPE)
			rc = posix_spawn_file_actions_adddup2(actions, s->fd[i], i);
	}
	if (s->closes_fds && rc == 0)
		rc = posix_spawn_file_actions_addclosefrom_np(actions, STDERR_FILENO + 1);
	return rc;
}

/** In a worker: 0 or an error number. */
static int spawn_run(void *arg)
{
	struct spawn *s = arg;
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	int rc = posix_spawn_file_actions_init(&actions);
	if (rc != 0)
		return rc;
	rc = posix_spawnattr_init(&attr);
	if (rc == 0) {
		rc = spawn_prepare(s, &actions, &attr);
		if (rc == 0)
			rc = posix_spawn(&s->pid, s->argv[0] != NULL ? s->argv[0] : "", &actions,
					 &attr, s->argv, s->env);
		posix_spawnattr_destroy(&attr);
	}
	posix_spawn_file_actions_destroy(&actions);
	return rc;
}

/** Moves a descriptor above the standard ones, where the parent has some of those closed. */
static int above_standard(int fd)
{
	if (fd > STDERR_FILENO)
		return fd;
	int moved = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	int saved = errno;
	close(fd);
	errno = saved;
	return moved;
}

/** A pipe for stream `i`: ours does not block. -1 with an error set. */
static int make_pipe(int i, int *ours, int *childs)
{
	int fds[2];
	if (pipe2(fds, O_CLOEXEC) != 0) {
		diag_set_errno(SystemError, "pipe");
		return -1;
	}
	*ours = above_standard(fds[i == STDIN_FILENO]);
	*childs = above_standard(fds[i != STDIN_FILENO]);
	if (*ours < 0 || *childs < 0 || fcntl(*ours, F_SETFL, O_NONBLOCK) != 0) {
		diag_set_errno(SystemError, "fcntl");
		return -1;
	}
	return 0;
}

static void close_fds(int *fds)
{
	for (int i = 0; i < 3; i++) {
		if (fds[i] >= 0)
			close(fds[i]);
		fds[i] = -1;
	}
}

/** Watches for the end. -1 with an error set: there is no watching it, so it is killed. */
static int child_watch(struct child *c)
{
	c->pidfd = syscall(SYS_pidfd_open, c->pid, 0);
	if (c->pidfd < 0) {
		diag_set_errno(SystemError, "pidfd_open");
		kill(c->pid, SIGKILL);
		waitpid(c->pid, NULL, 0);
		return -1;
	}
	fcntl(c->pidfd, F_SETFD, FD_CLOEXEC);
	ev_io_init(&c->watcher, on_end, c->pidfd, EV_READ);
	ev_io_start(loop_ev, &c->watcher);
	return 0;
}

/** Pipes and the process. A program that cannot be run counts as one that exited with errno. */
static int child_start(struct child *c, struct spawn *s)
{
	for (int i = 0; i < 3; i++) {
		if (s->action[i] == STREAM_PIPE && make_pipe(i, &c->fd[i], &s->fd[i]) != 0)
			return -1;
	}
	int rc = worker_call(spawn_run, s);
	c->pid = s->pid;
	if (rc == 0)
		return child_watch(c);
	c->is_dead = true;
	c->status = (rc & 0xff) << 8;
	return 0;
}

/** A NULL-ended array of the strings in the table at `idx`, which keeps them alive. */
static char **to_strings(lua_State *L, int idx)
{
	size_t count = lua_objlen(L, idx);
	char **strings = lua_newuserdata(L, (count + 1) * sizeof(*strings));
	for (size_t i = 0; i < count; i++) {
		lua_rawgeti(L, idx, i + 1);
		strings[i] = (char *)lua_tostring(L, -1);
		lua_pop(L, 1);
	}
	strings[count] = NULL;
	return strings;
}

static bool flag(lua_State *L, int idx, const char *name)
{
	lua_getfield(L, idx, name);
	bool value = lua_toboolean(L, -1);
	lua_pop(L, 1);
	return value;
}

static enum stream_action stream_of(lua_State *L, int idx, const char *name)
{
	lua_getfield(L, idx, name);
	int action = luaL_checkoption(L, -1, NULL, stream_actions);
	lua_pop(L, 1);
	return action;
}

/** (argv, env or nil, options) -> child; nil and an error. Yields. */
static int popen_spawn(lua_State *L)
{
	struct spawn s = {.fd = {-1, -1, -1}};
	s.argv = to_strings(L, 1);
	s.env = lua_istable(L, 2) ? to_strings(L, 2) : environ;
	s.action[0] = stream_of(L, 3, "stdin");
	s.action[1] = stream_of(L, 3, "stdout");
	s.action[2] = stream_of(L, 3, "stderr");
	s.closes_fds = flag(L, 3, "close_fds");
	s.restores_signals = flag(L, 3, "restore_signals");
	s.sets_sid = flag(L, 3, "setsid");
	struct child **p = lua_newuserdata(L, sizeof(*p));
	*p = NULL;
	lua_class_set(L, &child_class);
	if (fiber_may_yield() != 0)
		return lua_throw(L);
	struct child *c = xcalloc(1, sizeof(*c));
	memset(c->fd, -1, sizeof(c->fd));
	c->is_group = flag(L, 3, "group_signal");
	c->is_kept = flag(L, 3, "keep_child");
	fiber_cond_create(&c->ended);
	int rc = child_start(c, &s);
	close_fds(s.fd);
	if (rc != 0) {
		close_fds(c->fd);
		child_free(c);
		return lua_push_failure(L);
	}
	*p = c;
	return 1;
}

/* Life ------------------------------------------------------------------- */

static int child_signal(struct child *c, int signo)
{
	if (c->is_dead) {
		errno = ESRCH;
		diag_set(SystemError, "Attempt to send a signal %d to a process that does not "
			 "exist anymore", signo);
		return -1;
	}
	if (kill(c->is_group ? -c->pid : c->pid, signo) != 0) {
		diag_set(SystemError, "Unable to %s %d signo %d", c->is_group ? "killpg" : "kill",
			 (int)c->pid, signo);
		return -1;
	}
	return 0;
}

/** (child, signal) -> true; nil and an error */
static int popen_signal(lua_State *L)
{
	if (child_signal(check_child(L, 1), luaL_checkint(L, 2)) != 0)
		return lua_push_failure(L);
	lua_pushboolean(L, true);
	return 1;
}

/** (child): until it has ended. Yields. */
static int popen_wait(lua_State *L)
{
	if (fiber_may_yield() != 0)
		return lua_throw(L);
	while (!check_child(L, 1)->is_dead) {
		if (fiber_cond_wait(&check_child(L, 1)->ended) != 0)
			return lua_throw(L);
	}
	return 0;
}

/** (child) -> its number, nil once it has ended; is there our end of stdin, stdout, stderr? */
static int popen_state(lua_State *L)
{
	struct child *c = check_child(L, 1);
	if (c->is_dead)
		lua_pushnil(L);
	else
		lua_pushinteger(L, c->pid);
	for (int i = 0; i < 3; i++)
		lua_pushboolean(L, c->fd[i] >= 0);
	return 4;
}

/** (child) -> "alive"; "exited" and the code; "signaled" and the signal */
static int popen_status(lua_State *L)
{
	struct child *c = check_child(L, 1);
	if (!c->is_dead) {
		lua_pushliteral(L, "alive");
		return 1;
	}
	bool is_exit = WIFEXITED(c->status);
	lua_pushstring(L, is_exit ? "exited" : "signaled");
	lua_pushinteger(L, is_exit ? WEXITSTATUS(c->status) : WTERMSIG(c->status));
	return 2;
}

static void close_stream(struct child *c, int i)
{
	if (c->fd[i] >= 0)
		coio_close(c->fd[i]);
	c->fd[i] = -1;
}

/** (child, stream): closes our end. */
static int popen_close_stream(lua_State *L)
{
	struct child *c = check_child(L, 1);
	int i = luaL_checkint(L, 2);
	luaL_argcheck(L, i >= 0 && i < 3, 2, "a stream expected");
	close_stream(c, i);
	return 0;
}

/** (child): kills it unless it is to be kept. Its handle can be used no more. */
static int popen_close(lua_State *L)
{
	struct child **p = lua_class_check(L, 1, &child_class), *c = *p;
	if (c == NULL)
		return 0;
	*p = NULL;
	for (int i = 0; i < 3; i++)
		close_stream(c, i);
	if (c->is_dead) {
		child_free(c);
		return 0;
	}
	if (!c->is_kept)
		kill(c->is_group ? -c->pid : c->pid, SIGKILL);
	c->is_orphan = true;
	fiber_cond_broadcast(&c->ended);
	return 0;
}

/* Streams ---------------------------------------------------------------- */

/** The descriptor of a stream. [raises] where it has been closed. */
static int check_stream(lua_State *L, int i)
{
	int fd = check_child(L, 1)->fd[i];
	if (fd < 0) {
		diag_set(IllegalParams, "popen: attempt to operate on a closed file descriptor");
		lua_throw(L);
	}
	return fd;
}

/** Waits for a stream: 0; 1 where the time is over. [raises] where the fiber is cancelled. */
static int wait_stream(lua_State *L, int fd, int events, double deadline)
{
	double left = deadline - clock_monotonic();
	if (left <= 0) {
		errno = ETIMEDOUT;
		diag_set(TimedOut, "timed out");
		return 1;
	}
	coio_wait_events(fd, events, left);
	if (fiber_testcancel() != 0)
		lua_throw(L);
	return 0;
}

/** (child, stream, seconds) -> text, '' at the end; nil and an error. Yields. */
static int popen_read(lua_State *L)
{
	int stream = luaL_checkint(L, 2);
	double deadline = clock_monotonic() + luaL_checknumber(L, 3);
	char data[4096];
	if (fiber_may_yield() != 0)
		return lua_throw(L);
	while (true) {
		int fd = check_stream(L, stream);
		ssize_t n = read(fd, data, sizeof(data));
		if (n >= 0) {
			lua_pushlstring(L, data, n);
			return 1;
		}
		if (errno != EAGAIN && errno != EINTR) {
			diag_set(SocketError, "read(%d), called on fd %d", (int)sizeof(data), fd);
			return lua_push_failure(L);
		}
		if (wait_stream(L, fd, EV_READ, deadline) != 0)
			return lua_push_failure(L);
	}
}

/** (child, text, seconds) -> true; nil and an error. Yields. */
static int popen_write(lua_State *L)
{
	size_t left;
	const char *data = luaL_checklstring(L, 2, &left);
	double deadline = clock_monotonic() + luaL_checknumber(L, 3);
	if (fiber_may_yield() != 0)
		return lua_throw(L);
	while (left > 0) {
		int fd = check_stream(L, STDIN_FILENO);
		ssize_t n = write(fd, data, left);
		if (n >= 0) {
			data += n;
			left -= n;
			continue;
		}
		if (errno != EAGAIN && errno != EINTR) {
			diag_set(SocketError, "write(%d), called on fd %d", (int)left, fd);
			return lua_push_failure(L);
		}
		if (wait_stream(L, fd, EV_WRITE, deadline) != 0)
			return lua_push_failure(L);
	}
	lua_pushboolean(L, true);
	return 1;
}

/** (text) raises IllegalParams. */
static int popen_refuse(lua_State *L)
{
	diag_set(IllegalParams, "%s", luaL_checkstring(L, 1));
	return lua_throw(L);
}

void lua_popen_init(lua_State *L)
{
	static const luaL_Reg functions[] = {
		{"spawn", popen_spawn},
		{"signal", popen_signal},
		{"wait", popen_wait},
		{"state", popen_state},
		{"status", popen_status},
		{"read", popen_read},
		{"write", popen_write},
		{"close_stream", popen_close_stream},
		{"close", popen_close},
		{"refuse", popen_refuse},
		{NULL, NULL},
	};
	lua_class_new_with_gc(L, &child_class, popen_close);
	lua_new_module(L, "internal.popen", functions);
	lua_pop(L, 1);
	lua_load_embedded(L, "popen.lua", "popen");
}
