/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A module for Tarantool: nothing in here knows of tarn. It is built against tarn's
 * header and, where it is there, the reference's; reference.lua calls what is here.
 *
 * Procedures (language C) read and write the space `test`: an unsigned, a string and
 * any more fields; the primary index is on the first, `second` on the second.
 */
#include <msgpuck.h>
#include <tarantool/lauxlib.h>
#include <tarantool/lua.h>
#include <tarantool/module.h>

#define PROCEDURE(name) \
	API_EXPORT int name(box_function_ctx_t *ctx, const char *args, const char *args_end); \
	int name(box_function_ctx_t *ctx, const char *args, const char *args_end)

static int return_int(box_function_ctx_t *ctx, int64_t value)
{
	char buf[16];
	char *end = value < 0 ? mp_encode_int(buf, value) : mp_encode_uint(buf, value);
	return box_return_mp(ctx, buf, end);
}

static int return_nil(box_function_ctx_t *ctx)
{
	char buf[16] = "", *end = mp_encode_nil(buf);
	return box_return_mp(ctx, buf, end);
}

static int return_text(box_function_ctx_t *ctx, const char *text)
{
	char buf[200] = "", *end = mp_encode_str(buf, text, strlen(text));
	return box_return_mp(ctx, buf, end);
}

/** The field's value, or nil. */
static int return_field(box_function_ctx_t *ctx, const char *field)
{
	const char *end = field;
	if (field == NULL)
		return return_nil(ctx);
	mp_next(&end);
	return box_return_mp(ctx, field, end);
}

/** By address, since evaluating `rc` sets it. */
static int return_if(box_function_ctx_t *ctx, int rc, box_tuple_t **tuple)
{
	if (rc != 0)
		return -1;
	return *tuple != NULL ? box_return_tuple(ctx, *tuple) : return_nil(ctx);
}

static uint32_t test_id(void)
{
	return box_space_id_by_name("test", 4);
}

/** Takes the next argument, whatever it is. */
static const char *take(const char **args)
{
	const char *begin = *args;
	mp_next(args);
	return begin;
}

/* Names and numbers ------------------------------------------------------------ */

PROCEDURE(ids)
{
	if (test_id() == BOX_ID_NIL)
		return box_error_raise(ER_NO_SUCH_SPACE, "no space %s", "test");
	return_int(ctx, box_space_id_by_name("_space", 6) == BOX_SPACE_ID);
	return_int(ctx, box_space_id_by_name("nosuch", 6));
	return_int(ctx, box_index_id_by_name(test_id(), "second", 6));
	return_int(ctx, box_index_id_by_name(test_id(), "nosuch", 6));
	return_int(ctx, box_index_id_by_name(1234, "second", 6));
	return return_int(ctx, iterator_type_MAX);
}

/** (index, iterator, key) -> length, count; is the index's size above 0? */
PROCEDURE(numbers)
{
	mp_decode_array(&args);
	uint32_t index_id = mp_decode_uint(&args), type = mp_decode_uint(&args);
	const char *key = take(&args);
	ssize_t count = box_index_count(test_id(), index_id, type, key, args);
	if (count < 0)
		return -1;
	return_int(ctx, box_index_len(test_id(), index_id));
	return_int(ctx, count);
	return return_int(ctx, box_index_bsize(test_id(), index_id) > 0);
}

/* Reads -------------------------------------------------------------------------- */

/** (index, iterator, key): all tuples, then their number. */
PROCEDURE(walk)
{
	mp_decode_array(&args);
	uint32_t index_id = mp_decode_uint(&args), type = mp_decode_uint(&args);
	const char *key = take(&args);
	box_iterator_t *it = box_index_iterator(test_id(), index_id, type, key, args);
	if (it == NULL)
		return -1;
	int count = 0;
	box_tuple_t *tuple;
	for (;; count++) {
		if (box_iterator_next(it, &tuple) != 0) {
			box_iterator_free(it);
			return -1;
		}
		if (tuple == NULL)
			break;
		box_return_tuple(ctx, tuple);
	}
	box_iterator_free(it);
	return return_int(ctx, count);
}

