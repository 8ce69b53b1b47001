/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The C side of the module `fio`: each function is one system call, or a few,
 * carried out by a worker thread while the fiber waits, so that a slow disk
 * holds up nobody else. fio.lua checks arguments before they come here.
 *
 * Every function returns its result, or nil and a SystemError whose text is
 * "fio: " and what the system says; errno() has the number.
 */
#include <errno.h>
#include <dirent.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/buf.h"
#include "core/memory.h"
#include "core/worker.h"
#include "lua/bridge.h"
#include "lua/finalizer.h"
#include "lua/modules.h"

/** An operation on its way through a worker. It lives on the waiting fiber's stack. */
struct op {
	intptr_t (*run)(struct op *op);
	/** Paths and data are strings that the caller's Lua stack holds. */
	const char *path, *path2;
	const char *data;
	char *out;
	size_t size;
	off_t offset;
	/** Of a read or write: at the offset, not where the file stands. */
	bool is_at_offset;
	int fd, flags;
	mode_t mode;
	uid_t uid;
	gid_t gid;
	struct stat st;
	struct buf names;
	double atime, mtime;
	intptr_t result;
	int error;
};

static int run_op(void *arg)
{
	struct op *op = arg;
	errno = 0;
	op->result = op->run(op);
	op->error = op->result < 0 ? errno : 0;
	return 0;
}

/**
 * Carries the operation out; true where it succeeded. Else errno tells why; it is 0 where
 * no fiber may yield now: then an error is set. Yields.
 */
static bool call_op(struct op *op, intptr_t (*run)(struct op *op))
{
	op->run = run;
	op->result = -1;
	op->error = 0;
	worker_call(run_op, op);
	errno = op->error;
	return op->result >= 0;
}

/** After a call_op() that failed, with its errno. [raises] where it was refused. */
static int push_failure(lua_State *L)
{
	if (errno == 0)
		return lua_throw(L);
	int saved = errno;
	diag_set_errno(SystemError, "fio");
	lua_push_failure(L);
	errno = saved;
	return 2;
}

/** Pushes `true`, or nil and the error. */
static int finish(lua_State *L, bool ok)
{
	if (!ok)
		return push_failure(L);
	lua_pushboolean(L, true);
	return 1;
}

static int finish_number(lua_State *L, struct op *op, bool ok)
{
	if (!ok)
		return push_failure(L);
	lua_pushnumber(L, op->result);
	return 1;
}

/** A path, which may hold no zero: the system would look at what is before it. [raises] */
static const char *check_path(lua_State *L, int idx)
{
	size_t len;
	const char *path = luaL_checklstring(L, idx, &len);
	if (strlen(path) != len)
		luaL_error(L, "fio: a path may not contain a zero byte");
	return path;
}

/* Files ----------------------------------------------------------------- */

static intptr_t run_open(struct op *op)
{
	return open(op->path, op->flags | O_CLOEXEC, op->mode);
}

static int fio_open(lua_State *L)
{
	struct op op = {.path = check_path(L, 1), .flags = luaL_checkint(L, 2),
			.mode = luaL_checkint(L, 3)};
	return finish_number(L, &op, call_op(&op, run_open));
}

static intptr_t run_close(struct op *op)
{
	return close(op->fd);
}

static int fio_close(lua_State *L)
{
	struct op op = {.fd = luaL_checkint(L, 1)};
	/* Finalizers close files, and may not wait. */
	bool ok = lua_in_finalizer(L) ? run_close(&op) == 0 : call_op(&op, run_close);
	return finish(L, ok);
}

static intptr_t run_read(struct op *op)
{
	return op->is_at_offset ? pread(op->fd, op->out, op->size, op->offset)
				: read(op->fd, op->out, op->size);
}

