/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Reading a file ahead: see the header. Two batches take turns: one is tx's, the
 * other the worker's. A batch that ends the file, or that met damage, is the last
 * until the caller has done something about that.
 */
#include "db/wal/xlog_reader.h"

#include <assert.h>

#include "core/fiber.h"
#include "core/memory.h"
#include "core/worker.h"

enum {
	/** Bytes of rows in a batch, about. */
	BATCH_SIZE = 1024 * 1024,
	/** A file with less left to read is read in tx. */
	THREADED_SIZE_MIN = 1024 * 1024,
};

struct xlog_reader {
	struct xlog_cursor *cursor;
	struct xlog_batch batch[2];
	/** The one that is filled next, or is being filled. */
	unsigned next;
	/** A worker fills the next batch, or has done so. */
	bool is_ahead;
	bool is_running;
	struct fiber *waiter;
};

static void batch_clear(struct xlog_batch *batch)
{
	for (size_t i = 0; i < batch->block_count; i++)
		if (batch->blocks[i].error != NULL)
			error_unref(batch->blocks[i].error);
	batch->block_count = batch->row_count = 0;
	region_truncate(&batch->region, 0);
	diag_clear(&batch->diag);
}

static struct xlog_rows *batch_add_block(struct xlog_batch *batch)
{
	if (batch->block_count == batch->block_capacity) {
		batch->block_capacity = batch->block_capacity ? batch->block_capacity * 2 : 64;
		batch->blocks = xrealloc(batch->blocks,
					 batch->block_capacity * sizeof(*batch->blocks));
	}
	return &batch->blocks[batch->block_count++];
}

static struct xrow_header *batch_add_row(struct xlog_batch *batch)
{
	if (batch->row_count == batch->row_capacity) {
		batch->row_capacity = batch->row_capacity ? batch->row_capacity * 2 : 1024;
		batch->rows = xrealloc(batch->rows, batch->row_capacity * sizeof(*batch->rows));
	}
	return &batch->rows[batch->row_count++];
}

/** Decodes the rows of the cursor's block. */
static int read_rows(struct xlog_cursor *c, struct xlog_batch *batch)
{
	struct xlog_rows *block = batch_add_block(batch);
	*block = (struct xlog_rows){
		.offset = c->block_offset, .end = c->good_offset, .begin = batch->row_count,
	};
	if (xlog_cursor_keep_rows(c, &batch->region) != 0)
		return -1;
	int rc;
	while ((rc = xlog_cursor_next_row(c, batch_add_row(batch))) == 0)
		block->count++;
	batch->row_count--;
	if (rc < 0) {
		block->error = diag_last();
		error_ref(block->error);
		diag_clear(diag_get());
	}
	return 0;
}

/** Fills a batch. */
static void read_batch(struct xlog_cursor *c, struct xlog_batch *batch)
{
	batch_clear(batch);
	do {
		batch->rc = xlog_cursor_next_block(c);
		if (batch->rc == 0)
			batch->rc = read_rows(c, batch);
	} while (batch->rc == 0 && region_used(&batch->region) < BATCH_SIZE);
	if (batch->rc < 0)
		diag_move(diag_get(), &batch->diag);
}

/** In a worker. */
static int read_job(void *arg)
{
	struct xlog_reader *reader = arg;
	read_batch(reader->cursor, &reader->batch[reader->next]);
	xlog_block_thread_free();
	return 0;
}

static void read_done(void *arg, int rc)
{
	struct xlog_reader *reader = arg;
	(void)rc;
	reader->is_running = false;
	if (reader->waiter != NULL)
		fiber_wakeup(reader->waiter);
}

static void wait_for_job(struct xlog_reader *reader)
{
	reader->waiter = fiber();
	while (reader->is_running)
		fiber_yield();
	reader->waiter = NULL;
}

/** Begins to fill the next batch, where that is worth a worker. */
static void read_ahead(struct xlog_reader *reader)
{
	const struct xlog_cursor *c = reader->cursor;
	if (c->file_size - c->good_offset < THREADED_SIZE_MIN)
		return;
	reader->is_ahead = reader->is_running = true;
	worker_post(read_job, reader, read_done);
}

struct xlog_reader *xlog_reader_new(struct xlog_cursor *c)
{
	struct xlog_reader *reader = xcalloc(1, sizeof(*reader));
	reader->cursor = c;
	for (int i = 0; i < 2; i++)
		region_create(&reader->batch[i].region);
	read_ahead(reader);
	return reader;
}

struct xlog_batch *xlog_reader_next(struct xlog_reader *reader)
{
	struct xlog_batch *batch = &reader->batch[reader->next];
	if (reader->is_ahead)
		wait_for_job(reader);
	else
		read_batch(reader->cursor, batch);
	reader->is_ahead = false;
	reader->next ^= 1;
	if (batch->rc == 0)
		read_ahead(reader);
	return batch;
}

void xlog_reader_delete(struct xlog_reader *reader)
{
	wait_for_job(reader);
	for (int i = 0; i < 2; i++) {
		batch_clear(&reader->batch[i]);
		region_destroy(&reader->batch[i].region);
		xfree(reader->batch[i].blocks);
		xfree(reader->batch[i].rows);
	}
	xfree(reader);
}
