/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The C side of the module `console`: lines from a terminal, with editing,
 * history and completion by readline, read without holding up other fibers.
 *
 * readline keeps its state in globals, so one fiber at a time reads.
 */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include <readline/history.h>
#include <readline/readline.h>

#include "core/fiber.h"
#include "core/loop.h"
#include "core/memory.h"
#include "lua/bridge.h"
#include "lua/finalizer.h"
#include "lua/init.h"
#include "lua/lib/console_session.h"
#include "lua/modules.h"
#include "lua/version.h"

static struct {
	bool is_active;
	bool is_done;
	/** What was read: NULL at the end of input. Allocated by malloc. */
	char *line;
	bool is_interrupted;
	/** Nothing had been typed when it was interrupted. */
	bool was_empty;
	ev_signal sigint;
	struct fiber *reader;
	/** The Lua function that finds candidates for completion. */
	int completion_ref;
} console = {.completion_ref = LUA_NOREF};

static void on_line(char *line)
{
	console.line = line;
	console.is_done = true;
	rl_callback_handler_remove();
}

bool lua_console_is_reading(void)
{
	return console.is_active;
}

/** Ctrl-C: what is being typed goes, and the prompt comes anew. */
static void on_interrupt(struct ev_loop *loop, ev_signal *w, int revents)
{
	console.is_interrupted = true;
	console.was_empty = rl_end == 0;
	fiber_wakeup(console.reader);
}

/* Completion ------------------------------------------------------------- */

/** Copies the list of strings on top of the stack, as readline wants it. */
static char **copy_matches(lua_State *L)
{
	size_t count = lua_objlen(L, -1);
	if (count == 0)
		return NULL;
	char **matches = calloc(count + 1, sizeof(*matches));
	if (matches == NULL)
		return NULL;
	for (size_t i = 0; i < count; i++) {
		lua_rawgeti(L, -1, i + 1);
		const char *s = lua_tostring(L, -1);
		matches[i] = strdup(s != NULL ? s : "");
		lua_pop(L, 1);
	}
	return matches;
}

/** readline's hook: asks the Lua handler with (text, start, end). */
static char **complete(const char *text, int start, int end)
{
	rl_attempted_completion_over = 1;
	if (console.completion_ref == LUA_NOREF)
		return NULL;
	lua_State *L = lua_fiber_state();
	int top = lua_gettop(L);
	char **matches = NULL;
	lua_rawgeti(L, LUA_REGISTRYINDEX, console.completion_ref);
	lua_pushstring(L, text);
	if (lua_call_protected(L, 1, 1) == 0 && lua_istable(L, -1))
		matches = copy_matches(L);
	lua_settop(L, top);
	rl_completion_append_character = '\0';
	return matches;
}

/* Reading ---------------------------------------------------------------- */

/**
 * The terminal as a shell would leave it. A program that was killed while it read keys may
 * have left it without echo; readline would take that for the user's wish.
 */
static void repair_terminal(void)
{
	struct termios tio;
	if (tcgetattr(STDIN_FILENO, &tio) != 0)
		return;
	tio.c_iflag |= ICRNL;
	tio.c_oflag |= OPOST | ONLCR;
	tio.c_lflag |= ISIG | ICANON | IEXTEN | ECHO | ECHOE | ECHOK;
	tcsetattr(STDIN_FILENO, TCSADRAIN, &tio);
}

/** repair_terminal(): to be called before the first line is read */
static int console_repair_terminal(lua_State *L)
{
	repair_terminal();
	return 0;
}

/**
 * readline(prompt): the line without its end; nil at the end of input; after Ctrl-C
 * false, and whether nothing had been typed. Yields.
 */
static int console_readline(lua_State *L)
{
	lua_check_finalizer(L);
	const char *prompt = luaL_checkstring(L, 1);
	if (console.is_active)
		return luaL_error(L, "another fiber reads from the terminal");
	console.is_active = true;
	console.is_done = console.is_interrupted = false;
	console.line = NULL;
	console.reader = fiber();
	ev_signal_init(&console.sigint, on_interrupt, SIGINT);
	ev_signal_start(loop_ev, &console.sigint);
	rl_catch_signals = 0; /* the loop has them */
	rl_callback_handler_install(prompt, on_line);
	while (!console.is_done && !console.is_interrupted && !fiber_is_cancelled()) {
		if (loop_wait_fd(STDIN_FILENO, EV_READ, TIMEOUT_INFINITY) & EV_READ)
			rl_callback_read_char();
	}
	if (!console.is_done) {
		rl_callback_handler_remove();
		fputc('\n', stdout);
	}
	ev_signal_stop(loop_ev, &console.sigint);
	console.is_active = false;
	if (fiber_testcancel() != 0) {
		free(console.line);
		return lua_throw(L);
	}
	if (!console.is_done) {
		lua_pushboolean(L, false);
		lua_pushboolean(L, console.was_empty);
		return 2;
	}
	lua_pushstring(L, console.line); /* NULL pushes nil */
	free(console.line);
	return 1;
}

/** add_history(line) */
static int console_add_history(lua_State *L)
{
	add_history(luaL_checkstring(L, 1));
	return 0;
}

/** load_history(file) and save_history(file): a missing or unwritable file is not an error. */
static int console_load_history(lua_State *L)
{
	read_history(luaL_checkstring(L, 1));
	return 0;
}

static int console_save_history(lua_State *L)
{
	write_history(luaL_checkstring(L, 1));
	return 0;
}

/** set_completion(func): func(text) returns a list, its first item the common prefix. */
static int console_set_completion(lua_State *L)
{
	luaL_checktype(L, 1, LUA_TFUNCTION);
	luaL_unref(L, LUA_REGISTRYINDEX, console.completion_ref);
	lua_pushvalue(L, 1);
	console.completion_ref = luaL_ref(L, LUA_REGISTRYINDEX);
	rl_attempted_completion_function = complete;
	rl_basic_word_break_characters = "\t\r\n !\"#$%&'()*+,-/;<=>?@[\\]^`{|}~";
	return 0;
}

static int console_is_terminal(lua_State *L)
{
	lua_pushboolean(L, isatty(STDIN_FILENO));
	return 1;
}

void lua_console_init(lua_State *L)
{
	static const luaL_Reg functions[] = {
		{"readline", console_readline},
		{"add_history", console_add_history},
		{"load_history", console_load_history},
		{"save_history", console_save_history},
		{"set_completion", console_set_completion},
		{"is_terminal", console_is_terminal},
		{"repair_terminal", console_repair_terminal},
		{"session_begin", lua_console_session_begin},
		{"session_end", lua_console_session_end},
		{NULL, NULL},
	};
	lua_new_module(L, "tarn.console", functions);
	lua_pushliteral(L, TARN_VERSION);
	lua_setfield(L, -2, "version");
	lua_pushliteral(L, TARN_COMPAT_RELEASE);
	lua_setfield(L, -2, "compat_version");
	lua_pushstring(L, tarn_commit);
	lua_setfield(L, -2, "commit");
	lua_pop(L, 1);
	lua_load_embedded(L, "console_output.lua", "internal.console_output");
	lua_load_embedded(L, "console_session.lua", "internal.console_session");
	lua_load_embedded(L, "console_remote.lua", "internal.console_remote");
	lua_load_embedded(L, "console.lua", "console");
}
