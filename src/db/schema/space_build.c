/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Builds of indexes and checks of rows beside the work of the server: see the header.
 */
#include "db/schema/space_build.h"

#include <assert.h>
#include <stddef.h>

#include "core/fiber.h"
#include "core/memory.h"
#include "core/worker.h"
#include "db/db.h"
#include "db/error.h"
#include "db/index/load.h"
#include "db/schema/space.h"
#include "db/tuple/tuple.h"
#include "db/txn/txn.h"

enum {
	/** A space with fewer rows is dealt with at once. */
	STEPPED_ROWS_MIN = 2000,
	/** Rows, notes and blocks of memory of one step: far below a millisecond. */
	STEP_ROWS = 500,
	STEP_NOTES = 150,
	/** Rows that functions check. */
	STEP_CHECKS = 200,
	STEP_ENTRIES = 8000,
};

/** A change of the rows that came after the view. Both tuples are referenced. */
struct note {
	struct tuple *old_tuple, *new_tuple;
};

struct build {
	/** In the space's list. */
	struct list link;
	/** NULL: rows are only checked. */
	struct index *index;
	/** NULL: rows are not checked. */
	struct tuple_format *format;
	/** What else checks them, or NULL. */
	int (*check)(struct tuple *row, void *arg);
	void *check_arg;
	struct iterator *view;
	size_t row_count;
	struct index_load load;
	struct note *notes;
	/** Those before `applied` are done and given back. */
	size_t note_count, note_capacity, applied;
};

/** Builds of all spaces, and who waits for their end. */
static struct {
	unsigned count;
	struct fiber_cond *over;
} builds;

static int check_tuple(const struct tuple *tuple, struct tuple_format *format)
{
	const char *data = tuple_data(tuple);
	return tuple_format_validate(format, data, data + tuple->bsize);
}

static int check_row(struct tuple *tuple, void *format)
{
	return check_tuple(tuple, format);
}

/* At once ---------------------------------------------------------------- */

/** Takes up to `limit` rows one by one; *is_over where there were no more. */
static int take_rows(struct build *build, size_t limit, bool *is_over)
{
	struct tuple *tuple, *unused;
	struct index *index = build->index;
	*is_over = false;
	for (size_t i = 0; i < limit; i++) {
		if (build->view->next(build->view, &tuple) != 0)
			return -1;
		if (tuple == NULL) {
			*is_over = true;
			return 0;
		}
		if (build->format != NULL && check_tuple(tuple, build->format) != 0)
			return -1;
		if (build->check != NULL && build->check(tuple, build->check_arg) != 0)
			return -1;
		if (index != NULL &&
		    index->vtab->replace(index, NULL, tuple, DUP_INSERT, &unused) != 0)
			return -1;
	}
	return 0;
}

/** In a worker, or in tx where nobody changes rows meanwhile. */
static int gather_and_sort(void *arg)
{
	struct build *build = arg;
	int rc = index_load_gather(&build->load, build->view,
				   build->format != NULL ? check_row : NULL, build->format);
	return rc == 0 ? index_load_sort(&build->load) : -1;
}

static int build_at_once(struct build *build)
{
	bool is_over;
	if (build->index == NULL || !index_can_load(build->index))
		return take_rows(build, SIZE_MAX, &is_over);
	index_load_create(&build->load, build->index, build->row_count);
	int rc = gather_and_sort(build);
	if (rc == 0)
		rc = index_load_put(&build->load);
	index_load_destroy(&build->load);
	return rc;
}

/* In steps --------------------------------------------------------------- */

/** Lets other fibers run between two steps. -1: FiberIsCancelled. */
static int step_over(void)
{
	fiber_sleep(0);
	if (!fiber_is_cancelled())
		return 0;
	diag_set(FiberIsCancelled, "fiber is cancelled");
	return -1;
}

/** 1: the entries do not fit. */
static int load_job(void *arg)
{
	struct build *build = arg;
	return build->index->vtab->load(build->index, &build->load) ? 0 : 1;
}

