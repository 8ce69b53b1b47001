/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The face of the database for the network and the Lua layer.
 *
 * Every function checks the rights of the current credentials. Those that change
 * data open a statement in the fiber's transaction, or in one of their own that
 * they commit: these yield, the rest does not. Tuples handed out are counted for
 * the caller, who gives them back with tuple_unref(); NULL where there is none.
 * Arguments `key` and `tuple` are MessagePack arrays and must be well-formed.
 */
#pragma once

#include <stdint.h>
#include <stdbool.h>
#include <stddef.h>

#include "db/index/index.h"
#include "db/port.h"
#include "db/wal/xrow.h"

struct select_page;
struct tuple;

/** Start-up of the layer, before any Lua; no files are touched. */
void db_init(void);
void db_free(void);

/**
 * Any change: insert, replace, update, delete, upsert, as in `request`, which becomes what triggers
 * and sequences have made of it. `result` may be NULL.
 */
int db_process(struct request *request, struct tuple **result);

/**
 * Does a change of the space neither yield nor call any function, now: neither for the space nor
 * where its transaction ends? Then rows go in as they are given, too.
 */
bool db_is_plain_change(uint32_t space_id);

int db_insert(uint32_t space_id, const char *tuple, const char *tuple_end, struct tuple **result);
int db_replace(uint32_t space_id, const char *tuple, const char *tuple_end, struct tuple **result);
int db_delete(uint32_t space_id, uint32_t index_id, const char *key, const char *key_end,
	      struct tuple **result);
int db_update(uint32_t space_id, uint32_t index_id, const char *key, const char *key_end,
	      const char *ops, const char *ops_end, int index_base, struct tuple **result);
int db_upsert(uint32_t space_id, uint32_t index_id, const char *tuple, const char *tuple_end,
	      const char *ops, const char *ops_end, int index_base, struct tuple **result);

/** Rows into a port_c that this function creates (on success only). `page` may be NULL. */
int db_select(uint32_t space_id, uint32_t index_id, uint32_t iterator, uint32_t offset,
	      uint32_t limit, const char *key, const char *key_end, struct select_page *page,
	      struct port *port);

/** Appends the position of a tuple, which need not be there, for a select to begin behind. */
int db_index_tuple_position(uint32_t space_id, uint32_t index_id, const char *tuple,
			    const char *tuple_end, struct buf *out);

int64_t db_index_len(uint32_t space_id, uint32_t index_id);
int64_t db_index_bsize(uint32_t space_id, uint32_t index_id);
int db_index_get(uint32_t space_id, uint32_t index_id, const char *key, const char *key_end,
		 struct tuple **result);
int db_index_min(uint32_t space_id, uint32_t index_id, const char *key, const char *key_end,
		 struct tuple **result);
int db_index_max(uint32_t space_id, uint32_t index_id, const char *key, const char *key_end,
		 struct tuple **result);
int db_index_random(uint32_t space_id, uint32_t index_id, uint32_t seed, struct tuple **result);
int64_t db_index_count(uint32_t space_id, uint32_t index_id, uint32_t iterator, const char *key,
		       const char *key_end);

/**
 * An iterator that survives any change of data or schema; freed by db_iterator_free(). `page`
 * may be NULL.
 */
struct iterator *db_index_iterator(uint32_t space_id, uint32_t index_id, uint32_t iterator,
				   const char *key, const char *key_end,
				   const struct select_page *page);
/** The next tuple (counted); NULL at the end, and where the space or index is gone. */
int db_iterator_next(struct iterator *it, struct tuple **result);
void db_iterator_free(struct iterator *it);

/**
 * Checks all invariants of all indexes, for tests and whoever suspects the memory of the machine;
 * takes its time. -1: an error that names the index; the log says what is wrong.
 */
int db_check_indexes(void);

int db_truncate(uint32_t space_id);
int64_t db_sequence_next(uint32_t seq_id, int64_t *result);
int db_sequence_set(uint32_t seq_id, int64_t value);
int db_sequence_reset(uint32_t seq_id);
int db_sequence_current(uint32_t seq_id, int64_t *result);

/** Applies a row that is being recovered: no rights, no journal. */
int db_recover_row(const struct xrow_header *row);

/**
 * Recovery as a whole: begin, rows of the snapshot, its end, rows of journals, end; or abort
 * where a step failed. Unless it is forced (rows that can't be applied are skipped), secondary
 * indexes are built in the end. db_recover_end() yields. -1: the error that is set.
 */
void db_recover_begin(bool is_forced);
int db_recover_snapshot_row(const struct xrow_header *row);
int db_recover_snapshot_end(void);
int db_recover_end(void);
void db_recover_abort(void);

/** Stored procedures and scripts, by a runtime of the layer above. */
struct call_runtime {
	/** Calls a function that is not in _func, by its dotted name. ER_NO_SUCH_PROC. */
	int (*call)(const char *name, size_t len, struct port *args, struct port *result);
	int (*eval)(const char *expr, size_t len, struct port *args, struct port *result);
	/** Is it one of the program's own functions, rather than one that a script has made? */
	bool (*is_builtin)(const char *name, size_t len);
};
void db_set_call_runtime(const struct call_runtime *runtime);

/**
 * CALL: through _func, else by global name; checks `execute`. `result` is created on
 * success only. A transaction left open is rolled back, with ER_FUNCTION_TX_ACTIVE.
 * May yield.
 */
int db_call(const char *name, size_t len, struct port *args, struct port *result);
/** EVAL; needs `execute` on the universe or on lua_eval. */
int db_eval(const char *expr, size_t len, struct port *args, struct port *result);

/** The same, but a transaction that the script began, or found, is left as it is. */
int db_call_open(const char *name, size_t len, struct port *args, struct port *result);
int db_eval_open(const char *expr, size_t len, struct port *args, struct port *result);

/**
 * What the two do not do: rolls back a transaction that is open, which is an error of
 * its own where the call succeeded (`rc` is 0 and `result` there). Returns the call's result.
 */
int db_call_finish(int rc, struct port *result);

/** The most that tuples and indexes together may take (box.cfg.memtx_memory), in bytes. */
void db_set_memory(size_t size);

/** Read-only mode (box.cfg.read_only): changes fail with ER_READONLY. */
void db_set_read_only(bool yesno);
bool db_is_read_only(void);
/** Set once the instance has loaded its data; until then changes come from recovery only. */
extern bool db_is_configured;
