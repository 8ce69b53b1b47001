/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Directories of journals and snapshots: what is in them, by the signatures
 * that the names are made of.
 */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "core/diag.h"
#include "core/log.h"
#include "core/memory.h"
#include "core/sys.h"
#include "db/wal/xlog.h"

enum { SIGNATURE_DIGITS = 20 };

/** The signature of a name of 20 digits and `suffix`; -1 for any other name. */
static int64_t parse_name(const char *name, const char *suffix)
{
	int64_t value = 0;
	for (int i = 0; i < SIGNATURE_DIGITS; i++) {
		if (name[i] < '0' || name[i] > '9' || value > (INT64_MAX - 9) / 10)
			return -1;
		value = value * 10 + (name[i] - '0');
	}
	return strcmp(name + SIGNATURE_DIGITS, suffix) == 0 ? value : -1;
}

static int compare_signatures(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
	return x < y ? -1 : x > y;
}

int xlog_list_read(struct xlog_list *list, const char *dir, enum xlog_type type)
{
	list->signature = NULL;
	list->count = 0;
	DIR *d = opendir(dir);
	if (d == NULL) {
		diag_set_errno(SystemError, "can't open directory '%s'", dir);
		return -1;
	}
	size_t capacity = 0;
	struct dirent *entry;
	while ((errno = 0, entry = readdir(d)) != NULL) {
		int64_t signature = parse_name(entry->d_name, xlog_type_suffixes[type]);
		if (signature < 0)
			continue;
		if (list->count == capacity) {
			capacity = capacity == 0 ? 16 : capacity * 2;
			list->signature = xrealloc(list->signature,
						   capacity * sizeof(*list->signature));
		}
		list->signature[list->count++] = signature;
	}
	int rc = errno == 0 ? 0 : -1;
	if (rc != 0) {
		diag_set_errno(SystemError, "can't read directory '%s'", dir);
		xlog_list_free(list);
	}
	closedir(d);
	if (rc == 0 && list->count > 0)
		qsort(list->signature, list->count, sizeof(*list->signature), compare_signatures);
	return rc;
}

void xlog_list_free(struct xlog_list *list)
{
	xfree(list->signature);
	list->signature = NULL;
	list->count = 0;
}

char *xlog_path(const char *dir, int64_t signature, enum xlog_type type)
{
	return xasprintf("%s/%020" PRId64 "%s", dir, signature, xlog_type_suffixes[type]);
}

void xlog_remove_unfinished(const char *dir, enum xlog_type type)
{
	DIR *d = opendir(dir);
	if (d == NULL)
		return;
	char *suffix = xasprintf("%s" XLOG_INPROGRESS, xlog_type_suffixes[type]);
	struct dirent *entry;
	while ((entry = readdir(d)) != NULL) {
		if (parse_name(entry->d_name, suffix) < 0)
			continue;
		char *path = xasprintf("%s/%s", dir, entry->d_name);
		if (sys->unlink(path) != 0)
			say_syserror("can't remove the unfinished file '%s'", path);
		else
			say_info("removed the unfinished file '%s'", path);
		xfree(path);
	}
	xfree(suffix);
	closedir(d);
}