/** Takes the memory for all entries, in steps: each takes the blocks of some more. */
static int reserve_in_steps(struct build *build)
{
	const struct index_vtab *vtab = build->index->vtab;
	for (size_t n = 0; n < build->load.count;) {
		n += STEP_ENTRIES;
		if (n > build->load.count)
			n = build->load.count;
		if (vtab->load_reserve(build->index, n) != 0 || step_over() != 0)
			return -1;
	}
	return 0;
}

static int load_by_worker(struct build *build)
{
	index_load_create(&build->load, build->index, build->row_count);
	int rc = worker_call(gather_and_sort, build);
	if (rc == 0)
		rc = reserve_in_steps(build);
	if (rc == 0)
		rc = worker_call(load_job, build);
	if (rc > 0)
		rc = index_load_each(&build->load);
	index_load_destroy(&build->load);
	return rc;
}

static int check_job(void *arg)
{
	bool is_over;
	return take_rows(arg, SIZE_MAX, &is_over);
}

/** Functions that are called may not yield: that aborts the transaction, as everywhere. */
static int take_rows_in_steps(struct build *build)
{
	size_t limit = build->check != NULL ? STEP_CHECKS : STEP_ROWS;
	struct txn *txn = txn_current();
	bool is_over = false;
	while (!is_over) {
		txn_forbid_yield(txn);
		if (take_rows(build, limit, &is_over) != 0 || txn_check(txn) != 0)
			return -1;
		txn_allow_yield(txn);
		if (step_over() != 0)
			return -1;
	}
	return 0;
}

/** Gives other threads what they need, too: the tuples of the view stay. */
static int build_in_steps(struct build *build)
{
	int rc;
	tuple_read_view_open();
	if (build->index == NULL && build->check == NULL)
		rc = worker_call(check_job, build);
	else if (build->index != NULL && index_can_load(build->index))
		rc = load_by_worker(build);
	else
		rc = take_rows_in_steps(build);
	build->view->free(build->view);
	build->view = NULL;
	tuple_read_view_close();
	return rc;
}

/* Notes ------------------------------------------------------------------ */

static void build_note(struct build *build, struct tuple *old_tuple, struct tuple *new_tuple)
{
	if (build->note_count == build->note_capacity) {
		build->note_capacity = build->note_capacity ? build->note_capacity * 2 : 64;
		build->notes = xrealloc(build->notes,
					build->note_capacity * sizeof(*build->notes));
	}
	if (old_tuple != NULL)
		tuple_ref(old_tuple);
	if (new_tuple != NULL)
		tuple_ref(new_tuple);
	build->notes[build->note_count++] = (struct note){old_tuple, new_tuple};
}

void space_builds_note(struct space *space, struct tuple *old_tuple, struct tuple *new_tuple)
{
	struct build *build;
	list_foreach_entry(build, &space->builds, link)
		build_note(build, old_tuple, new_tuple);
}

static void note_release(const struct note *note)
{
	if (note->old_tuple != NULL)
		tuple_unref(note->old_tuple);
	if (note->new_tuple != NULL)
		tuple_unref(note->new_tuple);
}

static int note_apply(struct build *build, const struct note *note)
{
	struct tuple *unused;
	struct index *index = build->index;
	if (note->new_tuple != NULL && build->format != NULL &&
	    check_tuple(note->new_tuple, build->format) != 0)
		return -1;
	if (note->new_tuple != NULL && build->check != NULL &&
	    build->check(note->new_tuple, build->check_arg) != 0)
		return -1;
	return index == NULL ? 0 : index->vtab->replace(index, note->old_tuple, note->new_tuple,
							DUP_REPLACE_OR_INSERT, &unused);
}

/** Applies some notes. */
static int build_catch_up(struct build *build)
{
	for (unsigned i = 0; i < STEP_NOTES && build->applied < build->note_count; i++) {
		const struct note *note = &build->notes[build->applied++];
		int rc = note_apply(build, note);
		note_release(note);
		if (rc != 0)
			return -1;
	}
	if (build->applied == build->note_count)
		build->applied = build->note_count = 0;
	return 0;
}

