/* SPDX-License-Identifier: BSD-2-Clause
 *
 * cdata: what C takes each type for, by the id in the header and by asking Lua; and
 * the values that C makes.
 */
#include "harness.h"

#include "lua/bridge_impl.h"

static const struct {
	const char *expr;
	enum lua_cdata_kind kind;
} samples[] = {
	{"box.NULL", CDATA_NULL},
	{"require('ffi').cast('void *', 0)", CDATA_NULL},
	{"require('ffi').cast('void *', 1)", CDATA_OTHER},
	{"5LL", CDATA_INT64},
	{"5ULL", CDATA_UINT64},
	{"require('ffi').new('long', 1)", CDATA_INT64},
	{"require('ffi').new('size_t', 1)", CDATA_UINT64},
	{"require('ffi').new('int8_t', 1)", CDATA_INT8},
	{"require('ffi').new('uint8_t', 1)", CDATA_UINT8},
	{"require('ffi').new('int16_t', 1)", CDATA_INT16},
	{"require('ffi').new('uint16_t', 1)", CDATA_UINT16},
	{"require('ffi').new('int32_t', 1)", CDATA_INT32},
	{"require('ffi').new('uint32_t', 1)", CDATA_UINT32},
	{"require('ffi').new('float', 1)", CDATA_FLOAT},
	{"require('ffi').new('double', 1)", CDATA_DOUBLE},
	{"require('ffi').new('bool', true)", CDATA_BOOL},
	{"require('ffi').new('struct tt_uuid')", CDATA_UUID},
	{"require('decimal').new(1)", CDATA_DECIMAL},
	{"require('datetime').new()", CDATA_DATETIME},
	{"require('datetime').interval.new()", CDATA_INTERVAL},
	{"require('varbinary').new('x')", CDATA_VARBINARY},
	/* As large as a pointer. */
	{"require('varbinary').new('1234')", CDATA_VARBINARY},
	{"require('ffi').cast('struct decimal *', require('decimal').new(1))", CDATA_OTHER},
	{"require('ffi').cast('char *', 0)", CDATA_CHAR_PTR},
	{"require('ffi').cast('const char *', 0)", CDATA_CHAR_PTR},
	{"require('ffi').new('int[3]')", CDATA_OTHER},
	{"require('ffi').new('struct {int a;}')", CDATA_OTHER},
	{"require('ffi').typeof('int')", CDATA_OTHER},
	{"box.tuple.new{1}", CDATA_TUPLE},
	{"box.tuple.new{('x'):rep(5000)}", CDATA_TUPLE},
	{"box.error.new(0)", CDATA_ERROR},
	{"5", CDATA_OTHER},
	{"{}", CDATA_OTHER},
	{"nil", CDATA_OTHER},
};

/** Asking Lua does not tell the two pointers apart. */
static enum lua_cdata_kind kind_of(lua_State *L, void **payload)
{
	enum lua_cdata_kind kind = lua_cdata(L, -1, payload);
	return kind == CDATA_CONST_CHAR_PTR ? CDATA_CHAR_PTR : kind;
}

static void check_samples(lua_State *L)
{
	for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++) {
		void *payload = NULL;
		eval(L, samples[i].expr);
		if (kind_of(L, &payload) != samples[i].kind)
			fail_msg("%s: taken for kind %d", samples[i].expr, kind_of(L, &payload));
		lua_pop(L, 1);
	}
}

LUA_TEST(test_kinds_by_id)
{
	/* The place of the id was found: this build does not need the slow way. */
	assert_false(lua_cdata_force_slow(false));
	check_samples(L);
}

LUA_TEST(test_kinds_by_asking)
{
	lua_cdata_force_slow(true);
	check_samples(L);
	eval(L, "1ULL");
	void *payload;
	/* Time for the function to be compiled, which does allocate. */
	for (int i = 0; i < 1000; i++)
		lua_cdata(L, -1, &payload);
	uint64_t allocated = lua_heap_allocated();
	for (int i = 0; i < 100; i++)
		assert_int_equal(lua_cdata(L, -1, &payload), CDATA_UINT64);
	assert_int_equal(*(uint64_t *)payload, 1);
	assert_true(lua_heap_allocated() == allocated);
	assert_true(lua_cdata_force_slow(false));
}

LUA_TEST(test_integers)
{
	lua_push_int64(L, 99999999999999);
	assert_int_equal(lua_type(L, -1), LUA_TNUMBER);
	lua_push_int64(L, -99999999999999);
	assert_int_equal(lua_type(L, -1), LUA_TNUMBER);
	lua_push_uint64(L, 99999999999999);
	assert_int_equal(lua_type(L, -1), LUA_TNUMBER);
	void *payload;
	lua_push_int64(L, -100000000000000);
	assert_int_equal(lua_cdata(L, -1, &payload), CDATA_INT64);
	assert_int_equal(*(int64_t *)payload, -100000000000000);
	lua_push_uint64(L, UINT64_MAX);
	assert_int_equal(lua_cdata(L, -1, &payload), CDATA_UINT64);
	assert_true(*(uint64_t *)payload == UINT64_MAX);
	lua_push_int64(L, INT64_MIN);
	assert_int_equal(lua_cdata(L, -1, &payload), CDATA_INT64);
	assert_true(*(int64_t *)payload == INT64_MIN);
}

LUA_TEST(test_null_is_one_object)
{
	lua_push_null(L);
	eval(L, "box.NULL");
	assert_ptr_equal(lua_topointer(L, -1), lua_topointer(L, -2));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kinds_by_id),
		cmocka_unit_test(test_kinds_by_asking),
		cmocka_unit_test(test_integers),
		cmocka_unit_test(test_null_is_one_object),
	};
	return cmocka_run_group_tests_name("lua/cdata", tests, lua_setup, lua_teardown);
}
