/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Rows that come from a snapshot or a journal.
 */
#include "db/db_int.h"
#include "db/error.h"

bool db_is_configured;

int db_recover_row(const struct xrow_header *row)
{
	if (row->type == IPROTO_NOP)
		return 0;
	if (row->type != IPROTO_INSERT && row->type != IPROTO_REPLACE &&
	    row->type != IPROTO_UPDATE && row->type != IPROTO_DELETE &&
	    row->type != IPROTO_UPSERT) {
		client_error(ER_UNKNOWN_REQUEST_TYPE, row->type);
		return -1;
	}
	struct request request;
	if (request_decode(&request, row, request_keys_required(row->type)) != 0)
		return -1;
	request.type = row->type;
	request.header = row;
	return db_process_unchecked(&request, NULL);
}