/** (index, key): get, min, max. Arguments may be gone after a read, so the key is copied. */
PROCEDURE(bounds)
{
	char copy[100];
	mp_decode_array(&args);
	uint32_t index_id = mp_decode_uint(&args);
	const char *key = take(&args), *end = copy + (args - key);
	memcpy(copy, key, args - key);
	box_tuple_t *tuple = NULL;
	if (return_if(ctx, box_index_get(test_id(), index_id, copy, end, &tuple), &tuple) != 0 ||
	    return_if(ctx, box_index_min(test_id(), index_id, copy, end, &tuple), &tuple) != 0)
		return -1;
	return return_if(ctx, box_index_max(test_id(), index_id, copy, end, &tuple), &tuple);
}

PROCEDURE(some)
{
	mp_decode_array(&args);
	box_tuple_t *tuple;
	if (box_index_random(test_id(), 0, mp_decode_uint(&args), &tuple) != 0)
		return -1;
	return return_int(ctx, tuple != NULL);
}

/** (key): the key that the tuple has in the second index. */
PROCEDURE(second_key)
{
	mp_decode_array(&args);
	const char *key = take(&args);
	box_tuple_t *tuple;
	if (box_index_get(test_id(), 0, key, args, &tuple) != 0)
		return -1;
	if (tuple == NULL)
		return 0;
	uint32_t size;
	char *second = box_tuple_extract_key(tuple, test_id(), 1, &size);
	return second != NULL ? box_return_mp(ctx, second, second + size) : -1;
}

/* Changes -------------------------------------------------------------------------- */

PROCEDURE(insert)
{
	box_tuple_t *tuple;
	return return_if(ctx, box_insert(test_id(), args, args_end, &tuple), &tuple);
}

/** (key): the tuple that was there. */
PROCEDURE(take_out)
{
	mp_decode_array(&args);
	const char *key = take(&args);
	box_tuple_t *tuple = NULL;
	return return_if(ctx, box_delete(test_id(), 0, key, args, &tuple), &tuple);
}

/** (key, operations, base) */
PROCEDURE(change)
{
	mp_decode_array(&args);
	const char *key = take(&args), *ops = args, *ops_end = (take(&args), args);
	int base = mp_decode_uint(&args);
	box_tuple_t *tuple = NULL;
	return return_if(ctx, box_update(test_id(), 0, key, ops, ops, ops_end, base, &tuple),
			 &tuple);
}

/** (tuple, operations, base) */
PROCEDURE(change_or_insert)
{
	mp_decode_array(&args);
	const char *row = take(&args), *ops = args, *ops_end = (take(&args), args);
	int base = mp_decode_uint(&args);
	return box_upsert(test_id(), 0, row, ops, ops, ops_end, base, NULL);
}

PROCEDURE(empty)
{
	return box_truncate(test_id());
}

/** (sequence): moves it in all ways. */
PROCEDURE(sequence)
{
	mp_decode_array(&args);
	uint32_t id = mp_decode_uint(&args);
	int64_t value;
	if (box_sequence_next(id, &value) != 0)
		return -1;
	return_int(ctx, value);
	if (box_sequence_set(id, 100) != 0 || box_sequence_next(id, &value) != 0)
		return -1;
	return_int(ctx, value);
	if (box_sequence_reset(id) != 0 || box_sequence_next(id, &value) != 0)
		return -1;
	return_int(ctx, value);
	return box_sequence_reset(id);
}

/* Transactions ------------------------------------------------------------------------ */

