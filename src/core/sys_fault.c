/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A disk that fails. One lock serves all: what is slow here is a test.
 */
#include "core/sys_fault.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/memory.h"

enum { FAULT_MAX = 16, FILE_MAX = 256, FULL_CALLS_MAX = 20 };

/** A file that was opened to be written. */
struct written {
	int fd;
	char *path;
	off_t size, synced;
	/** What was cut off last, or NULL: the device may not know of the cut yet. */
	char *cut;
	size_t cut_size;
};

static struct {
	pthread_mutex_t lock;
	struct sys_fault plan[FAULT_MAX];
	int plan_count;
	/** 0: not by chance. */
	uint64_t random;
	int per_mille;
	/** Calls for which the disk is still full. */
	int full_calls;
	int sync_delay_us;
	int calls[sys_call_MAX], failed[sys_call_MAX];
	struct written files[FILE_MAX];
	int file_count;
} disk = {.lock = PTHREAD_MUTEX_INITIALIZER};

/** What is to become of a call. */
struct verdict {
	int error;
	/** Bytes that are written before. */
	int partial;
};

/** xorshift64* */
static uint64_t next_random(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * UINT64_C(2685821657736338717);
}

static int dice(int sides)
{
	return (int)(next_random(&disk.random) % (uint64_t)sides);
}

/* What happens ------------------------------------------------------------ */

static struct verdict planned(enum sys_call call)
{
	for (int i = 0; i < disk.plan_count; i++) {
		struct sys_fault *f = &disk.plan[i];
		if (f->call != call || f->times == 0)
			continue;
		if (f->after > 0) {
			f->after--;
			continue;
		}
		if (f->partial > 0) {
			struct verdict v = {0, f->partial};
			f->partial = 0;
			return v;
		}
		if (f->times > 0)
			f->times--;
		return (struct verdict){f->error, 0};
	}
	return (struct verdict){0, 0};
}

/** `needs_room`: a full disk refuses it. */
static struct verdict by_chance(enum sys_call call, bool needs_room)
{
	static const int errors[sys_call_MAX] = {
		[SYS_OPEN] = EMFILE, [SYS_WRITE] = EIO, [SYS_FTRUNCATE] = EIO,
		[SYS_FDATASYNC] = EIO, [SYS_FSYNC] = EIO, [SYS_RENAME] = EROFS,
		[SYS_UNLINK] = EROFS,
	};
	if (disk.full_calls > 0 && call == SYS_WRITE && needs_room) {
		disk.full_calls--;
		return (struct verdict){ENOSPC, 0};
	}
	if (errors[call] == 0 || dice(1000) >= disk.per_mille)
		return (struct verdict){0, 0};
	if (call == SYS_WRITE && needs_room && dice(2) == 0) {
		disk.full_calls = dice(FULL_CALLS_MAX);
		return (struct verdict){0, 1 + dice(200)};
	}
	return (struct verdict){errors[call], 0};
}

/** Counts the call and decides. */
static struct verdict judge(enum sys_call call, bool needs_room)
{
	pthread_mutex_lock(&disk.lock);
	disk.calls[call]++;
	struct verdict v = planned(call);
	if (v.error == 0 && v.partial == 0 && disk.random != 0)
		v = by_chance(call, needs_room);
	disk.failed[call] += v.error != 0;
	pthread_mutex_unlock(&disk.lock);
	return v;
}

static bool fails(enum sys_call call)
{
	struct verdict v = judge(call, false);
	errno = v.error;
	return v.error != 0;
}

/* Files that are written ------------------------------------------------------ */

static struct written *find_file(int fd)
{
	for (int i = 0; i < disk.file_count; i++) {
		if (disk.files[i].fd == fd)
			return &disk.files[i];
	}
	return NULL;
}

static void forget_cut(struct written *w)
{
	xfree(w->cut);
	w->cut = NULL;
}

static void forget_file(struct written *w)
{
	forget_cut(w);
	xfree(w->path);
	*w = disk.files[--disk.file_count];
}

/** The path names no file any more, or another one. The lock is held. */
static void forget_path(const char *path)
{
	for (int i = 0; i < disk.file_count;) {
		if (strcmp(disk.files[i].path, path) == 0)
			forget_file(&disk.files[i]);
		else
			i++;
	}
}

static off_t size_of(int fd)
{
	struct stat st;
	return fstat(fd, &st) == 0 ? st.st_size : 0;
}

