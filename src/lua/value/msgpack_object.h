/* SPDX-License-Identifier: BSD-2-Clause
 *
 * msgpack.object for the module's table (msgpack.c) and for the encoder.
 */
#pragma once

#include "lua/bridge.h"

/** The MessagePack of the object at `idx`, valid while it lives; NULL where the value is none. */
const char *lua_msgpack_object(lua_State *L, int idx, size_t *size);

/* Functions of an instance of the module (see codec_cfg.h). */
int lua_msgpack_object_new(lua_State *L);	/* (value) */
int lua_msgpack_object_from_raw(lua_State *L);	/* (string), (char *, size) */
int lua_msgpack_is_object(lua_State *L);	/* (value) */

/** Makes the classes. */
void lua_msgpack_object_init(lua_State *L);
