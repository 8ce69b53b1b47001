/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Transactions from scripts: box.begin, box.commit, box.rollback, savepoints, and
 * the triggers box.on_commit and box.on_rollback.
 *
 * What neither yields nor runs Lua is exported for FFI (tarn_txn_*, see txn.lua);
 * commit and the two kinds of rollback go through the Lua C API where they write, or
 * have triggers to run.
 */
#include "db/txn/txn.h"

#include <stdio.h>
#include <string.h>

#include "core/fiber.h"
#include "db/error.h"
#include "lua/box/box.h"
#include "lua/bridge.h"
#include "lua/modules.h"

/* FFI: neither yields nor runs Lua. Commits where that takes no more; false: commit() has to. */
bool tarn_txn_commit_trivial(void)
{
	struct txn *txn = txn_current();
	return txn == NULL || (txn_is_trivial(txn) && txn_commit(txn) == 0);
}

/* FFI: neither yields nor runs Lua. */
int64_t tarn_txn_savepoint(void)
{
	struct txn *txn = txn_current();
	if (txn == NULL) {
		client_error(ER_NO_TRANSACTION);
		return -1;
	}
	struct txn_savepoint *svp = txn_savepoint_new(txn);
	return svp != NULL ? svp->id : -1;
}

/* FFI: neither yields nor runs Lua. box_txn_id() in a form that needs no memory. */
double tarn_txn_number(void)
{
	return (double)box_txn_id();
}

/** The savepoint of a script, or NULL with an error. */
static struct txn_savepoint *find_savepoint(struct txn *txn, double txn_id, int64_t id)
{
	if (txn != NULL && txn->id == (int64_t)txn_id)
		return txn_savepoint_by_id(txn, id);
	client_error(ER_NO_SUCH_SAVEPOINT);
	return NULL;
}

/**
 * FFI: neither yields nor runs Lua. Rolls back to a savepoint where that takes no more; false:
 * rollback_to_savepoint() has to.
 */
bool tarn_txn_rollback_trivial(double txn_id, int64_t id)
{
	struct txn *txn = txn_current();
	struct txn_savepoint *svp = find_savepoint(txn, txn_id, id);
	return svp != NULL && txn_savepoint_is_trivial(txn, svp) &&
		txn_rollback_to_savepoint(txn, svp) == 0;
}

static int commit(lua_State *L)
{
	return box_txn_commit() == 0 ? 0 : lua_throw(L);
}

/** (enum txn_wait) */
static int commit_async(lua_State *L)
{
	struct txn *txn = txn_current();
	if (txn != NULL && txn_commit_async(txn, lua_tointeger(L, 1)) != 0)
		return lua_throw(L);
	return 0;
}

/** (seconds) Of the transaction that was just begun. */
static int set_timeout(lua_State *L)
{
	struct txn *txn = txn_current();
	txn->deadline = 0;
	txn_set_timeout(txn, lua_tonumber(L, 1));
	return 0;
}

/** (seconds; 0: none) Of those that say nothing else. */
static int set_default_timeout(lua_State *L)
{
	txn_timeout_default = lua_tonumber(L, 1);
	return 0;
}

static int rollback(lua_State *L)
{
	return box_txn_rollback() == 0 ? 0 : lua_throw(L);
}

/** (transaction's id, savepoint's id) */
static int rollback_to_savepoint(lua_State *L)
{
	struct txn *txn = txn_current();
	struct txn_savepoint *svp = find_savepoint(txn, lua_tonumber(L, 1),
						   (int64_t)lua_tonumber(L, 2));
	if (svp == NULL || txn_rollback_to_savepoint(txn, svp) != 0)
		return lua_throw(L);
	return 0;
}

static int throw_last(lua_State *L)
{
	return lua_throw(L);
}

/* on_commit, on_rollback -------------------------------------------------- */

/** Walks the statements of a transaction that ends; dead once its trigger is over. */
struct stmt_walk {
	/** NULL once it is dead. */
	struct list *stmts;
	struct txn_stmt *last;
	/** Where it ends: what triggers change meanwhile is not shown. */
	struct list *end;
	bool is_reverse;
};

static const char walk_mt[] = "tarn.txn.walk";

/** The event of a trigger: its walk is ended behind the call. */
struct end_event {
	struct list *stmts;
	bool is_reverse;
	/** Keeps the walk reachable until then. */
	int walk_ref;
	struct stmt_walk *walk;
};

static int push_args_ref = LUA_NOREF;

/** The next statement; those of temporary spaces are passed over, as in the reference. */
static struct txn_stmt *walk_step(struct stmt_walk *w)
{
	struct list *head = w->stmts;
	struct list *at = w->last != NULL ? &w->last->link : head;
	do {
		if (at == w->end)
			return NULL;
		at = w->is_reverse ? at->prev : at->next;
		if (at == head)
			return NULL;
	} while (!list_entry(at, struct txn_stmt, link)->is_logged);
	return list_entry(at, struct txn_stmt, link);
}

