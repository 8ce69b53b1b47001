/* SPDX-License-Identifier: BSD-2-Clause
 *
 * CALL and EVAL: names, arguments, results, errors, and that a call of nothing
 * allocates nothing.
 */
#include "harness.h"

#include "data/mp.h"
#include "db/error.h"
#include "db/port.h"

/** Calls with a MessagePack array of arguments; the results in `out`. -1 as db_call(). */
static int call(bool is_eval, const char *what, const char *args, size_t size, struct buf *out)
{
	struct port in, result;
	port_msgpack_create(&in, args, args + size);
	int rc = is_eval ? db_eval(what, strlen(what), &in, &result) :
		db_call(what, strlen(what), &in, &result);
	if (rc != 0)
		return -1;
	buf_truncate(out, 0);
	rc = port_dump(&result, out, false);
	port_destroy(&result);
	return rc;
}

static void define(lua_State *L, const char *chunk)
{
	assert_int_equal(luaL_loadstring(L, chunk), 0);
	lua_call(L, 0, 0);
}

static void check_no_proc(const char *name)
{
	struct buf out = BUF_INIT;
	assert_int_equal(call(false, name, "\x90", 1, &out), -1);
	assert_int_equal(diag_last()->code, ER_NO_SUCH_PROC);
	buf_free(&out);
}

LUA_TEST(test_names)
{
	define(L, "t = {a = {}} function t.a.f(x) return x end "
		  "function t.a:m(x) return self == t.a, x end text = 'a string'");
	struct buf out = BUF_INIT;
	assert_int_equal(call(false, "t.a.f", "\x91\x05", 2, &out), 1);
	assert_memory_equal(out.data, "\x05", 1);
	assert_int_equal(call(false, "t.a:m", "\x91\x05", 2, &out), 2);
	assert_memory_equal(out.data, "\xc3\x05", 2);
	static const char *const wrong[] = {
		"", ".", "t..f", "t.a.", ".t", "t.nope", "t.nope.f", "nope", "t:a.f", "a:b:c", "text",
		"text.upper", "t.a:", "t.a.f.g",
	};
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		check_no_proc(wrong[i]);
	buf_free(&out);
}

LUA_TEST(test_values)
{
	define(L, "function echo(...) return ... end");
	static const char args[] = "\x98\x01\xff\xc0\xc3\xa1x\x92\x01\x02\x81\xa1k\x01\xcb\x3f\xf8\0\0\0\0\0\0";
	struct buf out = BUF_INIT;
	assert_int_equal(call(false, "echo", args, sizeof(args) - 1, &out), 8);
	assert_int_equal(out.size, sizeof(args) - 2);
	assert_memory_equal(out.data, args + 1, sizeof(args) - 2);
	buf_free(&out);
}

LUA_TEST(test_error_leaves_output)
{
	struct buf out = BUF_INIT;
	buf_append(&out, "kept", 4);
	struct port in, result;
	port_msgpack_create(&in, "\x90", (char *)"\x90" + 1);
	static const char expr[] = "return 1, {2}, print";
	assert_int_equal(db_eval(expr, strlen(expr), &in, &result), 0);
	assert_int_equal(port_dump(&result, &out, false), -1);
	assert_string_equal(diag_last()->message, "unsupported Lua type 'function'");
	assert_int_equal(out.size, 4);
	port_destroy(&result);
	buf_free(&out);
	assert_int_equal(lua_gettop(L), 0);
}

LUA_TEST(test_eval)
{
	struct buf out = BUF_INIT;
	assert_int_equal(call(true, "return ...", "\x92\x01\x02", 3, &out), 2);
	assert_int_equal(call(true, "", "\x90", 1, &out), 0);
	assert_int_equal(call(true, "return = 1", "\x90", 1, &out), -1);
	assert_string_equal(diag_last()->message, "eval:1: unexpected symbol near '='");
	assert_int_equal(call(true, "\x1bLJ", "\x90", 1, &out), -1);
	/* What a chunk does to its environment is not there the next time. */
	for (int i = 0; i < 2; i++)
		assert_int_equal(call(true, "local p = print setfenv(1, {}) return p ~= nil and print == nil",
				      "\x90", 1, &out), 1);
	assert_memory_equal(out.data, "\xc3", 1);
	/* More chunks than are remembered. */
	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < 1000; i++) {
			char text[32];
			snprintf(text, sizeof(text), "return %d", i % 100 + i / 100 * 1000);
			assert_int_equal(call(true, text, "\x90", 1, &out), 1);
			const char *p = out.data;
			assert_int_equal(mp_decode_uint(&p), i % 100 + i / 100 * 1000);
		}
	}
	buf_free(&out);
}

LUA_TEST(test_no_garbage)
{
	define(L, "function empty() end function add(a, b) return a + b end jit.off(empty) jit.off(add)");
	struct buf out = BUF_INIT;
	for (int i = 0; i < 200; i++) {
		call(false, "empty", "\x90", 1, &out);
		call(false, "add", "\x92\x01\x02", 3, &out);
		call(true, "return ...", "\x91\x07", 2, &out);
	}
	uint64_t allocated = lua_heap_allocated();
	for (int i = 0; i < 1000; i++) {
		assert_int_equal(call(false, "empty", "\x90", 1, &out), 0);
		assert_int_equal(call(false, "add", "\x92\x01\x02", 3, &out), 1);
		assert_int_equal(call(true, "return ...", "\x91\x07", 2, &out), 1);
	}
	assert_int_equal(lua_heap_allocated() - allocated, 0);
	buf_free(&out);
}

LUA_TEST(test_compat_16)
{
	static const struct { const char *expr, *expected; size_t size; int count; } cases[] = {
		{"return {1, 2}", "\x92\x01\x02", 3, 1},
		{"return {{1}, {2}}", "\x91\x01\x91\x02", 4, 2},
		{"return 1, 2", "\x91\x01\x91\x02", 4, 2},
		{"return {a = 1}", "\x91\x81\xa1" "a\x01", 5, 1},
		{"return {}", "\x90", 1, 1},
		{"return nil", "\x91\xc0", 2, 1},
		{"return {{1}, 2}", "\x91\x01\x91\x02", 4, 2},
		{"return {1}, 2", "\x91\x01\x91\x02", 4, 2},
		{"return box.tuple.new{1, 2}", "\x92\x01\x02", 3, 1},
		{"return {box.tuple.new{1}, {3}}", "\x91\x01\x91\x03", 4, 2},
		{"return {{}}", "\x90", 1, 1},
		{"return", "", 0, 0},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct port in, result;
		struct buf out = BUF_INIT;
		port_msgpack_create(&in, "\x90", (char *)"\x90" + 1);
		assert_int_equal(db_eval(cases[i].expr, strlen(cases[i].expr), &in, &result), 0);
		assert_int_equal(port_dump(&result, &out, true), cases[i].count);
		assert_int_equal(out.size, cases[i].size);
		if (out.size > 0)
			assert_memory_equal(out.data, cases[i].expected, out.size);
		port_destroy(&result);
		buf_free(&out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_error_leaves_output),
		cmocka_unit_test(test_eval),
		cmocka_unit_test(test_no_garbage),
		cmocka_unit_test(test_compat_16),
	};
	return cmocka_run_group_tests_name("lua/call", tests, lua_setup, lua_teardown);
}
