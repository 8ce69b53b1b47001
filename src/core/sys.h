/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The outside world, as the layers above see it: files and clocks behind one
 * table of functions, so that tests run the same code against a simulated disk
 * or clock with injected faults. Semantics, return values and errno are those
 * of the POSIX call of the same name.
 */
#pragma once

#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

struct sys {
	int (*open)(const char *path, int flags, mode_t mode);
	int (*close)(int fd);
	ssize_t (*read)(int fd, void *buf, size_t size);
	ssize_t (*pread)(int fd, void *buf, size_t size, off_t offset);
	ssize_t (*pwrite)(int fd, const void *buf, size_t size, off_t offset);
	off_t (*lseek)(int fd, off_t offset, int whence);
	int (*ftruncate)(int fd, off_t size);
	int (*fdatasync)(int fd);
	int (*fsync)(int fd);
	int (*rename)(const char *from, const char *to);
	int (*unlink)(const char *path);
	int (*fstat)(int fd, struct stat *st);
};

/** The table in force; at first the real system. */
extern const struct sys *sys;
extern const struct sys sys_real;

/** Seconds of the wall clock, read now. */
double clock_realtime(void);
/** Seconds of the monotonic clock, read now. */
double clock_monotonic(void);
/** Nanoseconds of the monotonic clock, read now. */
uint64_t clock_monotonic_ns(void);