static void note_open(int fd, const char *path, int flags)
{
	if ((flags & O_ACCMODE) == O_RDONLY)
		return;
	off_t size = size_of(fd);
	pthread_mutex_lock(&disk.lock);
	forget_path(path);
	assert(disk.file_count < FILE_MAX);
	disk.files[disk.file_count++] = (struct written){
		.fd = fd, .path = xstrdup(path), .size = size, .synced = size,
	};
	pthread_mutex_unlock(&disk.lock);
}

static void note_size(int fd)
{
	off_t size = size_of(fd);
	pthread_mutex_lock(&disk.lock);
	struct written *w = find_file(fd);
	if (w != NULL) {
		w->size = size;
		w->synced = w->synced < w->size ? w->synced : w->size;
	}
	pthread_mutex_unlock(&disk.lock);
}

/** What was cut off is written over. */
static void note_write(int fd)
{
	note_size(fd);
	pthread_mutex_lock(&disk.lock);
	struct written *w = find_file(fd);
	if (w != NULL)
		forget_cut(w);
	pthread_mutex_unlock(&disk.lock);
}

static void note_sync(int fd)
{
	pthread_mutex_lock(&disk.lock);
	struct written *w = find_file(fd);
	if (w != NULL) {
		w->synced = w->size;
		forget_cut(w);
	}
	pthread_mutex_unlock(&disk.lock);
}

/** The file is about to be cut: keeps what is behind the new end. */
static void note_cut(int fd, off_t size)
{
	pthread_mutex_lock(&disk.lock);
	struct written *w = find_file(fd);
	int in = w != NULL && w->size > size ? open(w->path, O_RDONLY | O_CLOEXEC) : -1;
	if (in >= 0) {
		forget_cut(w);
		w->cut_size = w->size - size;
		w->cut = xmalloc(w->cut_size);
		if (pread(in, w->cut, w->cut_size, size) != (ssize_t)w->cut_size)
			forget_cut(w);
		close(in);
	}
	pthread_mutex_unlock(&disk.lock);
}

static void note_close(int fd)
{
	pthread_mutex_lock(&disk.lock);
	struct written *w = find_file(fd);
	if (w != NULL)
		w->fd = -1;
	pthread_mutex_unlock(&disk.lock);
}

static void note_unlink(const char *path)
{
	pthread_mutex_lock(&disk.lock);
	forget_path(path);
	pthread_mutex_unlock(&disk.lock);
}

static void note_rename(const char *from, const char *to)
{
	pthread_mutex_lock(&disk.lock);
	forget_path(to);
	for (int i = 0; i < disk.file_count; i++) {
		if (strcmp(disk.files[i].path, from) == 0) {
			xfree(disk.files[i].path);
			disk.files[i].path = xstrdup(to);
		}
	}
	pthread_mutex_unlock(&disk.lock);
}

/* The table ----------------------------------------------------------------- */

/**
 * Held by calls that change files, for as long as they take, so that they are whole before
 * a loss of power; no other begins, or ends, behind it.
 */
static pthread_rwlock_t power = PTHREAD_RWLOCK_INITIALIZER;

static void change_begin(void)
{
	pthread_rwlock_rdlock(&power);
}

static void change_end(void)
{
	int saved_errno = errno;
	pthread_rwlock_unlock(&power);
	errno = saved_errno;
}

static int faulty_open(const char *path, int flags, mode_t mode)
{
	if (fails(SYS_OPEN))
		return -1;
	change_begin();
	int fd = sys_real.open(path, flags, mode);
	if (fd >= 0)
		note_open(fd, path, flags);
	change_end();
	return fd;
}

static int faulty_close(int fd)
{
	note_close(fd);
	return sys_real.close(fd);
}

static ssize_t faulty_read(int fd, void *buf, size_t size)
{
	return fails(SYS_READ) ? -1 : sys_real.read(fd, buf, size);
}

static ssize_t faulty_pread(int fd, void *buf, size_t size, off_t offset)
{
	return fails(SYS_READ) ? -1 : sys_real.pread(fd, buf, size, offset);
}

static ssize_t faulty_pwrite(int fd, const void *buf, size_t size, off_t offset)
{
	struct verdict v = judge(SYS_WRITE, offset + (off_t)size > size_of(fd));
	if (v.error != 0) {
		errno = v.error;
		return -1;
	}
	if (v.partial > 0 && (size_t)v.partial < size)
		size = v.partial;
	change_begin();
	ssize_t n = sys_real.pwrite(fd, buf, size, offset);
	note_write(fd);
	change_end();
	return n;
}

static int faulty_ftruncate(int fd, off_t size)
{
	if (fails(SYS_FTRUNCATE))
		return -1;
	change_begin();
	note_cut(fd, size);
	int rc = sys_real.ftruncate(fd, size);
	note_size(fd);
	change_end();
	return rc;
}

