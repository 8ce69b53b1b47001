/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The cache of stored functions, the languages they may have, and calls.
 */
#include "db/schema/func.h"

#include <assert.h>
#include <string.h>

#include "core/map.h"
#include "core/memory.h"
#include "db/error.h"
#include "db/schema/schema.h"

const char *func_language_names[func_language_MAX] = {"LUA", "C", "SQL", "SQL_BUILTIN"};

static struct map_u64 funcs_by_id;
static struct map_str funcs_by_name;
static func_language_new languages[func_language_MAX];

void func_language_register(enum func_language language, func_language_new make)
{
	languages[language] = make;
}

static int func_call_unsupported(struct func *func, struct port *args, struct port *result)
{
	(void)args;
	(void)result;
	if (func->def->language == FUNC_SQL_BUILTIN)
		client_error(ER_UNSUPPORTED, "sql builtin function", "Lua frontend");
	else
		client_error(ER_UNSUPPORTED, "tarn", func->def->language == FUNC_C ?
			     "stored procedures in C" : "functions in this language");
	return -1;
}

static void func_destroy_nothing(struct func *func)
{
	(void)func;
}

/** For a language that nothing has registered: the function exists, a call is an error. */
static const struct func_vtab func_unsupported_vtab = {
	.call = func_call_unsupported,
	.destroy = func_destroy_nothing,
};

void func_def_delete(struct func_def *def)
{
	xfree(def->name);
	xfree(def->body);
	xfree(def->comment);
	xfree(def);
}

struct func *func_new(struct func_def *def)
{
	struct func *func = xcalloc(1, sizeof(*func));
	func->def = def;
	func->vtab = &func_unsupported_vtab;
	if (languages[def->language] != NULL && languages[def->language](func) != 0) {
		func_def_delete(def);
		xfree(func);
		return NULL;
	}
	return func;
}

static void func_free(struct func *func)
{
	func->vtab->destroy(func);
	func_def_delete(func->def);
	xfree(func);
}

void func_delete(struct func *func)
{
	func->is_dropped = true;
	if (func->calls == 0)
		func_free(func);
}

void func_cache_put(struct func *func)
{
	map_u64_put(&funcs_by_id, func->def->id, func);
	map_str_put(&funcs_by_name, func->def->name, strlen(func->def->name), func);
}

void func_cache_del(struct func *func)
{
	map_u64_del(&funcs_by_id, func->def->id);
	map_str_del(&funcs_by_name, func->def->name, strlen(func->def->name));
}

void func_cache_init(void)
{
	map_u64_create(&funcs_by_id);
	map_str_create(&funcs_by_name);
}

void func_cache_free(void)
{
	uint64_t id;
	void *value;
	for (size_t pos = 0; map_u64_next(&funcs_by_id, &pos, &id, &value);)
		func_free(value);
	map_u64_destroy(&funcs_by_id);
	map_str_destroy(&funcs_by_name);
}

struct func *func_by_name(const char *name, size_t len)
{
	return map_str_get(&funcs_by_name, name, len);
}

struct func *func_by_id(uint32_t id)
{
	return map_u64_get(&funcs_by_id, id);
}

void func_foreach(void (*cb)(struct func *func, void *arg), void *arg)
{
	uint64_t id;
	void *value;
	for (size_t pos = 0; map_u64_next(&funcs_by_id, &pos, &id, &value);)
		cb(value, arg);
}

int func_access_check(struct func *func)
{
	return access_check(PRIV_EXECUTE, OBJECT_FUNCTION, func->def->name, func->def->uid,
			    &func->access);
}

void func_pin(struct func *func)
{
	func->calls++;
}

void func_unpin(struct func *func)
{
	if (--func->calls == 0 && func->is_dropped)
		func_free(func);
}

/** The function runs with its owner's rights. */
static int func_call_setuid(struct func *func, struct port *args, struct port *result)
{
	/* On this stack, since the owner may be dropped or changed while the function runs. */
	struct credentials owner;
	struct user *user = user_by_id(func->def->uid);
	if (user == NULL)
		return -1;
	credentials_create(&owner, user);
	struct credentials *caller = credentials_set(&owner);
	int rc = func->vtab->call(func, args, result);
	credentials_set(caller);
	return rc;
}

int func_call(struct func *func, struct port *args, struct port *result)
{
	if (func_access_check(func) != 0)
		return -1;
	func_pin(func);
	int rc = func->def->is_setuid ? func_call_setuid(func, args, result) :
		func->vtab->call(func, args, result);
	func_unpin(func);
	return rc;
}
