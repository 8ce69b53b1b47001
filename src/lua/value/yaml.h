/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Between the files of the module `yaml`.
 */
#pragma once

#include "lua/bridge.h"
#include "lua/value/codec_cfg.h"

/** [raises] Pushes the YAML document of the value at `idx` (absolute). The tag pair may be NULL. */
void lua_yaml_encode(lua_State *L, int idx, const struct lua_codec *codec, const char *tag_handle,
		     const char *tag_prefix);

/** [raises] Pushes the values of all documents of a text; returns their number. */
int lua_yaml_decode(lua_State *L, const char *text, size_t len, const struct lua_codec *codec);

/**
 * [raises] Pushes handle and prefix of the first document's tag directive, or nil; returns the
 * number of values.
 */
int lua_yaml_decode_tag(lua_State *L, const char *text, size_t len);
