/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Start-up of every binding, one function a file, in the order of init.c.
 * Each is called once with the main coroutine and may raise on our own mistakes.
 */
#pragma once

#include <lua.h>

/* Runtime. */
void lua_fiber_init(lua_State *L);
void lua_module_init(lua_State *L);	/* the guard of the C interface */
void lua_module_helpers_init(lua_State *L);	/* its functions for Lua */
void lua_finalizer_init(lua_State *L);
void lua_pace_init(lua_State *L);
void lua_ffi_check_init(lua_State *L);	/* before all that calls by FFI */
void lua_fiber_info_init(lua_State *L);	/* fiber.info, fiber.top */
void lua_fiber_slice_init(lua_State *L);
void lua_fiber_cond_init(lua_State *L);
void lua_fiber_channel_init(lua_State *L);
void lua_error_init(lua_State *L);	/* box.error */
void lua_buffer_init(lua_State *L);
void lua_uuid_init(lua_State *L);
void lua_decimal_init(lua_State *L);
void lua_datetime_init(lua_State *L);
void lua_varbinary_init(lua_State *L);
void lua_compat_init(lua_State *L);
void lua_msgpack_init(lua_State *L);
void lua_json_init(lua_State *L);
void lua_yaml_init(lua_State *L);
void lua_clock_init(lua_State *L);
void lua_log_init(lua_State *L);
void lua_fio_init(lua_State *L);
void lua_errno_init(lua_State *L);
void lua_console_init(lua_State *L);
void lua_xlog_init(lua_State *L);
void lua_iproto_init(lua_State *L);
void lua_netbox_init(lua_State *L);
void lua_socket_init(lua_State *L);
void lua_crypto_init(lua_State *L);
void lua_xxhash_init(lua_State *L);
void lua_digest_init(lua_State *L);	/* after crypto, xxhash */
void lua_pickle_init(lua_State *L);
void lua_string_init(lua_State *L);
void lua_csv_init(lua_State *L);
void lua_iconv_init(lua_State *L);
void lua_pwd_init(lua_State *L);
void lua_http_init(lua_State *L);
void lua_popen_init(lua_State *L);
void lua_title_init(lua_State *L);
void lua_key_def_init(lua_State *L);
void lua_merger_init(lua_State *L);
void lua_utf8_init(lua_State *L);

/* box. */
void lua_tuple_init(lua_State *L);
void lua_call_init(lua_State *L);	/* CALL, EVAL, stored functions */
void lua_txn_init(lua_State *L);
void lua_index_init(lua_State *L);
void lua_space_init(lua_State *L);
void lua_session_init(lua_State *L);
void lua_proc_stat_init(lua_State *L);	/* before info */
void lua_memory_stat_init(lua_State *L);	/* before info */
void lua_info_init(lua_State *L);
void lua_watch_init(lua_State *L);	/* after info */
void lua_cfg_init(lua_State *L);

/**
 * Runs the triggers of box.ctl.on_shutdown, when the process is about to stop. May yield; failures
 * are logged.
 */
void lua_ctl_run_shutdown(void);
/** Seconds that they may take. */
double lua_ctl_shutdown_timeout(void);
