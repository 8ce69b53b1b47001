/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Users, roles, privileges, what views show, functions and sequences; each
 * change undone as well.
 */
#include "db_test.h"

#include "db/schema/func.h"
#include "db/schema/sequence.h"

enum { T = 600, U1 = 40, U2 = 41, ROLE = 42, INNER = 43 };

static int setup(void **state)
{
	(void)state;
	make_space(T, "t");
	assert_ok(insert(SPACE_USER, "[40, 1, 'u1', 'user', {}]"));
	assert_ok(insert(SPACE_USER, "[41, 1, 'u2', 'user', {}]"));
	assert_ok(insert(SPACE_PRIV, "[1, 40, 'universe', 0, 24]"));
	assert_ok(insert(SPACE_PRIV, "[1, 40, 'role', 2, 4]"));
	assert_ok(insert(SPACE_PRIV, "[1, 41, 'universe', 0, 24]"));
	return 0;
}

static void delete_all_priv(uint32_t uid)
{
	char key[64];
	struct port port;
	const char *end, *all = mp("[]", &end);
	assert_int_equal(db_select(SPACE_PRIV, 0, ITER_ALL, 0, UINT32_MAX, all, end, NULL,
				   &port), 0);
	for (uint32_t i = 0; i < port_c_count(&port); i++) {
		const char *data, *f;
		uint32_t size, len;
		struct tuple *tuple = port_c_at(&port, i, &data, &size);
		f = tuple_field(tuple, 1);
		if (mp_decode_uint(&f) != uid)
			continue;
		f = tuple_field(tuple, 2);
		const char *type = mp_decode_str(&f, &len);
		if (mp_typeof(*f) == MP_STR)
			snprintf(key, sizeof(key), "[%u, '%.*s', '']", uid, (int)len, type);
		else
			snprintf(key, sizeof(key), "[%u, '%.*s', %u]", uid, (int)len, type,
				 (unsigned)mp_decode_uint(&f));
		assert_ok(del(SPACE_PRIV, key));
	}
	port_destroy(&port);
}

static int teardown(void **state)
{
	(void)state;
	credentials_set(NULL);
	for (uint32_t uid = U1; uid <= INNER; uid++) {
		char key[32];
		snprintf(key, sizeof(key), "[%u]", uid);
		if (user_find(uid) == NULL)
			continue;
		delete_all_priv(uid);
	}
	for (uint32_t uid = U1; uid <= INNER; uid++) {
		char key[32];
		snprintf(key, sizeof(key), "[%u]", uid);
		if (user_find(uid) != NULL)
			assert_ok(del(SPACE_USER, key));
	}
	drop_space(T);
	return 0;
}

static void become(uint32_t uid)
{
	static struct credentials cr;
	if (uid == USER_ADMIN) {
		credentials_set(NULL);
		return;
	}
	credentials_create(&cr, user_by_id(uid));
	credentials_set(&cr);
}

static void test_rights(void **state)
{
	(void)state;
	become(U1);
	assert_string_equal(rows(T), "Read access to space 't' is denied for user 'u1'");
	assert_error(insert(T, "[1]"), ER_ACCESS_DENIED,
		     "Write access to space 't' is denied for user 'u1'");
	assert_int_equal(insert(SPACE_PRIV, "[40, 40, 'space', 600, 1]"), ER_ACCESS_DENIED);
	become(USER_ADMIN);
	assert_ok(insert(SPACE_PRIV, "[1, 40, 'space', 600, 1]"));
	become(U1);
	assert_string_equal(rows(T), "");
	assert_int_equal(insert(T, "[1]"), ER_ACCESS_DENIED);
	become(USER_ADMIN);
	/* What is undone was never granted. */
	struct txn *txn = txn_begin(false);
	assert_ok(replace(SPACE_PRIV, "[1, 40, 'space', 600, 3]"));
	become(U1);
	assert_ok(insert(T, "[1]"));
	become(USER_ADMIN);
	txn_rollback(txn);
	become(U1);
	assert_string_equal(rows(T), "");
	assert_int_equal(insert(T, "[1]"), ER_ACCESS_DENIED);
	become(USER_ADMIN);
	assert_error(del(SPACE_SPACE, "[600]"), ER_DROP_SPACE,
		     "Can't drop space 't': the space has indexes");
	/* Without "usage" nothing is allowed. */
	assert_ok(replace(SPACE_PRIV, "[1, 40, 'universe', 0, 8]"));
	become(U1);
	assert_string_equal(rows(T), "Usage access to universe '' is denied for user 'u1'");
}

