/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Sequences from scripts: the four calls that work on one, by its number.
 */
#include <msgpuck.h>

#include "core/diag.h"
#include "db/db.h"
#include "db/schema/space.h"
#include "db/tuple/tuple.h"
#include "db/txn/txn.h"
#include "lua/box/box.h"
#include "lua/bridge.h"

static const char usage[] = "usage: (sequence id, ...)";

static int next(lua_State *L)
{
	int64_t value = 0;
	if (db_sequence_next(lua_box_uint(L, 1, usage), &value) != 0)
		return lua_throw(L);
	lua_push_int64(L, value);
	return 1;
}

static int current(lua_State *L)
{
	int64_t value = 0;
	if (db_sequence_current(lua_box_uint(L, 1, usage), &value) != 0)
		return lua_throw(L);
	lua_push_int64(L, value);
	return 1;
}

/** The 64-bit integer at `idx`: a whole number, as a text, too, or a cdata of 64 bits. */
static int64_t check_int64(lua_State *L, int idx)
{
	void *payload;
	if (lua_isnumber(L, idx)) {
		double n = lua_tonumber(L, idx);
		if (n >= -9223372036854775808.0 && n < 9223372036854775808.0)
			return (int64_t)n;
	}
	enum lua_cdata_kind kind = lua_cdata(L, idx, &payload);
	if (kind == CDATA_INT64 || kind == CDATA_UINT64)
		return *(int64_t *)payload;
	return luaL_error(L, "expected int64_t as %d argument", idx);
}

static int set(lua_State *L)
{
	uint32_t id = lua_box_uint(L, 1, usage);
	return db_sequence_set(id, check_int64(L, 2)) == 0 ? 0 : lua_throw(L);
}

static int reset(lua_State *L)
{
	return db_sequence_reset(lua_box_uint(L, 1, usage)) == 0 ? 0 : lua_throw(L);
}

/* box.sequence follows _sequence ------------------------------------------- */

/** The function of sequence.lua: (id, row or nil). */
static int follow_ref = LUA_NOREF;

/** A change of a row: what to go back to when it is undone. On the transaction's region. */
struct undo {
	struct trigger base;
	struct tuple *old_tuple, *new_tuple;
};

struct change {
	struct tuple *was, *is;
};

/** (change as light userdata): calls the function; protected by its caller. */
static int follow_change(lua_State *L)
{
	const struct change *change = lua_touserdata(L, 1);
	const char *id = tuple_field(change->is != NULL ? change->is : change->was, 0);
	lua_rawgeti(L, LUA_REGISTRYINDEX, follow_ref);
	lua_pushnumber(L, (double)mp_decode_uint(&id));
	if (change->is != NULL)
		lua_push_tuple(L, change->is);
	else
		lua_pushnil(L);
	lua_call(L, 2, 0);
	return 0;
}

static int follow_change_ref = LUA_NOREF;

static int call_follow(struct tuple *was, struct tuple *is)
{
	struct change change = {was, is};
	if (was == NULL && is == NULL)
		return 0;
	lua_State *L = lua_state_get();
	lua_rawgeti(L, LUA_REGISTRYINDEX, follow_change_ref);
	lua_pushlightuserdata(L, &change);
	int rc = lua_call_protected(L, 1, 0);
	lua_state_put(L);
	return rc;
}

static int on_undo(struct trigger *base, void *event)
{
	struct undo *undo = (struct undo *)base;
	struct diag saved = {NULL};
	diag_move(diag_get(), &saved);
	if (call_follow(undo->new_tuple, undo->old_tuple) != 0)
		diag_log();
	diag_move(&saved, diag_get());
	return 0;
}

static int on_change(struct trigger *trigger, void *event)
{
	struct txn *txn = event;
	struct txn_stmt *stmt = txn_stmt_current(txn);
	if (stmt == NULL)
		return 0;
	struct undo *undo = region_alloc(&txn->region, sizeof(*undo));
	if (undo == NULL)
		return -1;
	trigger_create(&undo->base, on_undo, NULL, NULL);
	undo->old_tuple = stmt->old_tuple;
	undo->new_tuple = stmt->new_tuple;
	list_add(&stmt->on_rollback, &undo->base.link);
	return call_follow(stmt->old_tuple, stmt->new_tuple);
}

/** (function): it follows every change from now on. Called when the data is there. */
static int follow(lua_State *L)
{
	static struct trigger trigger;
	struct space *space = space_by_id(SPACE_SEQUENCE);
	luaL_checktype(L, 1, LUA_TFUNCTION);
	if (space == NULL || follow_ref != LUA_NOREF)
		return 0;
	lua_settop(L, 1);
	follow_ref = luaL_ref(L, LUA_REGISTRYINDEX);
	trigger_create(&trigger, on_change, NULL, NULL);
	list_add_tail(&space->on_replace, &trigger.link);
	return 0;
}

void lua_sequence_init(lua_State *L)
{
	static const luaL_Reg funcs[] = {
		{"next", next}, {"current", current}, {"set", set}, {"reset", reset},
		{"follow", follow}, {NULL, NULL},
	};
	follow_change_ref = lua_box_ref(L, follow_change);
	lua_new_module(L, "tarn.sequence", funcs);
	lua_pop(L, 1);
	lua_load_embedded(L, "sequence.lua", "tarn.box.sequence");
}
