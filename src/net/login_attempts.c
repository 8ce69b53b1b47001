/* SPDX-License-Identifier: BSD-2-Clause
 *
 * See login_attempts.h.
 */
#include "net/login_attempts.h"

#include <string.h>

#include "core/list.h"
#include "core/map.h"
#include "core/memory.h"
#include "core/sys.h"
#include "net/auth.h"

/** Of longer names so much counts. */
enum { NAME_KEPT_MAX = 256 };

struct attempts {
	/** When the first of those that count failed. */
	double first;
	double count;
	size_t name_len;
	struct list link;
	char name[];
};

static struct map_str by_name;
/** Oldest first. */
static struct list by_time = LIST_INIT(by_time);

static void forget(struct attempts *a)
{
	map_str_del(&by_name, a->name, a->name_len);
	list_del(&a->link);
	xfree(a);
}

/** Those that count no more make room. */
static void forget_old(double now)
{
	while (!list_empty(&by_time)) {
		struct attempts *a = list_first_entry(&by_time, struct attempts, link);
		if (now - a->first < auth_config.delay && by_name.count <= LOGIN_NAMES_MAX)
			return;
		forget(a);
	}
}

static size_t kept(size_t len)
{
	return len < NAME_KEPT_MAX ? len : NAME_KEPT_MAX;
}

static struct attempts *find(const char *name, size_t len)
{
	return by_name.count > 0 ? map_str_get(&by_name, name, kept(len)) : NULL;
}

bool login_attempt_is_allowed(const char *name, size_t len)
{
	if (auth_config.delay <= 0)
		return true;
	forget_old(clock_monotonic());
	const struct attempts *a = find(name, len);
	return a == NULL || a->count <= auth_config.retries;
}

void login_attempt_note(const char *name, size_t len, bool is_success)
{
	struct attempts *a = find(name, len);
	if (is_success && a != NULL)
		forget(a);
	if (is_success || auth_config.delay <= 0)
		return;
	if (a != NULL) {
		a->count++;
		return;
	}
	if (by_name.slots == NULL)
		map_str_create(&by_name);
	len = kept(len);
	a = xmalloc(sizeof(*a) + len);
	a->first = clock_monotonic();
	a->count = 1;
	a->name_len = len;
	memcpy(a->name, name, len);
	list_add_tail(&by_time, &a->link);
	map_str_put(&by_name, name, len, a);
	forget_old(a->first);
}

void login_attempts_free(void)
{
	while (!list_empty(&by_time))
		forget(list_first_entry(&by_time, struct attempts, link));
	map_str_destroy(&by_name);
	by_name = (struct map_str){0};
}