/** read(fd, size[, offset]): a string, shorter than asked for at the end of the file. */
static int fio_read(lua_State *L)
{
	struct op op = {.fd = luaL_checkint(L, 1), .size = luaL_checknumber(L, 2),
			.offset = luaL_optnumber(L, 3, 0),
			.is_at_offset = !lua_isnoneornil(L, 3)};
	op.out = malloc(op.size + 1);
	if (op.out == NULL) {
		errno = ENOMEM;
		return push_failure(L);
	}
	bool ok = call_op(&op, run_read);
	/* The buffer must go even if the string can't be made. */
	struct buf *scratch = lua_scratch_get();
	if (ok)
		buf_append(scratch, op.out, op.result);
	free(op.out);
	if (!ok) {
		lua_scratch_put(scratch);
		errno = op.error;
		return push_failure(L);
	}
	lua_pushlstring(L, scratch->data, scratch->size);
	lua_scratch_put(scratch);
	return 1;
}

/** Writes all of it, in as many pieces as it takes. */
static intptr_t run_write(struct op *op)
{
	size_t done = 0;
	while (done < op->size) {
		ssize_t n = op->is_at_offset ?
			pwrite(op->fd, op->data + done, op->size - done, op->offset + done) :
			write(op->fd, op->data + done, op->size - done);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		done += n;
	}
	return done;
}

static int fio_write(lua_State *L)
{
	struct op op = {.fd = luaL_checkint(L, 1), .offset = luaL_optnumber(L, 3, 0),
			.is_at_offset = !lua_isnoneornil(L, 3)};
	op.data = luaL_checklstring(L, 2, &op.size);
	return finish(L, call_op(&op, run_write));
}

static intptr_t run_seek(struct op *op)
{
	return lseek(op->fd, op->offset, op->flags);
}

static int fio_seek(lua_State *L)
{
	struct op op = {.fd = luaL_checkint(L, 1), .offset = luaL_checknumber(L, 2),
			.flags = luaL_checkint(L, 3)};
	return finish_number(L, &op, call_op(&op, run_seek));
}

static intptr_t run_ftruncate(struct op *op)
{
	return ftruncate(op->fd, op->offset);
}

static int fio_ftruncate(lua_State *L)
{
	struct op op = {.fd = luaL_checkint(L, 1), .offset = luaL_checknumber(L, 2)};
	return finish(L, call_op(&op, run_ftruncate));
}

static intptr_t run_fsync(struct op *op)
{
	return op->flags ? fdatasync(op->fd) : fsync(op->fd);
}

static int fio_fsync(lua_State *L)
{
	struct op op = {.fd = luaL_checkint(L, 1), .flags = lua_toboolean(L, 2)};
	return finish(L, call_op(&op, run_fsync));
}

/* Attributes -------------------------------------------------------------- */

static void push_stat(lua_State *L, const struct stat *st)
{
	const struct { const char *name; double value; } fields[] = {
		{"dev", st->st_dev}, {"inode", st->st_ino}, {"mode", st->st_mode},
		{"nlink", st->st_nlink}, {"uid", st->st_uid}, {"gid", st->st_gid},
		{"rdev", st->st_rdev}, {"size", st->st_size}, {"blksize", st->st_blksize},
		{"blocks", st->st_blocks},
		{"atime", st->st_atim.tv_sec + st->st_atim.tv_nsec / 1e9},
		{"mtime", st->st_mtim.tv_sec + st->st_mtim.tv_nsec / 1e9},
		{"ctime", st->st_ctim.tv_sec + st->st_ctim.tv_nsec / 1e9},
	};
	enum { COUNT = sizeof(fields) / sizeof(fields[0]) };
	lua_createtable(L, 0, COUNT);
	for (int i = 0; i < COUNT; i++) {
		lua_pushnumber(L, fields[i].value);
		lua_setfield(L, -2, fields[i].name);
	}
}

static int finish_stat(lua_State *L, struct op *op, bool ok)
{
	if (!ok)
		return push_failure(L);
	push_stat(L, &op->st);
	return 1;
}

static intptr_t run_stat(struct op *op)
{
	return stat(op->path, &op->st);
}

