/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A database in memory for unit tests: bootstrapped, without files. Rows are
 * written as text in single quotes: "[1, 'a', {'k': true}, nil]".
 */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "core/buf.h"
#include "core/fiber.h"
#include "core/log.h"
#include "core/loop.h"
#include "core/memory.h"
#include "data/mp.h"
#include "db/db.h"
#include "db/error.h"
#include "db/schema/space.h"
#include "db/schema/user.h"
#include "db/tuple/tuple.h"
#include "db/txn/txn.h"
#include "db/wal/wal_int.h"

/* Rows as text --------------------------------------------------------- */

static void text_skip(const char **p)
{
	while (**p == ' ' || **p == ',' || **p == ':')
		++*p;
}

static void text_value(const char **p, struct buf *b)
{
	text_skip(p);
	char open = **p, close = open == '[' ? ']' : '}';
	if (open == '[' || open == '{') {
		struct buf inner = BUF_INIT;
		uint32_t count = 0;
		++*p;
		for (text_skip(p); **p != close; text_skip(p), count++)
			text_value(p, &inner);
		++*p;
		char *q = buf_reserve(b, 5);
		q = open == '[' ? mp_encode_array(q, count) : mp_encode_map(q, count / 2);
		b->size = q - b->data;
		buf_append(b, inner.data, inner.size);
		buf_free(&inner);
	} else if (open == '\'') {
		size_t len = strcspn(*p + 1, "'");
		b->size = mp_encode_str(buf_reserve(b, len + 5), *p + 1, len) - b->data;
		*p += len + 2;
	} else if (strncmp(*p, "true", 4) == 0 || strncmp(*p, "false", 5) == 0) {
		b->size = mp_encode_bool(buf_reserve(b, 1), open == 't') - b->data;
		*p += open == 't' ? 4 : 5;
	} else if (strncmp(*p, "nil", 3) == 0) {
		b->size = mp_encode_nil(buf_reserve(b, 1)) - b->data;
		*p += 3;
	} else {
		char *end;
		long long v = strtoll(*p, &end, 10);
		assert_true(end != *p);
		char *q = buf_reserve(b, 9);
		b->size = (v < 0 ? mp_encode_int(q, v) : mp_encode_uint(q, v)) - b->data;
		*p = end;
	}
}

/** The MessagePack of a text; lives until 8 more were made. */
static inline const char *mp(const char *text, const char **end)
{
	static struct buf ring[8];
	static int next;
	struct buf *b = &ring[next++ % 8];
	buf_truncate(b, 0);
	text_value(&text, b);
	*end = b->data + b->size;
	return b->data;
}

/* Statements: 0 or the code of the error ---------------------------------- */

static inline unsigned code_of(int rc)
{
	return rc == 0 ? 0 : error_client_code(diag_last());
}

static inline unsigned insert(uint32_t space, const char *row)
{
	const char *end, *data = mp(row, &end);
	return code_of(db_insert(space, data, end, NULL));
}

static inline unsigned replace(uint32_t space, const char *row)
{
	const char *end, *data = mp(row, &end);
	return code_of(db_replace(space, data, end, NULL));
}

static inline unsigned del(uint32_t space, const char *key)
{
	const char *end, *data = mp(key, &end);
	return code_of(db_delete(space, 0, data, end, NULL));
}

static inline unsigned update(uint32_t space, const char *key, const char *ops)
{
	const char *end, *ops_end, *data = mp(key, &end), *o = mp(ops, &ops_end);
	return code_of(db_update(space, 0, data, end, o, ops_end, 1, NULL));
}

static inline unsigned upsert(uint32_t space, const char *row, const char *ops)
{
	const char *end, *ops_end, *data = mp(row, &end), *o = mp(ops, &ops_end);
	return code_of(db_upsert(space, 0, data, end, o, ops_end, 1, NULL));
}

