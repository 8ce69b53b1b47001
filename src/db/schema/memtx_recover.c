/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Recovery of memtx spaces: see the header. A worker that builds an index reads
 * tuples of a frozen view of the primary one; tx waits meanwhile, and nobody else
 * may change data yet. It sorts on an array of its own and puts the entries into
 * blocks that tx has set aside.
 */
#include "db/schema/memtx_recover.h"

#include <assert.h>

#include "core/fiber.h"
#include "core/log.h"
#include "core/loop.h"
#include "core/memory.h"
#include "core/worker.h"
#include "db/error.h"
#include "db/index/load.h"
#include "db/schema/schema.h"
#include "db/tuple/tuple.h"

enum {
	/** An index of fewer rows is not worth a worker. */
	WORKER_ROWS_MIN = 10000,
	/** Between two lines in the log. */
	REPORT_SECONDS = 3,
};

static struct {
	bool defers;
	/** The space whose rows are gathered in `load`, or NULL. */
	struct space *space;
	struct index_load load;
} state;

void memtx_recover_begin(void)
{
	assert(state.space == NULL);
	state.defers = true;
}

bool memtx_defers(const struct space *space, const struct index_def *def)
{
	return state.defers && def->iid != 0 && !space_is_system(space);
}

/* Rows of the snapshot --------------------------------------------------- */

bool memtx_recover_takes(const struct space *space)
{
	if (!state.defers)
		return false;
	if (space == state.space)
		return true;
	return space->vtab == &memtx_space_vtab && !space_is_system(space) &&
		space->index_count > 0 && space->index[0]->def->iid == 0 &&
		index_can_load(space->index[0]) &&
		space->index[0]->vtab->size(space->index[0]) == 0 &&
		list_empty(&space->before_replace) && list_empty(&space->on_replace);
}

/** The rows are in no index: drops them. */
static void drop_rows(void)
{
	for (size_t i = 0; i < state.load.count; i++) {
		struct tuple *tuple = state.load.entries[i].tuple;
		state.space->bsize -= tuple->bsize;
		tuple_unref(tuple);
	}
}

int memtx_recover_flush(void)
{
	if (state.space == NULL)
		return 0;
	int rc = index_load_finish(&state.load);
	if (rc != 0)
		drop_rows();
	index_load_destroy(&state.load);
	state.space = NULL;
	return rc;
}

int memtx_recover_row(struct space *space, const char *data, const char *end)
{
	if (space != state.space) {
		if (memtx_recover_flush() != 0)
			return -1;
		state.space = space;
		index_load_create(&state.load, space->index[0], 0);
	}
	struct tuple *tuple = tuple_new(space->format, data, end);
	if (tuple == NULL)
		return -1;
	if (index_load_add(&state.load, tuple) != 0) {
		tuple_unref(tuple);
		return -1;
	}
	space->bsize += tuple->bsize;
	return 0;
}

void memtx_recover_abort(void)
{
	if (state.space != NULL) {
		drop_rows();
		index_load_destroy(&state.load);
		state.space = NULL;
	}
	state.defers = false;
}

/* Secondary indexes ------------------------------------------------------ */

/** All indexes that are to be built. */
struct build {
	/** tx: who waits. */
	struct fiber *fiber;
	size_t running, started;
	/** The first error. */
	struct diag diag;
};

struct build_job {
	struct build *build;
	/** Deferred until the job is done. */
	struct index *index;
	const struct index_vtab *vtab;
	struct index *pk;
	struct iterator *view;
	size_t row_count;
};

/** In a worker: everything but the memory of the index. 1: the rows do not fit. */
static int job_run(void *arg)
{
	struct build_job *job = arg;
	struct index_load load;
	index_load_create(&load, job->index, job->row_count);
	int rc = index_load_gather(&load, job->view, NULL, NULL);
	if (rc == 0)
		rc = index_load_sort(&load);
	if (rc == 0 && !job->vtab->load(job->index, &load))
		rc = 1;
	index_load_destroy(&load);
	return rc;
}

static int build_by_rows(struct index *index, struct index *pk)
{
	struct tuple *tuple, *unused;
	struct iterator *it = pk->vtab->frozen_view(pk);
	if (it == NULL)
		return -1;
	index_undefer(index);
	int rc;
	while ((rc = it->next(it, &tuple)) == 0 && tuple != NULL) {
		rc = index->vtab->replace(index, NULL, tuple, DUP_INSERT, &unused);
		if (rc != 0)
			break;
	}
	it->free(it);
	return rc;
}

static void job_done(void *arg, int rc)
{
	struct build_job *job = arg;
	struct build *build = job->build;
	job->view->free(job->view);
	if (rc > 0)
		rc = build_by_rows(job->index, job->pk);
	index_undefer(job->index);
	if (rc != 0 && build->diag.last == NULL)
		diag_move(diag_get(), &build->diag);
	xfree(job);
	build->running--;
	fiber_wakeup(build->fiber);
}

/** Starts a worker. */
static int build_by_worker(struct build *build, struct index *index, struct index *pk)
{
	const struct index_vtab *vtab = index->_real_vtab;
	size_t row_count = pk->vtab->size(pk);
	if (vtab->load_reserve(index, row_count) != 0)
		return -1;
	struct iterator *view = pk->vtab->frozen_view(pk);
	if (view == NULL)
		return -1;
	struct build_job *job = xmalloc(sizeof(*job));
	*job = (struct build_job){build, index, vtab, pk, view, row_count};
	build->running++;
	build->started++;
	worker_post(job_run, job, job_done);
	return 0;
}

static int build_start(struct build *build, struct space *space, struct index *index)
{
	struct index *pk = space->index[0];
	/* A worker's load fills what was reserved: it can't leave rows out. */
	if (pk->vtab->size(pk) >= WORKER_ROWS_MIN && index->_real_vtab->load != NULL &&
	    !index->def->key_def->has_exclude_null)
		return build_by_worker(build, index, pk);
	return build_by_rows(index, pk);
}

static int build_space(struct space *space, void *arg)
{
	struct build *build = arg;
	for (uint32_t i = 1; i < space->index_count; i++) {
		if (!index_is_deferred(space->index[i]))
			continue;
		if (build_start(build, space, space->index[i]) != 0)
			return -1;
		say_verbose("building index '%s' of space '%s'", space->index[i]->def->name,
			    space_name(space));
	}
	return 0;
}

static int has_deferred(struct space *space, void *arg)
{
	(void)arg;
	for (uint32_t i = 1; i < space->index_count; i++) {
		if (index_is_deferred(space->index[i]))
			return 1;
	}
	return 0;
}

/** Waits for all workers; tells now and then how far they are. */
static void build_wait(const struct build *build)
{
	double reported = loop_monotonic();
	while (build->running > 0) {
		fiber_yield();
		if (loop_monotonic() - reported < REPORT_SECONDS)
			continue;
		reported = loop_monotonic();
		say_info("%zu of %zu large indexes are built", build->started - build->running,
			 build->started);
	}
}

int memtx_recover_end(void)
{
	struct build build = {.fiber = fiber()};
	assert(state.space == NULL);
	state.defers = false;
	if (space_foreach(has_deferred, NULL) == 0)
		return 0;
	say_info("building secondary indexes");
	double started = ev_time();
	index_deferred_is_closed = true;
	int rc = space_foreach(build_space, &build);
	build_wait(&build);
	index_deferred_is_closed = false;
	if (build.diag.last != NULL) {
		diag_move(&build.diag, diag_get());
		rc = -1;
	}
	if (rc == 0)
		say_info("secondary indexes are built, in %.1f s", ev_time() - started);
	return rc;
}
