/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What a loss of power leaves of a journal that was just made: nothing, a part of its
 * header, zeros in place of what had a length already.
 */
#include <fcntl.h>

#include "core/sys.h"
#include "db/wal/xlog.h"

/** Bytes of `data` before the first zero. */
static size_t text_length(const char *data, size_t size)
{
	const char *zero = memchr(data, 0, size);
	return zero != NULL ? (size_t)(zero - data) : size;
}

/** Could it be the beginning of a journal's header that was cut off? */
static bool is_cut_header(const char *text, size_t len)
{
	static const char first_line[] = "XLOG\n";
	size_t n = len < sizeof(first_line) - 1 ? len : sizeof(first_line) - 1;
	return len < XLOG_META_SIZE_MAX && memcmp(text, first_line, n) == 0 &&
	       memmem(text, len, "\n\n", 2) == NULL;
}

static bool is_zero(const char *data, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		if (data[i] != 0)
			return false;
	}
	return true;
}

bool xlog_is_blank(const char *path, uint64_t *size)
{
	int fd = sys->open(path, O_RDONLY | O_CLOEXEC, 0);
	if (fd < 0)
		return false;
	char data[XLOG_META_SIZE_MAX];
	ssize_t n = sys->read(fd, data, sizeof(data));
	size_t text = n > 0 ? text_length(data, n) : 0;
	bool blank = n >= 0 && is_cut_header(data, text) && is_zero(data + text, n - text);
	*size = 0;
	while (blank && n > 0) {
		*size += n;
		n = sys->read(fd, data, sizeof(data));
		blank = n <= 0 || is_zero(data, n);
	}
	sys->close(fd);
	return blank && n == 0;
}