static int faulty_sync(int fd, enum sys_call call, int (*sync)(int))
{
	if (disk.sync_delay_us > 0)
		usleep(disk.sync_delay_us);
	if (fails(call))
		return -1;
	int rc = sync(fd);
	change_begin();
	if (rc == 0)
		note_sync(fd);
	change_end();
	return rc;
}

static int faulty_fdatasync(int fd)
{
	return faulty_sync(fd, SYS_FDATASYNC, sys_real.fdatasync);
}

static int faulty_fsync(int fd)
{
	return faulty_sync(fd, SYS_FSYNC, sys_real.fsync);
}

static int faulty_rename(const char *from, const char *to)
{
	if (fails(SYS_RENAME))
		return -1;
	change_begin();
	int rc = sys_real.rename(from, to);
	if (rc == 0)
		note_rename(from, to);
	change_end();
	return rc;
}

static int faulty_unlink(const char *path)
{
	if (fails(SYS_UNLINK))
		return -1;
	change_begin();
	int rc = sys_real.unlink(path);
	if (rc == 0)
		note_unlink(path);
	change_end();
	return rc;
}

const struct sys sys_faulty = {
	.open = faulty_open,
	.close = faulty_close,
	.read = faulty_read,
	.pread = faulty_pread,
	.pwrite = faulty_pwrite,
	.lseek = lseek,
	.ftruncate = faulty_ftruncate,
	.fdatasync = faulty_fdatasync,
	.fsync = faulty_fsync,
	.rename = faulty_rename,
	.unlink = faulty_unlink,
	.fstat = fstat,
};

/* Plans ------------------------------------------------------------------------ */

void sys_fault_plan(const struct sys_fault *faults, int count)
{
	assert(count <= FAULT_MAX);
	pthread_mutex_lock(&disk.lock);
	memcpy(disk.plan, faults, count * sizeof(*faults));
	disk.plan_count = count;
	pthread_mutex_unlock(&disk.lock);
}

void sys_fault_random(uint64_t seed, int per_mille)
{
	pthread_mutex_lock(&disk.lock);
	disk.random = seed * 2 + 1;
	disk.per_mille = per_mille;
	pthread_mutex_unlock(&disk.lock);
}

/** Of files that are closed nothing is known any more. The lock is held. */
static void forget_closed(void)
{
	for (int i = 0; i < disk.file_count;) {
		if (disk.files[i].fd >= 0)
			i++;
		else
			forget_file(&disk.files[i]);
	}
}

void sys_fault_clear(void)
{
	pthread_mutex_lock(&disk.lock);
	disk.plan_count = 0;
	disk.random = 0;
	disk.full_calls = 0;
	disk.sync_delay_us = 0;
	memset(disk.calls, 0, sizeof(disk.calls));
	memset(disk.failed, 0, sizeof(disk.failed));
	forget_closed();
	pthread_mutex_unlock(&disk.lock);
}

void sys_fault_delay_sync(int microseconds)
{
	disk.sync_delay_us = microseconds;
}

int sys_fault_calls(enum sys_call call)
{
	return disk.calls[call];
}

int sys_fault_failed(enum sys_call call)
{
	return disk.failed[call];
}

/** Cuts a file to what was synced and, by chance, some of the rest or zeros in its place. */
static void lose_tail(const struct written *w, uint64_t *random)
{
	off_t lost = w->size - w->synced;
	uint64_t roll = next_random(random);
	off_t kept = lost > 0 && roll % 3 != 0 ? (off_t)(next_random(random) % (uint64_t)lost) : 0;
	if (truncate(w->path, w->synced + kept) != 0)
		return;
	/* The new length was on the disk, the data was not. */
	if (roll % 3 == 2 && truncate(w->path, w->size) != 0)
		return;
}

/** The device did not know of the cut. */
static void undo_cut(const struct written *w)
{
	int fd = open(w->path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	if (pwrite(fd, w->cut, w->cut_size, w->size) != (ssize_t)w->cut_size)
		perror(w->path);
	close(fd);
}

void sys_fault_power_loss(uint64_t seed)
{
	uint64_t random = seed * 2 + 1;
	pthread_rwlock_wrlock(&power);
	for (int i = 0; i < disk.file_count; i++) {
		const struct written *w = &disk.files[i];
		if (w->cut != NULL && next_random(&random) % 2 == 0)
			undo_cut(w);
		else if (w->size > w->synced)
			lose_tail(w, &random);
	}
}