/** (number of tuples, commit?): inserts [1, '1'], ... */
PROCEDURE(bulk)
{
	mp_decode_array(&args);
	uint32_t count = mp_decode_uint(&args);
	bool is_commit = mp_decode_bool(&args);
	return_int(ctx, box_txn());
	if (box_txn_begin() != 0)
		return -1;
	return_int(ctx, box_txn() && box_txn_id() > 0);
	for (uint32_t i = 1; i <= count; i++) {
		char *row = box_txn_alloc(64);
		if (row == NULL)
			return -1;
		char name[16];
		int len = snprintf(name, sizeof(name), "%u", i);
		char *end = mp_encode_array(row, 2);
		end = mp_encode_uint(end, i);
		end = mp_encode_str(end, name, len);
		if (box_insert(test_id(), row, end, NULL) != 0) {
			box_txn_rollback();
			return -1;
		}
	}
	if ((is_commit ? box_txn_commit() : box_txn_rollback()) != 0)
		return -1;
	return return_int(ctx, box_txn());
}

PROCEDURE(begin_twice)
{
	if (box_txn_begin() != 0)
		return -1;
	return box_txn_begin();
}

/* Tuples -------------------------------------------------------------------------------- */

/** (tuple): its fields by an iterator, in all ways. */
PROCEDURE(fields)
{
	mp_decode_array(&args);
	const char *data = take(&args);
	box_tuple_t *tuple = box_tuple_new(box_tuple_format_default(), data, args);
	if (tuple == NULL)
		return -1;
	return_int(ctx, box_tuple_field_count(tuple));
	return_int(ctx, box_tuple_bsize(tuple));
	return_int(ctx, box_tuple_format(tuple) == box_tuple_format_default());
	char buf[100] = "";
	return_int(ctx, box_tuple_to_buf(tuple, buf, 1));
	return_int(ctx, box_tuple_to_buf(tuple, buf, sizeof(buf)));
	box_return_mp(ctx, buf, buf + box_tuple_bsize(tuple));
	return_field(ctx, box_tuple_field(tuple, 1));
	return_field(ctx, box_tuple_field(tuple, 100));
	box_tuple_iterator_t *it = box_tuple_iterator(tuple);
	const char *field;
	return_int(ctx, box_tuple_position(it));
	while ((field = box_tuple_next(it)) != NULL) {
		return_field(ctx, field);
		return_int(ctx, box_tuple_position(it));
	}
	return_int(ctx, box_tuple_position(it));
	return_field(ctx, box_tuple_seek(it, 1));
	return_int(ctx, box_tuple_position(it));
	return_field(ctx, box_tuple_next(it));
	return_field(ctx, box_tuple_seek(it, 100));
	return_int(ctx, box_tuple_position(it));
	box_tuple_rewind(it);
	return_int(ctx, box_tuple_position(it));
	return_field(ctx, box_tuple_next(it));
	box_tuple_iterator_free(it);
	return 0;
}

/** (tuple, operations): updated, upserted. */
PROCEDURE(derive)
{
	mp_decode_array(&args);
	const char *data = take(&args), *ops = args, *ops_end = (take(&args), args);
	box_tuple_t *tuple = box_tuple_new(box_tuple_format_default(), data, ops);
	if (tuple == NULL)
		return -1;
	box_tuple_ref(tuple);
	box_tuple_t *new_tuple = box_tuple_upsert(tuple, ops, ops_end);
	int rc = new_tuple != NULL ? box_return_tuple(ctx, new_tuple) : -1;
	if (rc == 0) {
		new_tuple = box_tuple_update(tuple, ops, ops_end);
		rc = new_tuple != NULL ? box_return_tuple(ctx, new_tuple) : -1;
	}
	box_return_tuple(ctx, tuple);
	box_tuple_unref(tuple);
	return rc;
}

static int sign(int n)
{
	return (n > 0) - (n < 0);
}

