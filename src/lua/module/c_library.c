/* SPDX-License-Identifier: BSD-2-Clause
 *
 * See c_library.h.
 */
#include "lua/module/c_library.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include "core/memory.h"
#include "db/error.h"
#include "lua/bridge_impl.h"

static int ref_search_path;
/** The current versions. */
static struct list libraries = LIST_INIT(libraries);

/* Files ---------------------------------------------------------------------- */

/** Protected: (name) -> the path, or nil. */
static int search(lua_State *L)
{
	lua_getglobal(L, "package");
	lua_getfield(L, -1, "searchpath");
	lua_pushvalue(L, 1);
	lua_getfield(L, -3, "cpath");
	lua_call(L, 2, 1);
	return 1;
}

/** The library's file; the caller frees it. NULL with the error. */
static char *find_file(const char *name)
{
	char *path = NULL;
	lua_State *L = lua_state_get();
	int top = lua_gettop(L);
	lua_rawgeti(L, LUA_REGISTRYINDEX, ref_search_path);
	lua_pushstring(L, name);
	if (lua_call_protected(L, 1, 1) == 0) {
		if (lua_type(L, -1) == LUA_TSTRING)
			path = xstrdup(lua_tostring(L, -1));
		else
			client_error(ER_LOAD_MODULE, name, "module not found");
	}
	lua_settop(L, top);
	lua_state_put(L);
	return path;
}

static int copy_all(int from, int to)
{
	enum { CHUNK = 1 << 30 };
	ssize_t size;
	do {
		size = sendfile(to, from, NULL, CHUNK);
	} while (size > 0 || (size < 0 && errno == EINTR));
	return size < 0 ? -1 : 0;
}

/** A copy of the file in memory; -1 with errno. */
static int copy_file(const char *path)
{
	const char *slash = strrchr(path, '/');
	int from = open(path, O_RDONLY | O_CLOEXEC);
	if (from < 0)
		return -1;
	int to = memfd_create(slash != NULL ? slash + 1 : path, MFD_CLOEXEC);
	if (to >= 0 && copy_all(from, to) != 0) {
		int saved = errno;
		close(to);
		errno = saved;
		to = -1;
	}
	int saved = errno;
	close(from);
	errno = saved;
	return to;
}

/** The path by which the linker knows the copy. */
static const char *copy_path(int fd, char buf[32])
{
	snprintf(buf, 32, "/proc/self/fd/%d", fd);
	return buf;
}

/** The linker's message, with the file's path in place of the copy's; the caller frees it. */
static char *linker_message(int fd, const char *path)
{
	char buf[32];
	const char *copy = copy_path(fd, buf), *text = dlerror();
	size_t len = strlen(copy);
	return strncmp(text, copy, len) == 0 ? xasprintf("%s%s", path, text + len) : xstrdup(text);
}

/** Opens a copy of the file; its descriptor in *fd. NULL with the error. */
static void *open_copy(const char *name, const char *path, int *fd)
{
	char buf[32];
	*fd = copy_file(path);
	if (*fd < 0) {
		client_error(ER_LOAD_MODULE, name, strerror(errno));
		return NULL;
	}
	void *handle = dlopen(copy_path(*fd, buf), RTLD_NOW | RTLD_LOCAL);
	if (handle == NULL) {
		char *text = linker_message(*fd, path);
		client_error(ER_LOAD_MODULE, name, text);
		xfree(text);
		close(*fd);
	}
	return handle;
}

/* Libraries -------------------------------------------------------------------- */

/** Loads the file as it is now. Stands in no list. */
static struct c_library *library_new(const char *name)
{
	char *path = find_file(name);
	if (path == NULL)
		return NULL;
	int fd;
	void *handle = open_copy(name, path, &fd);
	if (handle == NULL) {
		xfree(path);
		return NULL;
	}
	struct c_library *library = xmalloc(sizeof(*library));
	*library = (struct c_library){
		.name = xstrdup(name), .path = path, .handle = handle, .fd = fd,
	};
	list_create(&library->procs);
	list_create(&library->link);
	return library;
}

static void library_delete(struct c_library *library)
{
	list_del(&library->link);
	dlclose(library->handle);
	close(library->fd);
	xfree(library->name);
	xfree(library->path);
	xfree(library);
}

static struct c_library *library_find(const char *name)
{
	struct c_library *library;
	list_foreach_entry(library, &libraries, link) {
		if (strcmp(library->name, name) == 0)
			return library;
	}
	return NULL;
}

static void delete_if_unused(struct c_library *library)
{
	if (library->calls == 0 && list_empty(&library->procs))
		library_delete(library);
}

void c_library_enter(struct c_library *library)
{
	library->calls++;
}

void c_library_leave(struct c_library *library)
{
	library->calls--;
	delete_if_unused(library);
}

/* Procedures --------------------------------------------------------------------- */

/** The function's name within the library. */
static const char *symbol_of(const char *proc_name)
{
	const char *dot = strrchr(proc_name, '.');
	return dot != NULL ? dot + 1 : proc_name;
}

static c_function find_function(const struct c_library *library, const char *symbol)
{
	c_function function;
	*(void **)&function = dlsym(library->handle, symbol);
	if (function == NULL) {
		char *text = linker_message(library->fd, library->path);
		client_error(ER_LOAD_FUNCTION, symbol, text);
		xfree(text);
	}
	return function;
}

static int bind_proc(struct c_proc *proc, struct c_library *library)
{
	proc->function = find_function(library, symbol_of(proc->name));
	if (proc->function == NULL)
		return -1;
	proc->library = library;
	list_add_tail(&library->procs, &proc->link);
	return 0;
}

int c_proc_load(struct c_proc *proc)
{
	const char *dot = strrchr(proc->name, '.');
	char *name = dot != NULL ? xstrndup(proc->name, dot - proc->name) : xstrdup(proc->name);
	struct c_library *library = library_find(name);
	if (library == NULL) {
		library = library_new(name);
		if (library != NULL)
			list_add(&libraries, &library->link);
	}
	xfree(name);
	if (library == NULL)
		return -1;
	int rc = bind_proc(proc, library);
	delete_if_unused(library);
	return rc;
}

void c_proc_unload(struct c_proc *proc)
{
	if (proc->library == NULL)
		return;
	list_del(&proc->link);
	delete_if_unused(proc->library);
	proc->library = NULL;
}

/** Has the new version all functions that are in use? */
static int check_functions(const struct c_library *old, const struct c_library *new)
{
	struct c_proc *proc;
	list_foreach_entry(proc, &old->procs, link) {
		if (find_function(new, symbol_of(proc->name)) == NULL)
			return -1;
	}
	return 0;
}

int c_library_reload(const char *name)
{
	struct c_library *old = library_find(name);
	if (old == NULL) {
		client_error(ER_NO_SUCH_MODULE, name);
		return -1;
	}
	struct c_library *new = library_new(name);
	if (new == NULL)
		return -1;
	if (check_functions(old, new) != 0) {
		library_delete(new);
		return -1;
	}
	while (!list_empty(&old->procs)) {
		struct c_proc *proc = list_entry(old->procs.next, struct c_proc, link);
		list_del(&proc->link);
		bind_proc(proc, new);
	}
	list_del(&old->link);
	list_add(&libraries, &new->link);
	delete_if_unused(old);
	return 0;
}

void c_library_init(lua_State *L)
{
	lua_pushcfunction(L, search);
	ref_search_path = lua_ref_forever(L);
}
