/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The real system behind the table of functions, and the clocks.
 */
#include "core/sys.h"

#include <fcntl.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

/* open() takes its mode through an ellipsis; the table wants a fixed signature. */
static int real_open(const char *path, int flags, mode_t mode)
{
	return open(path, flags | O_CLOEXEC, mode);
}

const struct sys sys_real = {
	.open = real_open,
	.close = close,
	.read = read,
	.pread = pread,
	.pwrite = pwrite,
	.lseek = lseek,
	.ftruncate = ftruncate,
	.fdatasync = fdatasync,
	.fsync = fsync,
	.rename = rename,
	.unlink = unlink,
	.fstat = fstat,
};

const struct sys *sys = &sys_real;

double clock_realtime(void)
{
	struct timespec ts;
	clock_gettime(CLOCK_REALTIME, &ts);
	return ts.tv_sec + ts.tv_nsec * 1e-9;
}

double clock_monotonic(void)
{
	struct timespec ts;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec * 1e-9;
}

uint64_t clock_monotonic_ns(void)
{
	struct timespec ts;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}