static bool has_notes(const struct space *space)
{
	struct build *build;
	list_foreach_entry(build, &space->builds, link) {
		if (build->note_count > 0)
			return true;
	}
	return false;
}

/* Transactions ----------------------------------------------------------- */

/** The current transaction, if it may yield: it has done nothing but begun this statement. */
static struct txn *yielding_txn(void)
{
	struct txn *txn = txn_current();
	return db_is_configured && txn != NULL && txn_is_single_stmt(txn) ? txn : NULL;
}

/** Runs what yields; that does not abort the transaction. */
static int run_yielding(struct txn *txn, int (*func)(void *arg), void *arg)
{
	if (fiber_may_yield() != 0)
		return -1;
	txn_allow_yield(txn);
	int rc = func(arg);
	if (!txn->is_aborted)
		txn_forbid_yield(txn);
	return rc;
}

static int build_run(void *arg)
{
	return build_in_steps(arg);
}

static int complete_run(void *arg)
{
	struct space *space = arg;
	struct txn *txn = txn_current();
	while (has_notes(space)) {
		struct build *build;
		txn_forbid_yield(txn);
		list_foreach_entry(build, &space->builds, link) {
			if (build_catch_up(build) != 0)
				return -1;
		}
		if (txn_check(txn) != 0)
			return -1;
		txn_allow_yield(txn);
		if (has_notes(space) && step_over() != 0)
			return -1;
	}
	return 0;
}

/* The face --------------------------------------------------------------- */

static struct build *build_new(struct space *space, struct index *index,
			       struct tuple_format *format)
{
	struct index *pk = space->index[0];
	struct iterator *view = pk->vtab->frozen_view(pk);
	if (view == NULL)
		return NULL;
	struct build *build = xcalloc(1, sizeof(*build));
	build->index = index;
	build->format = format;
	build->view = view;
	build->row_count = pk->vtab->size(pk);
	return build;
}

static void build_delete(struct build *build)
{
	for (size_t i = build->applied; i < build->note_count; i++)
		note_release(&build->notes[i]);
	if (build->view != NULL)
		build->view->free(build->view);
	xfree(build->notes);
	xfree(build);
}

/** At once where the space has few rows or may not yield; else in steps, listed in the space. */
static int build_start(struct space *space, struct build *build)
{
	struct txn *txn = build->row_count >= STEPPED_ROWS_MIN ? yielding_txn() : NULL;
	if (txn == NULL) {
		int rc = build_at_once(build);
		build_delete(build);
		return rc;
	}
	list_add_tail(&space->builds, &build->link);
	builds.count++;
	return run_yielding(txn, build_run, build);
}

int space_build(struct space *space, struct index *index, struct tuple_format *format)
{
	struct build *build = build_new(space, index, format);
	return build != NULL ? build_start(space, build) : -1;
}

int space_check_each(struct space *space, int (*check)(struct tuple *row, void *arg), void *arg)
{
	struct build *build = build_new(space, NULL, NULL);
	if (build == NULL)
		return -1;
	build->check = check;
	build->check_arg = arg;
	int rc = build_start(space, build);
	if (rc == 0)
		rc = space_builds_complete(space);
	space_builds_end(space);
	return rc;
}

int space_builds_complete(struct space *space)
{
	return list_empty(&space->builds) ? 0 : run_yielding(txn_current(), complete_run, space);
}

void space_builds_end(struct space *space)
{
	while (!list_empty(&space->builds)) {
		build_delete(list_shift_entry(&space->builds, struct build, link));
		builds.count--;
	}
	if (builds.count == 0 && builds.over != NULL)
		fiber_cond_broadcast(builds.over);
}

int space_check_unlocked(const struct space *space)
{
	if (list_empty(&space->builds))
		return 0;
	client_error(ER_ALTER_SPACE, space_name(space), "the space is already being modified");
	return -1;
}

int space_builds_wait(void)
{
	if (builds.count > 0 && builds.over == NULL)
		builds.over = fiber_cond_new();
	while (builds.count > 0) {
		if (fiber_cond_wait(builds.over) != 0)
			return -1;
	}
	return 0;
}