static void test_entity(void **state)
{
	(void)state;
	assert_ok(insert(SPACE_PRIV, "[1, 40, 'space', '', 3]"));
	become(U1);
	assert_ok(insert(T, "[1]"));
	assert_error(insert(SPACE_SPACE, "[601, 40, 'mine', 'memtx', 0, {}, []]"),
		     ER_ACCESS_DENIED, "Create access to space 'mine' is denied for user 'u1'");
	become(USER_ADMIN);
	assert_ok(replace(SPACE_PRIV, "[1, 40, 'space', '', 35]"));
	become(U1);
	assert_ok(insert(SPACE_SPACE, "[601, 40, 'mine', 'memtx', 0, {}, []]"));
	become(U2);
	assert_int_equal(insert(SPACE_INDEX, "[601, 0, 'pk', 'tree', {}, [[0, 'unsigned']]]"),
			 ER_ACCESS_DENIED);
	become(U1);
	assert_ok(insert(SPACE_INDEX, "[601, 0, 'pk', 'tree', {}, [[0, 'unsigned']]]"));
	/* An owner grants. */
	assert_ok(insert(SPACE_PRIV, "[40, 41, 'space', 601, 1]"));
	assert_error(insert(SPACE_PRIV, "[1, 41, 'space', 600, 1]"), ER_ACCESS_DENIED,
		     "Grant access to space 't' is denied for user 'u1'");
	become(U2);
	assert_string_equal(rows(601), "");
	become(USER_ADMIN);
	assert_error(del(SPACE_USER, "[40]"), ER_DROP_USER,
		     "Failed to drop user or role 'u1': the user has objects");
	assert_ok(del(SPACE_PRIV, "[41, 'space', 601]"));
	drop_space(601);
}

static void test_roles(void **state)
{
	(void)state;
	assert_ok(insert(SPACE_USER, "[42, 1, 'outer', 'role', {}]"));
	assert_ok(insert(SPACE_USER, "[43, 1, 'inner', 'role', {}]"));
	assert_ok(insert(SPACE_PRIV, "[1, 43, 'space', 600, 3]"));
	assert_ok(insert(SPACE_PRIV, "[1, 40, 'role', 42, 4]"));
	become(U1);
	assert_int_equal(insert(T, "[1]"), ER_ACCESS_DENIED);
	become(USER_ADMIN);
	assert_ok(insert(SPACE_PRIV, "[1, 42, 'role', 43, 4]"));
	assert_error(insert(SPACE_PRIV, "[1, 43, 'role', 42, 4]"), ER_ROLE_LOOP,
		     "Granting role 'outer' to role 'inner' would create a loop");
	assert_int_equal(insert(SPACE_PRIV, "[1, 43, 'role', 43, 4]"), ER_ROLE_LOOP);
	become(U1);
	assert_ok(insert(T, "[1]"));
	become(USER_ADMIN);
	assert_int_equal(del(SPACE_USER, "[43]"), ER_DROP_USER);
	assert_error(insert(SPACE_PRIV, "[1, 40, 'role', 41, 4]"), ER_NO_SUCH_ROLE,
		     "Role 'u2' is not found");
	struct txn *txn = txn_begin(false);
	assert_ok(del(SPACE_PRIV, "[42, 'role', 43]"));
	become(U1);
	assert_int_equal(insert(T, "[2]"), ER_ACCESS_DENIED);
	become(USER_ADMIN);
	txn_rollback(txn);
	become(U1);
	assert_ok(insert(T, "[2]"));
}

