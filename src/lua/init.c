/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The order in which bindings start, and the globals that every script finds.
 */
#include "lua/init.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "core/sys.h"
#include "lua/box/call.h"
#include "lua/bridge_impl.h"
#include "lua/guard.h"
#include "lua/modules.h"
#include "lua/version.h"

static double start_time;

static int lua_uptime(lua_State *L)
{
	lua_pushnumber(L, clock_monotonic() - start_time);
	return 1;
}

static int lua_pid(lua_State *L)
{
	lua_pushinteger(L, getpid());
	return 1;
}

/** The module `tarantool`: version, build, uptime, pid; and the global _TARANTOOL. */
static void lua_tarantool_init(lua_State *L)
{
	static const luaL_Reg functions[] = {
		{"uptime", lua_uptime},
		{"pid", lua_pid},
		{NULL, NULL},
	};
	static const char *const build[][2] = {
		{"target", TARN_TARGET},
		{"options", TARN_BUILD_OPTIONS},
		{"compiler", TARN_COMPILER},
		{"flags", TARN_C_FLAGS},
		{"mod_format", "so"},
	};
	start_time = clock_monotonic();
	lua_new_module(L, "tarantool", functions);
	lua_pushliteral(L, TARN_COMPAT_VERSION);
	lua_pushvalue(L, -1);
	lua_setglobal(L, "_TARANTOOL");
	lua_setfield(L, -2, "version");
	lua_pushliteral(L, "tarn");
	lua_setfield(L, -2, "package");
	lua_newtable(L);
	for (size_t i = 0; i < sizeof(build) / sizeof(build[0]); i++) {
		lua_pushstring(L, build[i][1]);
		lua_setfield(L, -2, build[i][0]);
	}
	lua_setfield(L, -2, "build");
	lua_pop(L, 1);
}

/** The table `box` with box.NULL and box.internal, which later bindings fill. */
static void lua_box_init(lua_State *L)
{
	lua_new_module(L, "box", NULL);
	lua_newtable(L);
	lua_setfield(L, -2, "internal");
	lua_push_null(L);
	lua_setfield(L, -2, "NULL");
	lua_setglobal(L, "box");
}

static int lua_getcwd(lua_State *L)
{
	char path[4096];
	lua_pushstring(L, getcwd(path, sizeof(path)) != NULL ? path : ".");
	return 1;
}

/** The digits of a base from 2 to 36 as a number; false where there are others. */
static bool read_digits(const char **p, int base, uint64_t *value)
{
	const char *s = *p;
	*value = 0;
	for (;; s++) {
		int c = tolower((unsigned char)*s);
		int digit = isdigit(c) ? c - '0' : isalpha(c) ? c - 'a' + 10 : base;
		if (digit >= base)
			break;
		if (__builtin_mul_overflow(*value, (uint64_t)base, value) ||
		    __builtin_add_overflow(*value, (uint64_t)digit, value))
			return false;
	}
	bool has_digits = s > *p;
	*p = s;
	return has_digits;
}

static const char *skip_prefix(const char *s, char letter)
{
	return s[0] == '0' && tolower((unsigned char)s[1]) == letter ? s + 2 : s;
}

static const char *skip_spaces(const char *s)
{
	while (isspace((unsigned char)*s))
		s++;
	return s;
}

/** Reads `[+-][0x|0b]digits[LL|ULL]`; 0 where the text is no number in range. */
static int push_number64(lua_State *L, const char *s, const char *end, int base)
{
	s = skip_spaces(s);
	bool is_negative = *s == '-';
	if (*s == '-' || *s == '+')
		s++;
	const char *behind = skip_prefix(s, 'x');
	if (behind != s && (base == 0 || base == 16)) {
		s = behind;
		base = 16;
	} else if ((behind = skip_prefix(s, 'b')) != s && (base == 0 || base == 2)) {
		s = behind;
		base = 2;
	}
	uint64_t value;
	if (!read_digits(&s, base != 0 ? base : 10, &value))
		return 0;
	if (strncasecmp(s, "ull", 3) == 0)
		s += 3;
	else if (strncasecmp(s, "ll", 2) == 0)
		s += 2;
	if (skip_spaces(s) != end || (is_negative && value > (uint64_t)INT64_MAX + 1))
		return 0;
	if (is_negative)
		lua_push_int64(L, (int64_t)-value);
	else
		lua_push_uint64(L, value);
	return 1;
}

/** tonumber64(value[, base]): integers of 64 bits are cdata where a number is not enough. */
static int lua_tonumber64(lua_State *L)
{
	luaL_checkany(L, 1);
	int base = luaL_optinteger(L, 2, -1); /* -1: none is given */
	luaL_argcheck(L, base == -1 || (base >= 2 && base <= 36), 2, "base out of range");
	void *payload;
	enum lua_cdata_kind kind;
	size_t len;
	const char *s;
	switch (lua_type(L, 1)) {
	case LUA_TSTRING:
		s = lua_tolstring(L, 1, &len);
		if (push_number64(L, s, s + len, base == -1 ? 0 : base) == 0)
			lua_pushnil(L);
		return 1;
	case LUA_TCDATA:
		kind = lua_cdata(L, 1, &payload);
		if (kind < CDATA_INT64 || kind > CDATA_DOUBLE) {
			lua_pushnil(L);
			return 1;
		}
		/* FALLTHROUGH */
	case LUA_TNUMBER:
		luaL_argcheck(L, base == -1, 1, "string expected");
		lua_settop(L, 1);
		return 1;
	default:
		lua_pushnil(L);
		return 1;
	}
}