static intptr_t run_lstat(struct op *op)
{
	return lstat(op->path, &op->st);
}

static intptr_t run_fstat(struct op *op)
{
	return fstat(op->fd, &op->st);
}

static int fio_stat(lua_State *L)
{
	struct op op = {.path = check_path(L, 1)};
	return finish_stat(L, &op, call_op(&op, run_stat));
}

static int fio_lstat(lua_State *L)
{
	struct op op = {.path = check_path(L, 1)};
	return finish_stat(L, &op, call_op(&op, run_lstat));
}

static int fio_fstat(lua_State *L)
{
	struct op op = {.fd = luaL_checkint(L, 1)};
	return finish_stat(L, &op, call_op(&op, run_fstat));
}

static intptr_t run_chmod(struct op *op)
{
	return chmod(op->path, op->mode);
}

static int fio_chmod(lua_State *L)
{
	struct op op = {.path = check_path(L, 1), .mode = luaL_checkint(L, 2)};
	return finish(L, call_op(&op, run_chmod));
}

static intptr_t run_chown(struct op *op)
{
	return chown(op->path, op->uid, op->gid);
}

static int fio_chown(lua_State *L)
{
	struct op op = {.path = check_path(L, 1), .uid = luaL_checknumber(L, 2),
			.gid = luaL_checknumber(L, 3)};
	return finish(L, call_op(&op, run_chown));
}

static intptr_t run_utime(struct op *op)
{
	struct timespec times[2] = {
		{op->atime, (op->atime - (time_t)op->atime) * 1e9},
		{op->mtime, (op->mtime - (time_t)op->mtime) * 1e9},
	};
	return utimensat(AT_FDCWD, op->path, times, 0);
}

static int fio_utime(lua_State *L)
{
	struct op op = {.path = check_path(L, 1), .atime = luaL_checknumber(L, 2),
			.mtime = luaL_checknumber(L, 3)};
	return finish(L, call_op(&op, run_utime));
}

static intptr_t run_truncate(struct op *op)
{
	return truncate(op->path, op->offset);
}

static int fio_truncate(lua_State *L)
{
	struct op op = {.path = check_path(L, 1), .offset = luaL_checknumber(L, 2)};
	return finish(L, call_op(&op, run_truncate));
}

/* Directories and names ---------------------------------------------------- */

static intptr_t run_mkdir(struct op *op)
{
	return mkdir(op->path, op->mode);
}

static int fio_mkdir(lua_State *L)
{
	struct op op = {.path = check_path(L, 1), .mode = luaL_checkint(L, 2)};
	return finish(L, call_op(&op, run_mkdir));
}

static intptr_t run_rmdir(struct op *op)
{
	return rmdir(op->path);
}

static int fio_rmdir(lua_State *L)
{
	struct op op = {.path = check_path(L, 1)};
	return finish(L, call_op(&op, run_rmdir));
}

static intptr_t run_unlink(struct op *op)
{
	return unlink(op->path);
}

static int fio_unlink(lua_State *L)
{
	struct op op = {.path = check_path(L, 1)};
	return finish(L, call_op(&op, run_unlink));
}