/** (tuple, tuple, key): compared by an unsigned second and a string first field. */
PROCEDURE(compare)
{
	uint32_t fields[] = {1, 0}, types[] = {FIELD_TYPE_UNSIGNED, FIELD_TYPE_STRING};
	mp_decode_array(&args);
	const char *a = take(&args), *b = args, *key = (take(&args), args);
	box_key_def_t *def = box_key_def_new(fields, types, 2);
	box_tuple_format_t *format = box_tuple_format_new(&def, 1);
	int rc = -1;
	box_tuple_t *ta = box_tuple_new(format, a, b);
	if (ta == NULL)
		goto end;
	box_tuple_ref(ta);
	box_tuple_t *tb = box_tuple_new(format, b, key);
	if (tb != NULL) {
		return_int(ctx, sign(box_tuple_compare(ta, tb, def)));
		return_int(ctx, sign(box_tuple_compare(tb, ta, def)));
		return_int(ctx, box_tuple_compare(ta, ta, def));
		return_int(ctx, sign(box_tuple_compare_with_key(ta, key, def)));
		rc = return_int(ctx, sign(box_tuple_compare_with_key(tb, key, def)));
	}
	box_tuple_unref(ta);
end:
	box_tuple_format_unref(format);
	box_key_def_delete(def);
	return rc;
}

/* Errors and the rest --------------------------------------------------------------------- */

PROCEDURE(errors)
{
	box_error_clear();
	return_int(ctx, box_error_last() == NULL);
	box_error_set("file.c", 42, ER_PROC_C, "%s %d", "text", 7);
	box_error_t *e = box_error_last();
	return_int(ctx, box_error_code(e));
	return_text(ctx, box_error_type(e));
	return_text(ctx, box_error_message(e));
	char key[2] = {(char)0x90};
	box_tuple_t *tuple;
	return_int(ctx, box_index_get(123456, 0, key, key + 1, &tuple));
	e = box_error_last();
	return_int(ctx, box_error_code(e) == ER_NO_SUCH_SPACE);
	return return_text(ctx, box_error_message(e));
}

PROCEDURE(logs)
{
	say_info("to be seen %d", 1);
	say_error("a bad thing");
	say_debug("not to be seen");
	errno = ENOENT;
	say_syserror("opening");
	say(S_WARN, "because", "a warning");
	return return_int(ctx, say_log_level_is_enabled(S_DEBUG));
}

PROCEDURE(times)
{
	return_int(ctx, clock_realtime() > 1e9 && clock_realtime64() > 1000000000000000000);
	return_int(ctx, clock_monotonic() * 1e9 - clock_monotonic64() < 1e9);
	return_int(ctx, clock_process() > 0 && clock_process64() > 0);
	return return_int(ctx, clock_thread() > 0 && clock_thread64() > 0);
}

PROCEDURE(pushes)
{
	return box_session_push(args, args_end);
}

/* For Lua ------------------------------------------------------------------------------------ */

/** (value) -> as a signed and as an unsigned number. */
static int to_ints(lua_State *L)
{
	luaL_pushint64(L, luaL_toint64(L, 1));
	luaL_pushuint64(L, luaL_touint64(L, 1));
	return 2;
}

static int check_int(lua_State *L)
{
	luaL_pushint64(L, luaL_checkint64(L, 1));
	return 1;
}

static int check_uint(lua_State *L)
{
	luaL_pushuint64(L, luaL_checkuint64(L, 1));
	return 1;
}

/** (value): is it a tuple? Its number of fields, and a copy of it. */
static int tuple_of(lua_State *L)
{
	box_tuple_t *tuple = luaT_istuple(L, 1);
	lua_pushboolean(L, tuple != NULL);
	if (tuple == NULL)
		return 1;
	lua_pushinteger(L, box_tuple_field_count(tuple));
	luaT_pushtuple(L, tuple);
	return 3;
}