static void test_dropped_user(void **state)
{
	(void)state;
	assert_ok(insert(SPACE_PRIV, "[1, 41, 'space', 600, 3]"));
	struct credentials cr;
	credentials_create(&cr, user_by_id(U2));
	delete_all_priv(U2);
	assert_ok(del(SPACE_USER, "[41]"));
	/* Another user gets the place, not the old sessions his rights. */
	assert_ok(insert(SPACE_USER, "[43, 1, 'u3', 'user', {}]"));
	assert_int_equal(user_by_id(43)->token, cr.token);
	assert_ok(insert(SPACE_PRIV, "[1, 43, 'universe', 0, 31]"));
	credentials_set(&cr);
	assert_int_equal(insert(T, "[1]"), ER_ACCESS_DENIED);
	become(43);
	assert_ok(insert(T, "[1]"));
	become(USER_ADMIN);
}

static void test_users(void **state)
{
	(void)state;
	assert_error(insert(SPACE_USER, "[44, 1, 'x', 'foo', {}]"), ER_CREATE_USER,
		     "Failed to create user 'x': unknown user type");
	assert_error(insert(SPACE_USER, "[44, 1, 'x', 'user', {'chap-sha1': 'abc'}]"),
		     ER_CREATE_USER, "Failed to create user 'x': invalid user password");
	assert_error(del(SPACE_USER, "[0]"), ER_DROP_USER,
		     "Failed to drop user or role 'guest': the user or the role is a system");
	assert_error(insert(SPACE_USER, "[44, 1, '', 'user', {}]"), ER_IDENTIFIER, "Invalid "
		     "identifier '' (expected printable symbols only or it is too long)");
	char text[128], hash[64];
	password_hash("secret", 6, hash);
	snprintf(text, sizeof(text), "[40, 1, 'renamed', 'user', {'chap-sha1': '%s'}]", hash);
	struct txn *txn = txn_begin(false);
	assert_ok(replace(SPACE_USER, text));
	assert_string_equal(user_by_id(U1)->name, "renamed");
	assert_true(user_by_id(U1)->password.has_chap);
	assert_ok(insert(SPACE_USER, "[44, 1, 'x', 'user', {}]"));
	txn_rollback(txn);
	assert_string_equal(user_by_id(U1)->name, "u1");
	assert_false(user_by_id(U1)->password.has_chap);
	assert_null(user_find(44));
	assert_null(user_by_name("nobody", 6));
	assert_string_equal(diag_last()->message, "User 'nobody' is not found");
	/* The number of users is bounded, and running into the bound harms nothing. */
	int made = 0;
	unsigned code = 0;
	for (int uid = 50; code == 0; uid++, made += code == 0) {
		snprintf(text, sizeof(text), "[%d, 1, 'm%d', 'user', {}]", uid, uid);
		code = insert(SPACE_USER, text);
	}
	assert_int_equal(code, ER_USER_MAX);
	assert_int_equal(made, USER_MAX - 7);
	for (int uid = 50; uid < 50 + made; uid++) {
		snprintf(text, sizeof(text), "[%d]", uid);
		assert_ok(del(SPACE_USER, text));
	}
}

static void test_views(void **state)
{
	(void)state;
	become(U1);
	assert_string_equal(rows(SPACE_VUSER), "[2, 1, 'public', 'role', {}] "
			    "[40, 1, 'u1', 'user', {}]");
	assert_string_equal(rows(SPACE_VPRIV), "[1, 40, 'role', 2, 4] "
			    "[1, 40, 'universe', 0, 24]");
	assert_string_equal(row(SPACE_VSPACE, "[600]"), "");
	assert_string_equal(row(SPACE_SPACE, "[600]"),
			    "Read access to space '_space' is denied for user 'u1'");
	const char *end, *key = mp("[]", &end);
	assert_int_equal(db_index_count(SPACE_VSPACE, 0, ITER_ALL, key, end), 9);
	assert_int_equal(db_index_count(SPACE_VINDEX, 0, ITER_ALL, key, end), 22);
	become(USER_ADMIN);
	assert_ok(insert(SPACE_PRIV, "[1, 40, 'space', 600, 2]"));
	become(U1);
	assert_string_equal(row(SPACE_VSPACE, "[600]"), "[600, 1, 't', 'memtx', 0, {}, []]");
	assert_string_equal(row(SPACE_VINDEX, "[600, 0]"),
			    "[600, 0, 'pk', 'tree', {'unique': true}, [[0, 'unsigned']]]");
}