/** All rows by an index, as text: "[1, 'a'] [2, 'b']"; or the error's text. */
static inline const char *rows_by(uint32_t space, uint32_t index)
{
	static struct buf out;
	struct port port;
	const char *end, *key = mp("[]", &end);
	buf_truncate(&out, 0);
	if (db_select(space, index, ITER_ALL, 0, UINT32_MAX, key, end, NULL, &port) != 0)
		return diag_last()->message;
	for (uint32_t i = 0; i < port_c_count(&port); i++) {
		const char *data;
		uint32_t size;
		struct tuple *tuple = port_c_at(&port, i, &data, &size);
		if (i > 0)
			buf_append(&out, " ", 1);
		mp_print(&out, tuple_data(tuple));
	}
	port_destroy(&port);
	buf_append(&out, "", 1);
	return out.data;
}

static inline const char *rows(uint32_t space)
{
	return rows_by(space, 0);
}

/** A row by its primary key, as text; "" where there is none. */
static inline const char *row(uint32_t space, const char *key)
{
	static struct buf out;
	struct tuple *tuple;
	const char *end, *data = mp(key, &end);
	buf_truncate(&out, 0);
	if (db_index_get(space, 0, data, end, &tuple) != 0)
		return diag_last()->message;
	if (tuple != NULL) {
		mp_print(&out, tuple_data(tuple));
		tuple_unref(tuple);
	}
	buf_append(&out, "", 1);
	return out.data;
}

#define assert_ok(expr) do { \
	unsigned _code = (expr); \
	if (_code != 0) \
		print_error("%s: %s\n", #expr, diag_last()->message); \
	assert_int_equal(_code, 0); \
} while (0)

#define assert_error(expr, code, text) do { \
	assert_int_equal((expr), (code)); \
	assert_string_equal(diag_last()->message, (text)); \
} while (0)

/* Spaces ------------------------------------------------------------------- */

/** A space with a primary TREE index over its first, unsigned field. */
static inline void make_space(uint32_t id, const char *name)
{
	char text[256];
	snprintf(text, sizeof(text), "[%u, 1, '%s', 'memtx', 0, {}, []]", id, name);
	assert_ok(insert(SPACE_SPACE, text));
	snprintf(text, sizeof(text), "[%u, 0, 'pk', 'tree', {'unique': true}, [[0, 'unsigned']]]",
		 id);
	assert_ok(insert(SPACE_INDEX, text));
}

static inline void drop_space(uint32_t id)
{
	char key[64];
	for (int iid = 10; iid >= 0; iid--) {
		if (space_index(space_by_id(id), iid) == NULL)
			continue;
		snprintf(key, sizeof(key), "[%u, %d]", id, iid);
		assert_ok(del(SPACE_INDEX, key));
	}
	snprintf(key, sizeof(key), "[%u]", id);
	if (row(SPACE_TRUNCATE, key)[0] != '\0')
		assert_ok(del(SPACE_TRUNCATE, key));
	assert_ok(del(SPACE_SPACE, key));
}

/* The journal: without files. While it fails, commits are refused. ------------ */

static inline void journal_fails(bool yesno)
{
	journal_set_bootstrapping(!yesno);
}

/* The program ------------------------------------------------------------------ */

static inline void test_db_start(void)
{
	fiber_init();
	loop_init();
	log_set_level(LOG_FATAL);
	db_init();
	journal_set_bootstrapping(true);
	if (schema_bootstrap() != 0)
		panic("bootstrap: %s", diag_last()->message);
	db_is_configured = true;
}

static inline void test_db_stop(void)
{
	db_free();
	loop_free();
	fiber_free();
}

/** Runs a function in a fiber and waits for it. */
static inline int in_fiber(fiber_func func, void *arg)
{
	struct fiber *f = fiber_new("test", func);
	fiber_set_joinable(f, true);
	fiber_start(f, arg);
	return fiber_join(f);
}

/**
 * Starts the database, runs `run_all` in a fiber, which ends by loop_stop(), and stops
 * the database; returns the fiber's result.
 */
static inline int test_db_run(fiber_func run_all)
{
	test_db_start();
	struct fiber *f = fiber_new("test", run_all);
	fiber_set_joinable(f, true);
	fiber_wakeup(f);
	loop_run();
	int failed = fiber_join(f);
	test_db_stop();
	return failed;
}