static int compare_tuples(lua_State *L)
{
	uint32_t field = 0, type = FIELD_TYPE_UNSIGNED;
	box_tuple_t *a = luaT_istuple(L, 1), *b = luaT_istuple(L, 2);
	box_key_def_t *def = box_key_def_new(&field, &type, 1);
	lua_pushinteger(L, sign(box_tuple_compare(a, b, def)));
	box_key_def_delete(def);
	return 1;
}

static int fails(lua_State *L)
{
	box_error_set(__FILE__, __LINE__, ER_PROC_LUA, "from C");
	return luaT_error(L);
}

static int nil_and_error(lua_State *L)
{
	box_error_set(__FILE__, __LINE__, ER_PROC_LUA, "from C");
	return luaT_push_nil_and_error(L);
}

/** (f, ...): what it returns, or false and the error's type and text. */
static int calls(lua_State *L)
{
	if (luaT_call(L, lua_gettop(L) - 1, LUA_MULTRET) == 0)
		return lua_gettop(L);
	box_error_t *e = box_error_last();
	lua_settop(L, 0);
	lua_pushboolean(L, false);
	lua_pushstring(L, box_error_type(e));
	lua_pushstring(L, box_error_message(e));
	return 3;
}

static int add_one(lua_State *L)
{
	int *n = lua_touserdata(L, 1);
	if (++*n == 3)
		return luaL_error(L, "three");
	return 0;
}

static int protected_calls(lua_State *L)
{
	int n = 1, first = luaT_cpcall(L, add_one, &n), second = luaT_cpcall(L, add_one, &n);
	lua_pushinteger(L, first);
	lua_pushboolean(L, second != 0);
	lua_pushinteger(L, n);
	lua_pushstring(L, box_error_message(box_error_last()));
	lua_pushboolean(L, luaT_state() != NULL);
	return 5;
}

static int to_text(lua_State *L)
{
	size_t size;
	const char *text = luaT_tolstring(L, 1, &size);
	lua_pushlstring(L, text, size);
	return 1;
}

static int is_callable(lua_State *L)
{
	lua_pushboolean(L, luaL_iscallable(L, 1));
	return 1;
}

/** C types: a struct of our own, numbers, pointers. */
static int types(lua_State *L)
{
	struct reference_point { int x, y; } *p;
	int rc = luaL_cdef(L, "struct reference_point { int x, y; };");
	uint32_t id = luaL_ctypeid(L, "struct reference_point"), id2 = 0;
	p = luaL_pushcdata(L, id);
	p->x = 3;
	p->y = 4;
	bool is_same = luaL_checkcdata(L, -1, &id2) == p;
	lua_pushinteger(L, rc);
	lua_pushboolean(L, is_same && id == id2);
	uint32_t number_id = luaL_ctypeid(L, "uint64_t");
	*(uint64_t *)luaL_pushcdata(L, number_id) = UINT64_MAX;
	return 4;
}

/** (cdata, finalizer) */
static int set_gc(lua_State *L)
{
	lua_settop(L, 2);
	luaL_setcdatagc(L, 1);
	lua_pushinteger(L, lua_gettop(L));
	return 1;
}

static int check_cdata(lua_State *L)
{
	uint32_t id;
	lua_pushboolean(L, luaL_checkcdata(L, 1, &id) != NULL);
	return 1;
}

LUA_API int luaopen_reference(lua_State *L);

int luaopen_reference(lua_State *L)
{
	static const luaL_Reg functions[] = {
		{"to_ints", to_ints}, {"check_int", check_int}, {"check_uint", check_uint},
		{"tuple_of", tuple_of}, {"compare_tuples", compare_tuples}, {"fails", fails},
		{"nil_and_error", nil_and_error}, {"calls", calls},
		{"protected_calls", protected_calls}, {"to_text", to_text},
		{"is_callable", is_callable}, {"types", types}, {"set_gc", set_gc},
		{"check_cdata", check_cdata}, {NULL, NULL},
	};
	lua_newtable(L);
	luaL_register(L, NULL, functions);
	return 1;
}
