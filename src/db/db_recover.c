/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Rows that come from a snapshot or a journal.
 */
#include "db/db_int.h"
#include "db/error.h"
#include "db/schema/memtx_recover.h"
#include "db/schema/space.h"

bool db_is_configured;

static int decode(struct request *request, const struct xrow_header *row)
{
	if (row->type != IPROTO_INSERT && row->type != IPROTO_REPLACE &&
	    row->type != IPROTO_UPDATE && row->type != IPROTO_DELETE &&
	    row->type != IPROTO_UPSERT) {
		client_error(ER_UNKNOWN_REQUEST_TYPE, row->type);
		return -1;
	}
	if (request_decode(request, row, request_keys_required(row->type)) != 0)
		return -1;
	request->type = row->type;
	request->header = row;
	return 0;
}

int db_recover_row(const struct xrow_header *row)
{
	struct request request;
	if (row->type == IPROTO_NOP)
		return 0;
	return decode(&request, row) == 0 ? db_process_unchecked(&request, NULL) : -1;
}

int db_recover_snapshot_row(const struct xrow_header *row)
{
	struct request request;
	if (row->type == IPROTO_NOP)
		return 0;
	if (decode(&request, row) != 0)
		return -1;
	struct space *space = space_find(request.space_id);
	if (space == NULL)
		return -1;
	if (row->type == IPROTO_INSERT && memtx_recover_takes(space))
		return memtx_recover_row(space, request.tuple, request.tuple_end);
	/* Whatever this row is about may look at those before. */
	return memtx_recover_flush() == 0 ? db_process_unchecked(&request, NULL) : -1;
}

void db_recover_begin(bool is_forced)
{
	/* A row that meets another one in a secondary index is skipped: they have to be there. */
	if (!is_forced)
		memtx_recover_begin();
}

int db_recover_snapshot_end(void)
{
	return memtx_recover_flush();
}

int db_recover_end(void)
{
	return memtx_recover_end();
}

void db_recover_abort(void)
{
	memtx_recover_abort();
}