/** What init.lua and loaders.lua need of C. */
static void lua_globals_init(lua_State *L)
{
	static const luaL_Reg functions[] = {
		{"getcwd", lua_getcwd},
		{NULL, NULL},
	};
	lua_new_module(L, "tarn.init", functions);
	lua_pop(L, 1);
	lua_pushcfunction(L, lua_tonumber64);
	lua_setglobal(L, "tonumber64");
	lua_load_embedded(L, "init.lua", "internal.init");
	lua_load_embedded(L, "loaders.lua", "internal.loaders");
	lua_string_init(L);
	lua_load_embedded(L, "debug.lua", "internal.debug");
}

/** package.preload's loader of a module that is Lua alone: its file is upvalue 1. */
static int load_preloaded(lua_State *L)
{
	const char *name = luaL_checkstring(L, 1);
	lua_load_embedded(L, lua_tostring(L, lua_upvalueindex(1)), name);
	luaL_findtable(L, LUA_REGISTRYINDEX, "_LOADED", 16);
	lua_getfield(L, -1, name);
	return 1;
}

static void lua_preload(lua_State *L, const char *name, const char *file)
{
	lua_getglobal(L, "package");
	lua_getfield(L, -1, "preload");
	lua_pushstring(L, file);
	lua_pushcclosure(L, load_preloaded, 1);
	lua_setfield(L, -2, name);
	lua_pop(L, 2);
}

typedef void (*init_func)(lua_State *L);

void lua_init_modules(lua_State *L)
{
	lua_ffi_check_init(L);
	lua_guard_init(L);
	lua_finalizer_init(L);
	lua_pace_init(L);
	lua_module_init(L);
	lua_cdata_init(L);
	lua_codec_init(L);
	lua_tarantool_init(L);
	lua_box_init(L);
	lua_globals_init(L);
	lua_preload(L, "strict", "strict.lua");
	lua_preload(L, "tap", "tap.lua");
	lua_preload(L, "fun", "fun.lua");
	lua_preload(L, "csv", "csv.lua");
	lua_preload(L, "uri", "uri.lua");
	lua_preload(L, "xlog", "xlog.lua");
	lua_preload(L, "protobuf", "protobuf.lua");
	lua_preload(L, "tarn", "tarn.lua");
	lua_preload(L, "internal.trigger", "trigger_list.lua");
	lua_preload(L, "key_def", "key_def.lua");
	lua_preload(L, "merger", "merger.lua");
	lua_preload(L, "tarn.log_tool", "log_tool.lua");
	lua_preload(L, "internal.argparse", "argparse.lua");
	lua_preload(L, "argparse", "argparse.lua");
	static const init_func order[] = {
		lua_error_init,
		lua_tuple_init,
		lua_module_helpers_init,
		lua_call_init,
		lua_fiber_init,
		lua_fiber_info_init,
		lua_fiber_slice_init,
		lua_fiber_cond_init,
		lua_fiber_channel_init,
		lua_errno_init,
		lua_clock_init,
		lua_log_init,
		lua_fio_init,
		lua_buffer_init,
		lua_uuid_init,
		lua_decimal_init,
		lua_datetime_init,
		lua_varbinary_init,
		lua_compat_init,
		lua_msgpack_init,
		lua_json_init,
		lua_yaml_init,
		lua_txn_init,
		lua_index_init,
		lua_space_init,
		lua_session_init,
		lua_proc_stat_init, lua_memory_stat_init,
		lua_info_init,
		lua_watch_init,
		lua_xlog_init,
		lua_title_init,
		lua_key_def_init,
		lua_merger_init,
		lua_cfg_init,
		lua_netbox_init,
		lua_socket_init,
		lua_console_init,
		lua_crypto_init,
		lua_xxhash_init,
		lua_digest_init,
		lua_iproto_init,
		lua_pickle_init,
		lua_csv_init,
		lua_iconv_init,
		lua_pwd_init,
		lua_http_init,
		lua_popen_init,
		lua_utf8_init,
	};
	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
		order[i](L);
		lua_settop(L, 0);
	}
	lua_load_embedded(L, "help.lua", "help");
	lua_load_embedded(L, "checks.lua", "checks");
	lua_load_embedded(L, "posix.lua", "internal.posix");
	lua_call_learn_builtins(L);
}

void lua_init_script(lua_State *L, const char *script)
{
	luaL_findtable(L, LUA_REGISTRYINDEX, "_LOADED", 16);
	lua_getfield(L, -1, "internal.loaders");
	lua_getfield(L, -1, "start");
	lua_pushstring(L, script);
	lua_call(L, 1, 0);
	lua_pop(L, 2);
}

void lua_init_args(lua_State *L, int argc, char **argv)
{
	lua_createtable(L, argc, 1);
	for (int i = 0; i < argc; i++) {
		lua_pushstring(L, argv[i]);
		lua_rawseti(L, -2, i);
	}
	lua_setglobal(L, "arg");
}
