/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Coroutines of fibers, protected calls, errors, scratch buffers, the allocator's
 * counters.
 */
#include "harness.h"

#include "db/error.h"
#include "lua/bridge_impl.h"

/* Coroutines ------------------------------------------------------------------- */

static lua_State *seen;

static int remember_state(va_list ap)
{
	lua_State *L = lua_fiber_state();
	assert_int_equal(lua_gettop(L), 0);
	lua_pushliteral(L, "left behind");
	seen = L;
	return 0;
}

LUA_TEST(test_state_stays_with_pooled_fiber)
{
	run_in_fiber(remember_state);
	lua_State *first = seen;
	uint64_t allocated = lua_heap_allocated();
	for (int i = 0; i < 10; i++)
		run_in_fiber(remember_state);
	assert_ptr_equal(seen, first);
	assert_true(lua_heap_allocated() == allocated);
	assert_ptr_not_equal(seen, L);
}

static lua_State *inner_state;

static int take_inner_state(lua_State *L)
{
	inner_state = lua_state_get();
	lua_pushliteral(inner_state, "x");
	lua_state_put(inner_state);
	return 0;
}

LUA_TEST(test_state_get)
{
	/* Nothing runs: the fiber's own. */
	lua_State *own = lua_state_get();
	assert_ptr_equal(own, L);
	lua_state_put(own);
	/* Inside Lua: a spare one, the same each time, empty. */
	lua_pushcfunction(L, take_inner_state);
	lua_call(L, 0, 0);
	assert_ptr_not_equal(inner_state, L);
	lua_State *first = inner_state;
	lua_pushcfunction(L, take_inner_state);
	lua_call(L, 0, 0);
	assert_ptr_equal(inner_state, first);
	assert_int_equal(lua_gettop(inner_state), 0);
}

/* Errors ------------------------------------------------------------------------ */

/** Calls a chunk that fails; the error is in the diagnostics area, the stack as before. */
static struct error *failing(lua_State *L, const char *chunk)
{
	int top = lua_gettop(L);
	assert_int_equal(luaL_loadbuffer(L, chunk, strlen(chunk), "=chunk"), 0);
	assert_int_equal(lua_call_protected(L, 0, LUA_MULTRET), -1);
	assert_int_equal(lua_gettop(L), top);
	return diag_last();
}

LUA_TEST(test_errors_to_diag)
{
	struct error *e = failing(L, "error('text')");
	assert_string_equal(e->message, "chunk:1: text");
	assert_true(error_is(e, &type_LuajitError));
	e = failing(L, "box.error(box.error.UNSUPPORTED, 'a', 'b')");
	assert_string_equal(e->message, "a does not support b");
	assert_int_equal(e->code, ER_UNSUPPORTED);
	assert_string_equal(failing(L, "error(nil)")->message, "nil");
	assert_string_equal(failing(L, "error(true)")->message, "true");
	e = failing(L, "error(setmetatable({}, {__tostring = function() return 'own' end}))");
	assert_string_equal(e->message, "own");
	e = failing(L, "error(setmetatable({}, {__tostring = function() error('again') end}))");
	assert_true(error_is(e, &type_LuajitError));
}

static int throw_it(lua_State *L)
{
	client_error(ER_NO_SUCH_SPACE, "gone");
	return lua_throw(L);
}

LUA_TEST(test_throw)
{
	lua_pushcfunction(L, throw_it);
	assert_int_equal(lua_pcall(L, 0, 0, 0), LUA_ERRRUN);
	struct error *e = lua_to_error(L, -1);
	assert_non_null(e);
	assert_int_equal(e->code, ER_NO_SUCH_SPACE);
	/* The object lives as long as somebody has it. */
	uint32_t refs = e->refs;
	error_ref(e);
	lua_settop(L, 0);
	diag_clear(diag_get());
	lua_gc(L, LUA_GCCOLLECT, 0);
	lua_gc(L, LUA_GCCOLLECT, 0);
	assert_true(e->refs < refs + 1);
	assert_int_equal(e->refs, 1);
	error_unref(e);
}

/* Scratch buffers ------------------------------------------------------------------ */

static struct buf *last_scratch;

static int leak_scratch(lua_State *L)
{
	last_scratch = lua_scratch_get();
	buf_append(last_scratch, "abc", 3);
	return luaL_error(L, "unwind");
}

LUA_TEST(test_scratch_nests)
{
	struct buf *a = lua_scratch_get();
	buf_append(a, "outer", 5);
	struct buf *b = lua_scratch_get();
	assert_ptr_not_equal(a, b);
	assert_int_equal(b->size, 0);
	buf_append(b, "inner", 5);
	assert_memory_equal(a->data, "outer", 5);
	lua_scratch_put(b);
	lua_scratch_put(a);
	assert_int_equal(lua_fiber_get()->scratch_count, 0);
}

LUA_TEST(test_scratch_comes_back_after_errors)
{
	struct buf *mine = lua_scratch_get();
	buf_append(mine, "mine", 4);
	for (int i = 0; i < 10000; i++) {
		lua_pushcfunction(L, leak_scratch);
		assert_int_not_equal(lua_pcall(L, 0, 0, 0), 0);
		assert_ptr_not_equal(last_scratch, mine);
		lua_settop(L, 0);
	}
	assert_true(lua_fiber_get()->scratch_count < 32);
	assert_memory_equal(mine->data, "mine", 4);
	lua_scratch_put(mine);
}

/* The heap ---------------------------------------------------------------------------- */

LUA_TEST(test_heap_is_counted)
{
	lua_gc(L, LUA_GCCOLLECT, 0);
	lua_gc(L, LUA_GCSTOP, 0);
	size_t used = lua_heap_used();
	uint64_t allocated = lua_heap_allocated();
	size_t count = (size_t)lua_gc(L, LUA_GCCOUNT, 0) * 1024 + lua_gc(L, LUA_GCCOUNTB, 0);
	char *block = lua_newuserdata(L, 100000);
	memset(block, 1, 100000);
	size_t now = (size_t)lua_gc(L, LUA_GCCOUNT, 0) * 1024 + lua_gc(L, LUA_GCCOUNTB, 0);
	assert_int_equal(lua_heap_used() - used, now - count);
	assert_int_equal(lua_heap_allocated() - allocated, now - count);
	assert_in_range(now - count, 100000, 100200);
	lua_gc(L, LUA_GCRESTART, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_state_stays_with_pooled_fiber),
		cmocka_unit_test(test_state_get),
		cmocka_unit_test(test_errors_to_diag),
		cmocka_unit_test(test_throw),
		cmocka_unit_test(test_scratch_nests),
		cmocka_unit_test(test_scratch_comes_back_after_errors),
		cmocka_unit_test(test_heap_is_counted),
	};
	return cmocka_run_group_tests_name("lua/bridge", tests, lua_setup, lua_teardown);
}