static void test_scramble(void **state)
{
	(void)state;
	struct user *user = user_by_id(U1);
	unsigned char salt[SCRAMBLE_SIZE] = "0123456789abcdefghi";
	unsigned char scramble[SCRAMBLE_SIZE] = {0};
	assert_false(password_check_chap(&user->password, scramble, salt));
}

/* Functions ------------------------------------------------------------------- */

#define FUNC(id, name, language, body) "[" id ", 1, '" name "', 0, '" language "', '" body "', " \
	"'function', [], 'any', 'none', 'none', false, false, true, ['LUA'], {}, '', '', '']"

static int created, destroyed;

static int call_nothing(struct func *func, struct port *args, struct port *result)
{
	(void)args;
	assert_int_equal(func->calls, 1);
	/* A function may be dropped while it runs. */
	assert_ok(del(SPACE_FUNC, "[100]"));
	assert_int_equal(destroyed, 0);
	port_c_create(result);
	return 0;
}

static void destroy_nothing(struct func *func)
{
	(void)func;
	destroyed++;
}

static const struct func_vtab nothing_vtab = {call_nothing, destroy_nothing};

static int make_nothing(struct func *func)
{
	if (func->def->body != NULL) {
		client_error(ER_LOAD_FUNCTION, func->def->name, "no bodies here");
		return -1;
	}
	created++;
	func->vtab = &nothing_vtab;
	return 0;
}

static void test_functions(void **state)
{
	(void)state;
	func_language_register(FUNC_LUA, make_nothing);
	created = destroyed = 0;
	assert_error(insert(SPACE_FUNC, FUNC("100", "f", "LUA", "x")), ER_LOAD_FUNCTION,
		     "Failed to dynamically load function 'f': no bodies here");
	assert_null(func_by_id(100));
	assert_error(insert(SPACE_FUNC, FUNC("100", "f", "FOO", "")), ER_FUNCTION_LANGUAGE,
		     "Unsupported language 'FOO' specified for function 'f'");
	assert_error(insert(SPACE_FUNC, FUNC("32001", "f", "LUA", "")), ER_CREATE_FUNCTION,
		     "Failed to create function 'f': function id is too big");
	struct txn *txn = txn_begin(false);
	assert_ok(insert(SPACE_FUNC, FUNC("100", "f", "LUA", "")));
	assert_non_null(func_by_name("f", 1));
	txn_rollback(txn);
	assert_null(func_by_name("f", 1));
	assert_int_equal(created, 1);
	assert_int_equal(destroyed, 1);
	assert_ok(insert(SPACE_FUNC, FUNC("100", "f", "LUA", "")));
	assert_ok(replace(SPACE_FUNC, FUNC("100", "f", "LUA", "")));
	assert_error(replace(SPACE_FUNC, FUNC("100", "g", "LUA", "")), ER_UNSUPPORTED,
		     "function does not support alter");
	assert_ok(insert(SPACE_PRIV, "[1, 40, 'function', 100, 4]"));
	assert_error(del(SPACE_FUNC, "[100]"), ER_DROP_FUNCTION,
		     "Can't drop function 1: function has grants");
	assert_ok(del(SPACE_PRIV, "[40, 'function', 100]"));
	struct port args, result;
	port_c_create(&args);
	become(U1);
	assert_int_equal(db_call("f", 1, &args, &result), -1);
	assert_string_equal(diag_last()->message,
			    "Execute access to function 'f' is denied for user 'u1'");
	assert_int_equal(db_call("nope", 4, &args, &result), -1);
	assert_string_equal(diag_last()->message,
			    "Execute access to function 'nope' is denied for user 'u1'");
	assert_int_equal(db_eval("x", 1, &args, &result), -1);
	assert_string_equal(diag_last()->message,
			    "Execute access to universe '' is denied for user 'u1'");
	become(USER_ADMIN);
	destroyed = 0;
	assert_int_equal(db_call("f", 1, &args, &result), 0);
	assert_int_equal(destroyed, 1);
	port_destroy(&result);
	assert_int_equal(db_call("TRIM", 4, &args, &result), -1);
	assert_string_equal(diag_last()->message,
			    "sql builtin function does not support Lua frontend");
	port_destroy(&args);
}

/* Sequences --------------------------------------------------------------------- */

