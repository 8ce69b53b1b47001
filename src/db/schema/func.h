/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Stored functions: their definitions (space _func), and how a language plugs in.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "db/port.h"
#include "db/schema/user.h"

enum func_language { FUNC_LUA, FUNC_C, FUNC_SQL, FUNC_SQL_BUILTIN, func_language_MAX };
extern const char *func_language_names[func_language_MAX];

struct func_def {
	uint32_t id, uid;
	char *name;
	/** NULL: the function is found by its name at each call. */
	char *body;
	char *comment;
	enum func_language language;
	bool is_setuid, is_deterministic, is_sandboxed, is_multikey;
	bool exports_lua, exports_sql;
};

struct func;

struct func_vtab {
	/** -1 with an error set; `result` is created only on success. May yield. */
	int (*call)(struct func *func, struct port *args, struct port *result);
	void (*destroy)(struct func *func);
};

struct func {
	const struct func_vtab *vtab;
	struct func_def *def;
	struct access access;
	/** The language's own (a registry reference, a symbol). */
	intptr_t impl;
	/**
	 * Calls that run now, and index definitions: a function dropped meanwhile is freed
	 * by the last of them.
	 */
	uint32_t calls;
	bool is_dropped;
};

/**
 * A language's constructor: sets `vtab` and `impl`; -1 with the error
 * (ER_LOAD_FUNCTION, a syntax error, ...).
 */
typedef int (*func_language_new)(struct func *func);
void func_language_register(enum func_language language, func_language_new make);

struct func *func_by_name(const char *name, size_t len);	/* NULL: none, no error set */
struct func *func_by_id(uint32_t id);

/** Keeps the function in memory, though it be dropped, until func_unpin(). */
void func_pin(struct func *func);
void func_unpin(struct func *func);

/** Checks `execute`, switches to the owner where setuid, calls. May yield. */
int func_call(struct func *func, struct port *args, struct port *result);
/** The check alone, for a language that calls its functions directly. */
int func_access_check(struct func *func);

/** Calls `cb` for each function, in no order. */
void func_foreach(void (*cb)(struct func *func, void *arg), void *arg);

/**
 * Calls `cb` whenever a function was created (is_new) or dropped, and again where
 * that is undone; for box.func. `cb` may not fail, yield or change data. Runs in a
 * fiber that changes the schema, never in the scheduler's.
 */
void func_on_change(void (*cb)(struct func *func, bool is_new));