/** (walk, number) -> number, old tuple, new tuple, space id */
static int walk_next(lua_State *L)
{
	struct stmt_walk *w = luaL_checkudata(L, 1, walk_mt);
	lua_Integer number = luaL_checkinteger(L, 2);
	if (w->stmts == NULL)
		return luaL_error(L, "the transaction is over");
	if (number == 0)
		w->last = NULL;
	struct txn_stmt *stmt = walk_step(w);
	if (stmt == NULL)
		return 0;
	w->last = stmt;
	lua_pushinteger(L, number + 1);
	if (stmt->old_tuple != NULL)
		lua_push_tuple(L, stmt->old_tuple);
	else
		lua_pushnil(L);
	if (stmt->new_tuple != NULL)
		lua_push_tuple(L, stmt->new_tuple);
	else
		lua_pushnil(L);
	lua_pushinteger(L, stmt->space_id);
	return 4;
}

/** What the trigger gets: called without arguments it gives the three parts of a `for`. */
static int walk_begin(lua_State *L)
{
	lua_pushvalue(L, lua_upvalueindex(1));
	lua_pushvalue(L, lua_upvalueindex(2));
	lua_pushinteger(L, 0);
	return 3;
}

static int push_args(lua_State *L)
{
	struct end_event *event = lua_touserdata(L, 1);
	lua_pushcfunction(L, walk_next);
	struct stmt_walk *w = lua_newuserdata(L, sizeof(*w));
	w->stmts = event->stmts;
	w->last = NULL;
	w->is_reverse = event->is_reverse;
	w->end = w->is_reverse ? w->stmts->next : w->stmts->prev;
	luaL_getmetatable(L, walk_mt);
	lua_setmetatable(L, -2);
	lua_pushvalue(L, -1);
	event->walk_ref = luaL_ref(L, LUA_REGISTRYINDEX);
	event->walk = w;
	lua_pushcclosure(L, walk_begin, 2);
	return 1;
}

static int run_end_trigger(struct trigger *trigger, const struct txn_event *e, bool is_reverse)
{
	struct end_event event = {e->stmts, is_reverse, LUA_NOREF, NULL};
	int rc = lua_trigger_call(trigger, push_args_ref, LUA_NOREF, &event);
	if (event.walk != NULL)
		event.walk->stmts = NULL;
	luaL_unref(lua_main, LUA_REGISTRYINDEX, event.walk_ref);
	return rc;
}

static int run_on_commit(struct trigger *trigger, void *event)
{
	return run_end_trigger(trigger, event, false);
}

static int run_on_rollback(struct trigger *trigger, void *event)
{
	return run_end_trigger(trigger, event, true);
}

static int on_end(lua_State *L, const char *name, bool is_commit)
{
	struct txn *txn = txn_current();
	if (txn == NULL)
		return luaL_error(L, "Usage inside a transaction: box.%s([function | nil, "
				  "[function | nil]])", name);
	return lua_trigger_reset(L, 1, is_commit ? &txn->on_commit : &txn->on_rollback,
				 is_commit ? run_on_commit : run_on_rollback);
}

static int on_commit(lua_State *L)
{
	return on_end(L, "on_commit", true);
}

static int on_rollback(lua_State *L)
{
	return on_end(L, "on_rollback", false);
}

/** (kind, function or nil, old function or nil) Of all transactions, by the registry. */
static int on_all(lua_State *L)
{
	static const char *const kinds[] = {"before_commit", "on_commit", "on_rollback", NULL};
	static struct list *const lists[] = {
		&txn_all_before_commit, &txn_all_on_commit, &txn_all_on_rollback,
	};
	int kind = luaL_checkoption(L, 1, NULL, kinds);
	return lua_trigger_reset(L, 2, lists[kind],
				 lists[kind] == &txn_all_on_rollback ? run_on_rollback :
				 run_on_commit);
}

/** What of a script is about to yield: the C function that it called, and from where. */
static void describe_yield(struct fiber *f, char *text, size_t size)
{
	lua_State *L = lua_state_peek(f);
	lua_Debug at;
	if (L == NULL || !lua_getstack(L, 0, &at))
		return;
	lua_getinfo(L, "n", &at);
	const char *name = at.name != NULL ? at.name : "a function in C";
	for (int level = 1; lua_getstack(L, level, &at); level++) {
		lua_getinfo(L, "Sl", &at);
		if (at.currentline > 0 && strncmp(at.source, "=builtin/", 9) != 0 &&
		    strncmp(at.source, "@builtin/", 9) != 0) {
			snprintf(text, size, "%s, called at %s:%d", name, at.short_src,
				 at.currentline);
			return;
		}
	}
	snprintf(text, size, "%s", name);
}

void lua_txn_init(lua_State *L)
{
	static const luaL_Reg funcs[] = {
		{"commit", commit},
		{"commit_async", commit_async},
		{"set_timeout", set_timeout},
		{"set_default_timeout", set_default_timeout},
		{"rollback", rollback},
		{"rollback_to_savepoint", rollback_to_savepoint},
		{"throw", throw_last},
		{"on_commit", on_commit},
		{"on_rollback", on_rollback},
		{"on_all", on_all},
		{NULL, NULL},
	};
	txn_describe_yield = describe_yield;
	lua_box_init_api(L);
	lua_new_module(L, "tarn.txn", funcs);
	lua_pop(L, 1);
	luaL_newmetatable(L, walk_mt);
	lua_pop(L, 1);
	push_args_ref = lua_box_ref(L, push_args);
	lua_load_embedded(L, "txn.lua", "tarn.box.txn");
}
