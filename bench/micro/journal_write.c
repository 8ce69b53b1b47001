/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What it costs to hand a commit's bytes to the kernel: pwrite() behind the end of a file,
 * into blocks that were allocated before, and a copy to a shared mapping of such a file.
 * Nanoseconds of processor time for each write, by its size. Run by hand, in a directory on
 * the device in question: `ninja bench_journal_write && ./bench_journal_write`.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { ALLOCATED = 1024 * 1024, FILE_BYTES = 64 * 1024 * 1024 };

enum way { APPEND, IN_PLACE, MAPPED, way_MAX };

static const char *const names[way_MAX] = {
	"pwrite, appending", "pwrite, allocated before", "copy to a mapping",
};

struct target {
	int fd;
	enum way way;
	/** What has blocks, and the mapping of the last of them. */
	off_t allocated;
	char *map;
};

static double now_ns(void)
{
	struct timespec ts;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return ts.tv_sec * 1e9 + ts.tv_nsec;
}

static void check(int failed, const char *what)
{
	if (!failed)
		return;
	perror(what);
	exit(1);
}

/** Takes blocks for what comes next. */
static void allocate_more(struct target *t)
{
	check(posix_fallocate(t->fd, t->allocated, ALLOCATED) != 0, "posix_fallocate");
	if (t->way == MAPPED) {
		if (t->map != NULL)
			munmap(t->map, ALLOCATED);
		t->map = mmap(NULL, ALLOCATED, PROT_READ | PROT_WRITE, MAP_SHARED, t->fd,
			      t->allocated);
		check(t->map == MAP_FAILED, "mmap");
	}
	t->allocated += ALLOCATED;
}

static void put(struct target *t, const char *data, size_t size, off_t offset)
{
	if (t->way != APPEND && offset + (off_t)size > t->allocated)
		allocate_more(t);
	if (t->way == MAPPED)
		/* No write goes over the border of two mappings: sizes divide them. */
		memcpy(t->map + offset % ALLOCATED, data, size);
	else
		check(pwrite(t->fd, data, size, offset) != (ssize_t)size, "pwrite");
}

static double measure(enum way way, size_t size)
{
	struct target t = {.way = way};
	char name[] = "journal_XXXXXX", *data = malloc(size);
	memset(data, 'x', size);
	t.fd = mkstemp(name);
	check(t.fd < 0, "mkstemp");
	unlink(name);
	int count = FILE_BYTES / size < 400000 ? FILE_BYTES / size : 400000;
	double start = now_ns();
	for (int i = 0; i < count; i++)
		put(&t, data, size, (off_t)i * size);
	double ns = (now_ns() - start) / count;
	if (t.map != NULL)
		munmap(t.map, ALLOCATED);
	close(t.fd);
	free(data);
	return ns;
}

int main(void)
{
	static const size_t sizes[] = {64, 256, 1024, 4096};
	for (int way = 0; way < way_MAX; way++) {
		printf("%-26s", names[way]);
		for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
			double best = measure(way, sizes[i]);
			for (int j = 0; j < 4; j++) {
				double again = measure(way, sizes[i]);
				best = again < best ? again : best;
			}
			printf("  %zu bytes %5.0f ns", sizes[i], best);
		}
		printf("\n");
	}
	return 0;
}
