/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Shared libraries with stored procedures in C: finding, loading, loading anew.
 *
 * A library is loaded from a copy in memory, so that the file may be overwritten or
 * replaced while it is in use, and so that two versions of one file can be loaded at a
 * time. A version that was replaced is unloaded when its last call ends, one that no
 * procedure belongs to any more, at once.
 */
#pragma once

#include <stdint.h>

#include "core/list.h"

struct lua_State;
struct box_function_ctx;

/** box_function_f of tarn/module.h. */
typedef int (*c_function)(struct box_function_ctx *ctx, const char *args, const char *args_end);

struct c_library {
	/** What stands before the last dot of a procedure's name, or all of it. */
	char *name;
	/** The file it was loaded from. */
	char *path;
	void *handle;
	/** The copy that was loaded; while it is open, no other has its path. */
	int fd;
	/** struct c_proc, those that were called once. */
	struct list procs;
	/** Calls that run now. */
	uint32_t calls;
	/** In the list of those that are current; private. */
	struct list link;
};

struct c_proc {
	/** `library.function`, or a name that is both. Borrowed. */
	const char *name;
	/** NULL until c_proc_load(). */
	struct c_library *library;
	c_function function;
	struct list link;
};

/** Finds the procedure, and loads its library at need. -1: ER_LOAD_MODULE, ER_LOAD_FUNCTION. */
int c_proc_load(struct c_proc *proc);

/** Takes the procedure from its library. */
void c_proc_unload(struct c_proc *proc);

/** The library stays loaded between the two. */
void c_library_enter(struct c_library *library);
void c_library_leave(struct c_library *library);

/**
 * Loads the library again and takes its procedures to the new version. -1, and nothing
 * has changed: ER_NO_SUCH_MODULE where it is not loaded, ER_LOAD_MODULE, ER_LOAD_FUNCTION.
 */
int c_library_reload(const char *name);

void c_library_init(struct lua_State *L);
