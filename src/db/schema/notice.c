/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Notices of changes of the schema to upper layers. Where the journal has failed,
 * changes are undone in the scheduler's fiber, which may not run scripts: notices
 * wait then until the first of the fibers whose transaction failed runs again.
 */
#include "core/memory.h"
#include "db/schema/func.h"
#include "db/schema/schema.h"

struct notice {
	uint32_t space_id;
	/** NULL: it is about a space. */
	struct func *func;
	bool is_new, deletes;
};

static void (*space_cb)(uint32_t space_id);
static void (*func_cb)(struct func *func, bool is_new);

static bool is_deferring;
static struct notice *notices;
static size_t notice_count, notice_capacity;

void space_on_change(void (*cb)(uint32_t space_id))
{
	space_cb = cb;
}

void func_on_change(void (*cb)(struct func *func, bool is_new))
{
	func_cb = cb;
}

static void notice_send(const struct notice *notice)
{
	if (notice->func == NULL) {
		if (space_cb != NULL)
			space_cb(notice->space_id);
		return;
	}
	if (func_cb != NULL)
		func_cb(notice->func, notice->is_new);
	if (notice->deletes)
		func_delete(notice->func);
}

static void notice_put(const struct notice *notice)
{
	if (!is_deferring) {
		notice_send(notice);
		return;
	}
	if (notice_count == notice_capacity) {
		notice_capacity = notice_capacity == 0 ? 16 : notice_capacity * 2;
		notices = xrealloc(notices, notice_capacity * sizeof(*notices));
	}
	notices[notice_count++] = *notice;
}

void schema_notice_space(uint32_t space_id)
{
	notice_put(&(struct notice){.space_id = space_id});
}

void schema_notice_func(struct func *func, bool is_new, bool deletes)
{
	notice_put(&(struct notice){.func = func, .is_new = is_new, .deletes = deletes});
}

void schema_defer_notices(void)
{
	is_deferring = true;
}

void schema_send_notices(void)
{
	is_deferring = false;
	for (size_t i = 0; i < notice_count; i++) {
		/* Callbacks change nothing, so nothing is added meanwhile. */
		struct notice notice = notices[i];
		notice_send(&notice);
	}
	notice_count = 0;
}