/** A binding of a call with two paths. */
#define TWO_PATHS(name, call) \
	static intptr_t run_##name(struct op *op) \
	{ \
		return call(op->path, op->path2); \
	} \
	static int fio_##name(lua_State *L) \
	{ \
		struct op op = {.path = check_path(L, 1), .path2 = check_path(L, 2)}; \
		return finish(L, call_op(&op, run_##name)); \
	}
TWO_PATHS(rename, rename)
TWO_PATHS(link, link)
TWO_PATHS(symlink, symlink)
#undef TWO_PATHS

static intptr_t run_readlink(struct op *op)
{
	return readlink(op->path, op->out, op->size);
}

static int fio_readlink(lua_State *L)
{
	char target[PATH_MAX];
	struct op op = {.path = check_path(L, 1), .out = target, .size = sizeof(target)};
	if (!call_op(&op, run_readlink))
		return push_failure(L);
	lua_pushlstring(L, target, op.result);
	return 1;
}

/** Collects the names, each with its zero. */
static intptr_t run_listdir(struct op *op)
{
	DIR *dir = opendir(op->path);
	if (dir == NULL)
		return -1;
	struct dirent *entry;
	while ((entry = readdir(dir)) != NULL) {
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			buf_append(&op->names, entry->d_name, strlen(entry->d_name) + 1);
	}
	closedir(dir);
	return 0;
}

static intptr_t run_glob(struct op *op)
{
	glob_t g;
	int rc = glob(op->path, 0, NULL, &g);
	if (rc == GLOB_NOMATCH)
		return 0;
	if (rc != 0) {
		errno = rc == GLOB_NOSPACE ? ENOMEM : EIO;
		return -1;
	}
	for (size_t i = 0; i < g.gl_pathc; i++)
		buf_append(&op->names, g.gl_pathv[i], strlen(g.gl_pathv[i]) + 1);
	globfree(&g);
	return 0;
}

/** Pushes the collected names as a list. The buffer is a scratch one: an error frees it. */
static int push_names(lua_State *L, struct op *op, intptr_t (*run)(struct op *op))
{
	bool ok = call_op(op, run);
	struct buf *scratch = lua_scratch_get();
	buf_append(scratch, op->names.data, op->names.size);
	buf_free(&op->names);
	if (!ok) {
		lua_scratch_put(scratch);
		errno = op->error;
		return push_failure(L);
	}
	lua_newtable(L);
	int count = 0;
	for (size_t pos = 0; pos < scratch->size; pos += strlen(scratch->data + pos) + 1) {
		lua_pushstring(L, scratch->data + pos);
		lua_rawseti(L, -2, ++count);
	}
	lua_scratch_put(scratch);
	return 1;
}

static int fio_listdir(lua_State *L)
{
	struct op op = {.path = check_path(L, 1), .names = BUF_INIT};
	return push_names(L, &op, run_listdir);
}

static int fio_glob(lua_State *L)
{
	struct op op = {.path = check_path(L, 1), .names = BUF_INIT};
	return push_names(L, &op, run_glob);
}

static intptr_t run_tempdir(struct op *op)
{
	return mkdtemp(op->out) == NULL ? -1 : 0;
}

/** tempdir(parent): makes a directory of a fresh name. */
static int fio_tempdir(lua_State *L)
{
	char path[PATH_MAX];
	struct op op = {.out = path};
	if (snprintf(path, sizeof(path), "%s/XXXXXX", check_path(L, 1)) >= (int)sizeof(path)) {
		errno = ENAMETOOLONG;
		return push_failure(L);
	}
	if (!call_op(&op, run_tempdir))
		return push_failure(L);
	lua_pushstring(L, path);
	return 1;
}

static intptr_t copy_data(int from, int to)
{
	char block[64 * 1024];
	ssize_t n;
	while ((n = read(from, block, sizeof(block))) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		struct op part = {.fd = to, .data = block, .size = n};
		if (n < 0 || run_write(&part) < 0)
			return -1;
	}
	return 0;
}

static intptr_t run_copyfile(struct op *op)
{
	int from = open(op->path, O_RDONLY | O_CLOEXEC);
	if (from < 0)
		return -1;
	intptr_t rc = -1;
	int to = -1;
	if (fstat(from, &op->st) == 0)
		to = open(op->path2, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC,
			  op->st.st_mode & 0777);
	if (to >= 0)
		rc = copy_data(from, to);
	int saved = errno;
	close(from);
	if (to >= 0 && close(to) != 0 && rc == 0)
		return -1;
	errno = saved;
	return rc;
}

static int fio_copyfile(lua_State *L)
{
	struct op op = {.path = check_path(L, 1), .path2 = check_path(L, 2)};
	return finish(L, call_op(&op, run_copyfile));
}

static intptr_t run_sync(struct op *op)
{
	sync();
	return 0;
}

static int fio_sync(lua_State *L)
{
	struct op op = {0};
	return finish(L, call_op(&op, run_sync));
}

/* The process: no disk is touched, so no worker is needed. ------------------ */

static int fio_umask(lua_State *L)
{
	lua_pushinteger(L, umask(luaL_checkint(L, 1)));
	return 1;
}

static int fio_chdir(lua_State *L)
{
	return finish(L, chdir(check_path(L, 1)) == 0);
}

static int fio_cwd(lua_State *L)
{
	char path[PATH_MAX];
	if (getcwd(path, sizeof(path)) == NULL)
		return push_failure(L);
	lua_pushstring(L, path);
	return 1;
}

struct constant { const char *name; int value; };

static void push_constants(lua_State *L, const char *name, const struct constant *c)
{
	lua_newtable(L);
	for (; c->name != NULL; c++) {
		lua_pushinteger(L, c->value);
		lua_setfield(L, -2, c->name);
	}
	lua_setfield(L, -2, name);
}

#define C(name) {#name, name}
static const struct constant open_flags[] = {
	C(O_APPEND), C(O_ASYNC), C(O_CLOEXEC), C(O_CREAT), C(O_DIRECT), C(O_DIRECTORY),
	C(O_EXCL), C(O_LARGEFILE), C(O_NDELAY), C(O_NOATIME), C(O_NOCTTY), C(O_NOFOLLOW),
	C(O_NONBLOCK), C(O_PATH), C(O_RDONLY), C(O_RDWR), C(O_SYNC), C(O_TMPFILE),
	C(O_TRUNC), C(O_WRONLY), {NULL, 0},
};
static const struct constant modes[] = {
	C(S_IRWXU), C(S_IRUSR), C(S_IWUSR), C(S_IXUSR), C(S_IRWXG), C(S_IRGRP), C(S_IWGRP),
	C(S_IXGRP), C(S_IRWXO), C(S_IROTH), C(S_IWOTH), C(S_IXOTH), {NULL, 0},
};
static const struct constant whences[] = {
	C(SEEK_SET), C(SEEK_CUR), C(SEEK_END), C(SEEK_DATA), C(SEEK_HOLE), {NULL, 0},
};
static const struct constant types[] = {
	C(S_IFMT), C(S_IFSOCK), C(S_IFLNK), C(S_IFREG), C(S_IFBLK), C(S_IFDIR), C(S_IFCHR),
	C(S_IFIFO), {NULL, 0},
};
#undef C

void lua_fio_init(lua_State *L)
{
	static const luaL_Reg functions[] = {
		{"open", fio_open}, {"close", fio_close}, {"read", fio_read},
		{"write", fio_write}, {"seek", fio_seek}, {"ftruncate", fio_ftruncate},
		{"fsync", fio_fsync}, {"stat", fio_stat}, {"lstat", fio_lstat},
		{"fstat", fio_fstat}, {"chmod", fio_chmod}, {"chown", fio_chown},
		{"utime", fio_utime}, {"truncate", fio_truncate}, {"mkdir", fio_mkdir},
		{"rmdir", fio_rmdir}, {"unlink", fio_unlink}, {"rename", fio_rename},
		{"link", fio_link}, {"symlink", fio_symlink}, {"readlink", fio_readlink},
		{"listdir", fio_listdir}, {"glob", fio_glob}, {"tempdir", fio_tempdir},
		{"copyfile", fio_copyfile}, {"sync", fio_sync}, {"umask", fio_umask},
		{"chdir", fio_chdir}, {"cwd", fio_cwd}, {NULL, NULL},
	};
	lua_new_module(L, "tarn.fio", functions);
	push_constants(L, "flag", open_flags);
	push_constants(L, "mode", modes);
	push_constants(L, "seek_from", whences);
	push_constants(L, "type", types);
	lua_pop(L, 1);
	lua_load_embedded(L, "fio.lua", "fio");
}
