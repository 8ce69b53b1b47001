/* SPDX-License-Identifier: BSD-2-Clause
 *
 * See proc_stat.h. Records are in a map by name; the one that was used last is tried
 * first, since calls of one procedure come in runs.
 */
#include "db/proc_stat.h"

#include <string.h>

#include "core/map.h"
#include "core/memory.h"
#include "core/ticks.h"
#include "db/error.h"

/** Longer names have no record of their own. */
enum { NAME_LEN_MAX = 255 };

struct record {
	struct proc_stat stat;
	size_t len;
	char name[];
};

static struct map_str records;
static size_t limit = PROC_STAT_LIMIT_DEFAULT;
static struct record *latest;

/** When the last call ended; of the last request: its number, and the switches till then. */
static uint64_t last_ticks, last_number, last_switches;

void proc_stat_begin(struct proc_mark *mark)
{
	struct fiber *f = fiber();
	mark->usage = f->usage;
	mark->switches = f->csw;
	mark->ticks = ticks_now();
}

void proc_stat_begin_request(struct proc_mark *mark, uint64_t number)
{
	struct fiber *f = fiber();
	mark->usage = f->usage;
	mark->switches = f->csw;
	/* No switch between, hence no wait either. */
	bool is_next = number == last_number + 1 && fiber_switch_count == last_switches;
	mark->ticks = is_next ? last_ticks : ticks_now();
}

void proc_stat_end_request(const struct proc_mark *mark, uint64_t number, const char *name,
			   size_t len, bool is_failed)
{
	proc_stat_end(mark, name, len, is_failed);
	last_number = number;
	last_switches = fiber_switch_count;
}

static struct record *record_new(const char *name, size_t len)
{
	struct record *r = xcalloc(1, sizeof(*r) + len);
	r->len = len;
	memcpy(r->name, name, len);
	map_str_put(&records, name, len, r);
	return r;
}

/** One of our own names, which the limit does not count. */
static struct record *record_special(const char *name)
{
	struct record *r = map_str_get(&records, name, strlen(name));
	return r != NULL ? r : record_new(name, strlen(name));
}

/** Did the call fail before there was a procedure to run? */
static bool is_refused(void)
{
	const struct error *e = diag_last();
	return e != NULL && (e->type == &type_AccessDeniedError ||
		(e->type == &type_ClientError &&
		 (e->code == ER_NO_SUCH_PROC || e->code == ER_NO_SUCH_FUNCTION)));
}

static __attribute__((noinline)) struct record *find(const char *name, size_t len, bool is_failed)
{
	struct record *r = map_str_get(&records, name, len);
	if (r == NULL && is_failed && is_refused())
		r = record_special(PROC_STAT_REFUSED);
	if (r == NULL && records.count < limit && len <= NAME_LEN_MAX)
		r = record_new(name, len);
	if (r == NULL)
		r = record_special(PROC_STAT_OTHER);
	latest = r;
	return r;
}

void proc_stat_end(const struct proc_mark *mark, const char *name, size_t len, bool is_failed)
{
	const struct fiber *f = fiber();
	last_ticks = ticks_now();
	uint64_t ticks = last_ticks - mark->ticks;
	struct record *r = latest;
	if (r == NULL || r->len != len || memcmp(r->name, name, len) != 0)
		r = find(name, len, is_failed);
	struct proc_stat *s = &r->stat;
	s->calls++;
	s->errors += is_failed;
	s->ticks += ticks;
	if (ticks > s->ticks_max)
		s->ticks_max = ticks;
	s->yields += f->csw - mark->switches;
	s->usage.heap_bytes += f->usage.heap_bytes - mark->usage.heap_bytes;
	s->usage.rows_read += f->usage.rows_read - mark->usage.rows_read;
	s->usage.rows_written += f->usage.rows_written - mark->usage.rows_written;
	s->usage.response_bytes += f->usage.response_bytes - mark->usage.response_bytes;
}

const struct proc_stat *proc_stat_next(size_t *pos, const char **name, size_t *len)
{
	void *value;
	return map_str_next(&records, pos, name, len, &value) ?
		&((struct record *)value)->stat : NULL;
}

void proc_stat_reset(void)
{
	const char *name;
	size_t len;
	void *value;
	for (size_t pos = 0; map_str_next(&records, &pos, &name, &len, &value);)
		xfree(value);
	map_str_destroy(&records);
	latest = NULL;
}

size_t proc_stat_limit(void)
{
	return limit;
}

void proc_stat_set_limit(size_t count)
{
	limit = count;
}
