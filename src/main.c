/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The command line, and the order in which the layers start and stop.
 *
 * `cat` and `play` are commands of our own, which read files of the log; any other word is
 * a script.
 *
 * The script runs in a fiber; when it ends, the process stays where the script has
 * configured the database, listens, or has left other fibers behind. A stop (a signal, os.exit, the
 * script's end or error) is one sequence, run by a fiber of its own: connections and
 * listening sockets are closed, the journal is written to its end marker, then the
 * loop returns to main().
 */
#include <errno.h>
#include <bsd/unistd.h>
#include <getopt.h>
#include <locale.h>
#include <luajit.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/fiber.h"
#include "core/log.h"
#include "core/loop.h"
#include "core/memory.h"
#include "core/sys.h"
#include "core/worker.h"
#include "db/db.h"
#include "db/error.h"
#include "db/wal/wal.h"
#include "lua/bridge.h"
#include "lua/init.h"
#include "lua/modules.h"
#include "lua/version.h"
#include "net/iproto.h"
#include "net/session.h"

enum { EXIT_USAGE = 64, EXIT_NO_SCRIPT = 2 };

/** What the command line asks for. */
struct options {
	/** -e and -l in their order: {kind, text}. */
	struct step { char kind; const char *text; } *steps;
	int step_count;
	bool is_interactive;
	/** The script, "-" for standard input, or NULL. */
	const char *script;
	/** A command of our own, or NULL. */
	const char *command;
};

static struct options options;
static int exit_status;
static bool is_stopping;
/** The fiber that runs the triggers of the stop, while it does. */
static struct fiber *stopper;
/** No fiber runs any more. */
static bool is_over;
static ev_signal sigint_watcher, sigterm_watcher, sighup_watcher, sigusr1_watcher;

/* Command line ------------------------------------------------------------ */

static void print_version(void)
{
	printf("Tarn " TARN_VERSION " (compatible with Tarantool " TARN_COMPAT_RELEASE ")\n"
	       "Target: " TARN_TARGET "\n"
	       "Build options: " TARN_BUILD_OPTIONS "\n"
	       "Compiler: " TARN_COMPILER "\n"
	       "C_FLAGS: " TARN_C_FLAGS "\n"
	       "Lua: " LUAJIT_VERSION "\n");
}

static void print_help(const char *program)
{
	printf("Tarn - an in-memory database and Lua application server\n"
	       "\n"
	       "Usage: %s [OPTIONS] [SCRIPT [ARGS]]\n"
	       "       %s cat FILE...\t\tprint rows of .xlog and .snap files\n"
	       "       %s play URI FILE...\tsend them to a server\n"
	       "\n"
	       "Whatever follows the script's name is passed to it.\n"
	       "Options before it:\n"
	       "  -h, --help\t\t\tprint this help and exit\n"
	       "  -v, --version\t\t\tprint the version and exit\n"
	       "  -e EXPR\t\t\texecute the Lua text EXPR\n"
	       "  -l NAME\t\t\trequire the module NAME\n"
	       "  -i\t\t\t\tenter the console after SCRIPT and EXPR\n"
	       "  --\t\t\t\tthe options end here\n"
	       "  -\t\t\t\texecute standard input; the options end here\n"
	       "\n"
	       "Without a script: the console on a terminal, else standard input.\n",
	       program, program, program);
}

static void add_step(char kind, const char *text)
{
	size_t size = (options.step_count + 1) * sizeof(*options.steps);
	options.steps = xrealloc(options.steps, size);
	options.steps[options.step_count++] = (struct step){kind, text};
}

/** Reads the options; returns the index of the first word behind them. May end the process. */
static int parse_options(int argc, char **argv)
{
	static const struct option longs[] = {
		{"help", no_argument, NULL, 'h'},
		{"version", no_argument, NULL, 'v'},
		{NULL, 0, NULL, 0},
	};
	int c;
	while ((c = getopt_long(argc, argv, "+hVvie:l:", longs, NULL)) != -1) {
		switch (c) {
		case 'v':
		case 'V':
			print_version();
			exit(0);
		case 'h':
			print_help(program_invocation_short_name);
			exit(0);
		case 'i':
			options.is_interactive = true;
			break;
		case 'e':
		case 'l':
			add_step(c, optarg);
			break;
		default:
			exit(EXIT_USAGE);
		}
	}
	return optind;
}

/** Decides on the script, and sets the words that Lua finds in `arg`. */
static void choose_script(int argc, char **argv, int first)
{
	if (first < argc && (strcmp(argv[first], "cat") == 0 || strcmp(argv[first], "play") == 0))
		options.command = argv[first];
	else if (first < argc)
		options.script = argv[first];
	else if (options.step_count == 0 && !isatty(STDIN_FILENO))
		options.script = "-";
	else if (options.step_count == 0)
		options.is_interactive = true;
	if (options.script != NULL && strcmp(options.script, "-") != 0 &&
	    access(options.script, F_OK) != 0) {
		fprintf(stderr, "Can't open script %s: %s\n", options.script, strerror(errno));
		exit(EXIT_NO_SCRIPT);
	}
}

/* Stop ---------------------------------------------------------------------- */

/**
 * What a clean stop does behind the triggers of scripts. Runs once. No fiber sees the
 * closed journal: one that writes in a loop, come what may, would never yield again.
 */
static void stop_all(void)
{
	static bool is_begun;
	if (is_begun)
		return;
	is_begun = true;
	net_stop();
	wal_stop();
	fiber_halt_all();
	loop_stop();
}

/** The triggers of scripts. */
static int triggers_run(va_list ap)
{
	fiber_set_cancellable(false);
	lua_ctl_run_shutdown();
	return 0;
}

/** Runs triggers in a fiber of their own: they have so much time and no more. */
static void run_triggers(void)
{
	double timeout = lua_ctl_shutdown_timeout();
	stopper = fiber_new("on_shutdown", triggers_run);
	if (stopper == NULL)
		return;
	fiber_set_joinable(stopper, true);
	fiber_wakeup(stopper);
	if (fiber_join_timeout(stopper, timeout) != 0 && error_is(diag_last(), &type_TimedOut))
		say_error("the triggers of box.ctl.on_shutdown have not ended within %g s: "
			  "the process stops without them", timeout);
	stopper = NULL;
}

/** The sequence of a clean stop, in a fiber. */
static int stop_run(va_list ap)
{
	fiber_set_cancellable(false);
	double deadline = clock_monotonic() + lua_ctl_shutdown_timeout();
	net_stop_listening();
	run_triggers();
	net_drain(deadline - clock_monotonic());
	stop_all();
	return 0;
}

/** Begins to stop; the status of the first call counts. */
static void stop_begin(int status)
{
	if (is_stopping)
		return;
	is_stopping = true;
	exit_status = status;
	struct fiber *f = fiber_new("stop", stop_run);
	if (f == NULL)
		_exit(status != 0 ? status : 1);
	fiber_wakeup(f);
}

static void on_stop_signal(struct ev_loop *ev, ev_signal *w, int events)
{
	if (w->signum == SIGINT && lua_console_is_reading())
		return;
	say_info("got signal %d - %s", w->signum, strsignal(w->signum));
	stop_begin(0);
}

static void on_hangup(struct ev_loop *ev, ev_signal *w, int events)
{
	if (log_reopen() != 0)
		diag_log();
}

static int checkpoint_run(va_list args)
{
	(void)args;
	if (checkpoint_make() != 0)
		diag_log();
	return 0;
}

/** As the reference does: administrators' scripts ask for a snapshot so. */
static void on_checkpoint_signal(struct ev_loop *ev, ev_signal *w, int events)
{
	if (!db_is_configured)
		return;
	struct fiber *f = fiber_new("snapshot", checkpoint_run);
	if (f == NULL)
		diag_log();
	else
		fiber_wakeup(f);
}

/**
 * os.exit([status]): stops cleanly, from any fiber. Never returns to its caller, save
 * for a finalizer that runs because the process ends.
 */
static int lua_os_exit(lua_State *L)
{
	int status = lua_isnoneornil(L, 1) || lua_isboolean(L, 1) ? 0 : (int)lua_tointeger(L, 1);
	if (is_over)
		return 0;
	struct session *session = session_peek();
	if (session != NULL)
		session->is_exiting = true;
	stop_begin(status);
	/* A trigger of the stop itself has had enough of the others. */
	if (fiber() == stopper)
		stop_all();
	for (;;)
		fiber_yield();
	return 0;
}

static void watch_signal(ev_signal *w, int signum, void (*cb)(struct ev_loop *, ev_signal *, int))
{
	ev_signal_init(w, cb, signum);
	ev_signal_start(loop_ev, w);
}

static void signals_init(void)
{
	signal(SIGPIPE, SIG_IGN);
	/* A file that may not grow is a write that fails. */
	signal(SIGXFSZ, SIG_IGN);
	watch_signal(&sigint_watcher, SIGINT, on_stop_signal);
	watch_signal(&sigterm_watcher, SIGTERM, on_stop_signal);
	watch_signal(&sighup_watcher, SIGHUP, on_hangup);
	watch_signal(&sigusr1_watcher, SIGUSR1, on_checkpoint_signal);
}

/* The script ------------------------------------------------------------------ */

/** The state that tracebacks are made in: the one that failed may have no stack left. */
static lua_State *trace_state;

/** Keeps where the error came from. Under it: the handler and the pcall that called it. */
static int keep_traceback(lua_State *L)
{
	const int handler_levels = 3;
	lua_settop(trace_state, 0);
	luaL_traceback(trace_state, L, NULL, handler_levels);
	return 0;
}

/**
 * Makes the message handler: leaves the error alone and keeps the traceback. After a stack
 * overflow there are few slots left, often too few to call a C function: so it is a Lua
 * function that needs as few as can be. It puts the error aside, then reaches keep_traceback()
 * by a metamethod: where that has no room, only the traceback is missing.
 */
static void make_handler(lua_State *L)
{
	static const char text[] =
		"local pcall, keep = ... "
		"local trace = setmetatable({}, {__index = pcall, __call = keep}) "
		"local kept "
		"return function(e) kept = e e = trace.it return kept end, "
		"function() local e = kept kept = nil return e end";
	trace_state = lua_newthread(L);
	lua_setfield(L, LUA_REGISTRYINDEX, "tarn.trace_state");
	if (luaL_loadbuffer(L, text, sizeof(text) - 1, "=builtin/handler") != 0)
		panic("%s", lua_tostring(L, -1));
	lua_getglobal(L, "pcall");
	lua_pushcfunction(L, keep_traceback);
	lua_call(L, 2, 2);
	lua_setfield(L, LUA_REGISTRYINDEX, "tarn.take_error");
	lua_setfield(L, LUA_REGISTRYINDEX, "tarn.handler");
}

/** The next line of a traceback, NULL behind the last one. */
static const char *next_line(const char *line)
{
	const char *end = strchr(line, '\n');
	return end != NULL ? end + 1 : NULL;
}

/**
 * The lines of the frames that are of interest: those of our own Lua files which stand
 * before the first of the user's are not, nor the C functions between them.
 */
static const char *first_frame(const char *lines)
{
	bool is_builtin = false;
	for (const char *line = lines; line != NULL; line = next_line(line)) {
		if (strncmp(line, "\tbuiltin/", 9) == 0)
			is_builtin = true;
		else if (strncmp(line, "\t[C]:", 5) != 0)
			return is_builtin ? line : lines;
	}
	return lines;
}

/** Writes the current error and the kept traceback to standard error and the log. */
static void report_error(void)
{
	struct error *e = diag_last();
	const char *name = e->type == &type_ClientError ? error_code_name(e->code) : NULL;
	if (name == NULL)
		name = error_type_name(e);
	const char *trace = lua_tostring(trace_state, 1);
	const char *frames = trace != NULL ? next_line(trace) : NULL;
	const char *title = frames != NULL ? "\nstack traceback:\n" : "";
	frames = frames != NULL ? first_frame(frames) : "";
	fprintf(stderr, "%s: %s%s%s\n", name, e->message, title, frames);
	if (log_file_name() != NULL)
		say_error("%s: %s%s%s", name, e->message, title, frames);
	lua_settop(trace_state, 0);
}

/** The error is on top of the stack; where the handler had no room to end, it is put there. */
static void take_error(lua_State *L, int rc)
{
	lua_getfield(L, LUA_REGISTRYINDEX, "tarn.take_error");
	lua_call(L, 0, 1);
	if (rc == LUA_ERRERR && lua_isnil(L, -1)) {
		lua_pop(L, 1);
		lua_pushliteral(L, "stack overflow (too full to tell where)");
	}
	if (rc == LUA_ERRERR)
		lua_replace(L, -2);
	else
		lua_pop(L, 1);
}

/** Calls the function under the arguments. -1 with the error reported, and no results. */
static int call_reported(lua_State *L, int arg_count, int result_count)
{
	int base = lua_gettop(L) - arg_count;
	lua_settop(trace_state, 0);
	lua_getfield(L, LUA_REGISTRYINDEX, "tarn.handler");
	lua_insert(L, base);
	bool was_guarded = lua_heap_guard(true);
	int rc = lua_pcall(L, arg_count, result_count, base);
	lua_heap_guard(was_guarded);
	if (rc != 0) {
		take_error(L, rc);
		lua_to_diag(L);
		report_error();
		lua_settop(L, base - 1);
		return -1;
	}
	lua_remove(L, base);
	return 0;
}

/** A chunk that cannot be loaded: its message is at the top. */
static int report_load_error(lua_State *L)
{
	lua_to_diag(L);
	lua_settop(trace_state, 0);
	report_error();
	return -1;
}

static int run_step(lua_State *L, const struct step *step)
{
	if (step->kind == 'l') {
		lua_getglobal(L, "require");
		lua_pushstring(L, step->text);
		if (call_reported(L, 1, 1) != 0)
			return -1;
		lua_setglobal(L, step->text);
		return 0;
	}
	if (luaL_loadbuffer(L, step->text, strlen(step->text), "=(command line)") != 0)
		return report_load_error(L);
	return call_reported(L, 0, 0);
}

/** Pushes arg[1], arg[2]... and returns their number. */
static int push_script_args(lua_State *L)
{
	lua_getglobal(L, "arg");
	int count = lua_istable(L, -1) ? lua_objlen(L, -1) : 0;
	luaL_checkstack(L, count + 1, "too many arguments");
	for (int i = 1; i <= count; i++)
		lua_rawgeti(L, -i, i);
	lua_remove(L, -count - 1);
	return count;
}

static int run_script(lua_State *L)
{
	const char *file = strcmp(options.script, "-") == 0 ? NULL : options.script;
	if (luaL_loadfile(L, file) != 0)
		return report_load_error(L);
	return call_reported(L, push_script_args(L), 0);
}

/** Calls the command with the words behind it. */
static int run_command(lua_State *L)
{
	lua_getglobal(L, "require");
	lua_pushliteral(L, "tarn.log_tool");
	if (lua_call_protected(L, 1, 1) != 0) {
		report_error();
		return -1;
	}
	lua_pushstring(L, options.command);
	return call_reported(L, 1 + push_script_args(L), 0);
}

static int run_console(lua_State *L)
{
	lua_getglobal(L, "require");
	lua_pushliteral(L, "console");
	if (lua_call_protected(L, 1, 1) != 0) {
		report_error();
		return -1;
	}
	lua_getfield(L, -1, "start");
	lua_remove(L, -2);
	return call_reported(L, 0, 0);
}

static int run_all(lua_State *L)
{
	for (int i = 0; i < options.step_count; i++) {
		if (run_step(L, &options.steps[i]) != 0)
			return -1;
	}
	if (options.command != NULL)
		return run_command(L);
	if (options.script != NULL && run_script(L) != 0)
		return -1;
	if (options.is_interactive)
		return run_console(L);
	return 0;
}

/** Is it a fiber that the script made? `arg`: the script's own. */
static int is_script_child(struct fiber *f, void *arg)
{
	struct fiber *script = arg;
	return f->id > script->id && !(f->flags & (FIBER_IS_SYSTEM | FIBER_IS_DEAD));
}

/** Has the script left something that may go on: a database, a socket, a fiber? */
static bool has_background_work(void)
{
	return db_is_configured || net_listen_count() > 0 ||
		fiber_foreach(is_script_child, fiber()) != 0;
}

/** The script's fiber: the words of the command line in order, then stay or stop. */
static int script_main(va_list ap)
{
	int rc = run_all(lua_fiber_state());
	fflush(stdout);
	if (rc != 0) {
		static const char text[] = "fatal error, exiting the event loop";
		fprintf(stderr, "%s\n", text);
		if (log_file_name() != NULL)
			log_write(LOG_FATAL, NULL, 0, NULL, "%s", text);
		stop_begin(1);
	} else if (options.is_interactive || options.command != NULL || !has_background_work()) {
		stop_begin(0);
	} else if (!is_stopping) {
		say_crit("entering the event loop");
	}
	return 0;
}

static const char *script_name(void)
{
	if (options.script == NULL || strcmp(options.script, "-") == 0)
		return options.is_interactive ? "interactive" : "script";
	const char *slash = strrchr(options.script, '/');
	return slash != NULL ? slash + 1 : options.script;
}

/** Tells `ps` which script runs. */
static void name_process(lua_State *L, const char *script)
{
	lua_getglobal(L, "require");
	lua_pushliteral(L, "title");
	lua_call(L, 1, 1);
	lua_getfield(L, -1, "update");
	lua_createtable(L, 0, 1);
	lua_pushstring(L, script);
	lua_setfield(L, -2, "script_name");
	lua_call(L, 1, 0);
	lua_pop(L, 1);
}

/* Order of start and stop ------------------------------------------------------- */

static void start(int argc, char **argv, int first)
{
	fiber_init();
	loop_init();
	worker_init();
	db_init();
	net_init();
	lua_bridge_init(argc, argv);
	lua_State *L = lua_main;
	/* With a script, `arg` begins with it; arg[-1] is the program either way. */
	bool has_script = first < argc;
	lua_init_args(L, has_script ? argc - first : 1, has_script ? argv + first : argv);
	bool has_file = options.script != NULL && strcmp(options.script, "-") != 0;
	lua_init_script(L, has_file ? options.script : NULL);
	if (has_script)
		name_process(L, argv[first]);
	lua_getglobal(L, "arg");
	char path[4096];
	ssize_t len = readlink("/proc/self/exe", path, sizeof(path) - 1);
	lua_pushlstring(L, path, len > 0 ? len : 0);
	lua_rawseti(L, -2, -1);
	lua_getglobal(L, "os");
	lua_pushcfunction(L, lua_os_exit);
	lua_setfield(L, -2, "exit");
	make_handler(L);
	lua_settop(L, 0);
	signals_init();
}

static void finish(void)
{
	fflush(stdout);
	/* The last poll may have woken some. The net's fibers end, which needs Lua. */
	fiber_halt_all();
	net_free();
	lua_bridge_free();
	db_free();
	worker_free();
	xfree(options.steps);
}

#ifdef TARN_ASAN
const char *__lsan_default_suppressions(void);

/** What libbsd keeps of the command line for setproctitle(). */
const char *__lsan_default_suppressions(void)
{
	return "leak:setproctitle_init\n";
}
#endif

int main(int argc, char **argv)
{
	setproctitle_init(argc, argv, environ);
	/* Characters are UTF-8 whatever the environment says; numbers and times stay as in C. */
	setlocale(LC_CTYPE, "C.UTF-8");
	int first = parse_options(argc, argv);
	choose_script(argc, argv, first);
	start(argc, argv, first);
	struct fiber *f = fiber_new(script_name(), script_main);
	if (f == NULL)
		panic("no memory for the script's fiber");
	fiber_wakeup(f);
	loop_run();
	is_over = true;
	finish();
	return exit_status;
}