static int64_t next(uint32_t id)
{
	int64_t value;
	return db_sequence_next(id, &value) == 0 ? value : -1000;
}

static void test_sequences(void **state)
{
	(void)state;
	assert_error(insert(SPACE_SEQUENCE, "[1, 1, 's', 0, 1, 3, 1, 0, false]"),
		     ER_CREATE_SEQUENCE,
		     "Failed to create sequence 's': step option must be non-zero");
	assert_ok(insert(SPACE_SEQUENCE, "[1, 1, 's', 2, 1, 6, 1, 0, false]"));
	int64_t value;
	assert_int_equal(db_sequence_current(1, &value), -1);
	assert_int_equal(diag_last()->code, ER_SEQUENCE_NOT_STARTED);
	assert_int_equal(next(1), 1);
	assert_int_equal(next(1), 3);
	/* A value once given is not given again. */
	struct txn *txn = txn_begin(false);
	assert_int_equal(next(1), 5);
	txn_rollback(txn);
	assert_int_equal(next(1), -1000);
	assert_string_equal(diag_last()->message, "Sequence 's' has overflowed");
	assert_ok(replace(SPACE_SEQUENCE, "[1, 1, 's', 2, 1, 6, 1, 0, true]"));
	assert_int_equal(next(1), 1);
	assert_int_equal(db_sequence_set(1, -5), 0);
	assert_int_equal(next(1), 1);
	assert_string_equal(rows(SPACE_SEQUENCE_DATA), "[1, 1]");
	assert_int_equal(db_sequence_reset(1), 0);
	assert_string_equal(rows(SPACE_SEQUENCE_DATA), "");
	/* Of a space. */
	assert_ok(insert(SPACE_SPACE_SEQUENCE, "[600, 1, false, 0, '']"));
	assert_ok(insert(T, "[nil, 'a']"));
	assert_ok(insert(T, "[nil, 'b']"));
	assert_string_equal(rows(T), "[1, 'a'] [3, 'b']");
	assert_string_equal(rows(SPACE_SEQUENCE_DATA), "");
	assert_int_equal(sequence_flush(), 0);
	assert_string_equal(rows(SPACE_SEQUENCE_DATA), "[1, 3]");
	assert_ok(insert(T, "[4]"));
	assert_int_equal(next(1), 6);
	assert_error(del(SPACE_SEQUENCE, "[1]"), ER_DROP_SEQUENCE,
		     "Can't drop sequence 's': the sequence has data");
	assert_int_equal(db_sequence_reset(1), 0);
	assert_error(del(SPACE_SEQUENCE, "[1]"), ER_DROP_SEQUENCE,
		     "Can't drop sequence 's': the sequence is in use");
	txn = txn_begin(false);
	assert_ok(del(SPACE_SPACE_SEQUENCE, "[600]"));
	assert_ok(del(SPACE_SEQUENCE, "[1]"));
	assert_int_equal(insert(T, "[nil]"), ER_FIELD_TYPE);
	txn_rollback(txn);
	assert_int_equal(db_sequence_set(1, 4), 0);
	assert_ok(insert(T, "[nil]"));
	assert_string_equal(row(T, "[6]"), "[6]");
	assert_int_equal(db_sequence_reset(1), 0);
	assert_ok(del(SPACE_SPACE_SEQUENCE, "[600]"));
	assert_ok(del(SPACE_SEQUENCE, "[1]"));
}

static int run_all(va_list ap)
{
	(void)ap;
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_rights, setup, teardown),
		cmocka_unit_test_setup_teardown(test_entity, setup, teardown),
		cmocka_unit_test_setup_teardown(test_roles, setup, teardown),
		cmocka_unit_test_setup_teardown(test_dropped_user, setup, teardown),
		cmocka_unit_test_setup_teardown(test_users, setup, teardown),
		cmocka_unit_test_setup_teardown(test_views, setup, teardown),
		cmocka_unit_test_setup_teardown(test_scramble, setup, teardown),
		cmocka_unit_test_setup_teardown(test_functions, setup, teardown),
		cmocka_unit_test_setup_teardown(test_sequences, setup, teardown),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	loop_stop();
	return failed;
}

int main(void)
{
	return test_db_run(run_all);
}
