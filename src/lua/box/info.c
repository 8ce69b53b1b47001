/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What box.info, box.slab, box.stat and box.runtime tell: numbers from the layers
 * below. Memory is what mem_account counts, exactly.
 */
#include <unistd.h>

#include "core/loop.h"
#include "core/memory.h"
#include "core/version.h"
#include "data/uuid.h"
#include "data/vclock.h"
#include "db/db.h"
#include "db/tuple/tuple.h"
#include "db/txn/txn.h"
#include "db/wal/wal.h"
#include "db/wal/xlog.h"
#include "lua/box/box.h"
#include "lua/bridge.h"
#include "lua/modules.h"
#include "net/iproto.h"
#include "net/latency.h"
#include "net/stat.h"

static double start_time;

static int push_uuid(lua_State *L, const struct uuid *uuid)
{
	char text[UUID_STR_LEN + 1];
	uuid_to_string(uuid, text);
	lua_pushstring(L, text);
	return 1;
}

static int uuid(lua_State *L)
{
	return push_uuid(L, &instance_uuid);
}

static int cluster_uuid(lua_State *L)
{
	return push_uuid(L, &replicaset_uuid);
}

static int id(lua_State *L)
{
	lua_pushnumber(L, instance_id);
	return 1;
}

static int lsn(lua_State *L)
{
	lua_push_int64(L, vclock_get(&wal_vclock, instance_id));
	return 1;
}

static int signature(lua_State *L)
{
	lua_push_int64(L, vclock_sum(&wal_vclock));
	return 1;
}

static void push_vclock(lua_State *L, const struct vclock *v)
{
	lua_newtable(L);
	for (uint32_t i = 0; i < VCLOCK_MAX; i++) {
		if (vclock_get(v, i) == 0)
			continue;
		lua_push_int64(L, vclock_get(v, i));
		lua_rawseti(L, -2, (int)i);
	}
}

static int vclock(lua_State *L)
{
	push_vclock(L, &wal_vclock);
	return 1;
}

static int status(lua_State *L)
{
	lua_pushstring(L, wal_status());
	return 1;
}

static int is_read_only(lua_State *L)
{
	lua_pushboolean(L, db_is_read_only());
	return 1;
}

static int uptime(lua_State *L)
{
	lua_pushnumber(L, (double)(int64_t)(loop_monotonic() - start_time + 1));
	return 1;
}

static int pid(lua_State *L)
{
	lua_pushinteger(L, getpid());
	return 1;
}

static int version(lua_State *L)
{
	lua_pushliteral(L, TARN_COMPAT_VERSION);
	return 1;
}

/** () -> the addresses it listens on */
static int listen_addresses(lua_State *L)
{
	lua_newtable(L);
	for (int i = 0; i < net_listen_count(); i++) {
		lua_pushstring(L, net_listen_address(i));
		lua_rawseti(L, -2, i + 1);
	}
	return 1;
}

/**
 * () -> bytes of tuples, of indexes, of the Lua heap; the limits of the first and the last (0:
 * none); bytes of transactions, those on their way to the log included
 */
static int memory(lua_State *L)
{
	lua_pushnumber(L, (double)tuple_memory.used);
	lua_pushnumber(L, (double)index_memory.used);
	lua_pushnumber(L, (double)lua_heap_used());
	lua_pushnumber(L, (double)tuple_memory.limit);
	lua_pushnumber(L, (double)lua_heap_limit());
	lua_pushnumber(L, (double)txn_memory() + journal_memory());
	return 6;
}

/** Appends one snapshot to the list at the top; nothing where its header cannot be read. */
static void push_checkpoint(lua_State *L, const char *dir, int64_t snap_signature)
{
	struct xlog_cursor cursor;
	char *path = xlog_path(dir, snap_signature, XLOG_SNAP);
	int rc = xlog_cursor_open(&cursor, path);
	xfree(path);
	if (rc != 0)
		return;
	struct vclock snap_vclock = cursor.meta.vclock;
	xlog_cursor_close(&cursor);
	lua_createtable(L, 0, 3);
	push_vclock(L, &snap_vclock);
	lua_setfield(L, -2, "vclock");
	lua_push_int64(L, snap_signature);
	lua_setfield(L, -2, "signature");
	lua_newtable(L);
	if (snap_signature == backup_signature()) {
		lua_pushliteral(L, "backup");
		lua_rawseti(L, -2, 1);
	}
	lua_setfield(L, -2, "references");
	lua_rawseti(L, -2, (int)lua_objlen(L, -2) + 1);
}

/** (directory) -> {{signature, vclock, references}, ...}: the snapshots in it, oldest first */
static int checkpoints(lua_State *L)
{
	const char *dir = luaL_checkstring(L, 1);
	struct xlog_list list;
	if (xlog_list_read(&list, dir, XLOG_SNAP) != 0)
		return lua_throw(L);
	lua_newtable(L);
	for (size_t i = 0; i < list.count; i++)
		push_checkpoint(L, dir, list.signature[i]);
	xlog_list_free(&list);
	return 1;
}

static int is_checkpoint_running(lua_State *L)
{
	lua_pushboolean(L, checkpoint_is_running());
	return 1;
}

/** () -> {dropped_bytes = ..., ...}: what the start could not use of the files */
static int recovery(lua_State *L)
{
	const struct { const char *name; uint64_t value; } list[] = {
		{"dropped_bytes", wal_recovery_stat.dropped_bytes},
		{"dropped_transactions", wal_recovery_stat.dropped_transactions},
		{"skipped_bytes", wal_recovery_stat.skipped_bytes},
		{"skipped_rows", wal_recovery_stat.skipped_rows},
		{"skipped_files", wal_recovery_stat.skipped_files},
	};
	lua_newtable(L);
	for (size_t i = 0; i < sizeof(list) / sizeof(*list); i++) {
		lua_push_uint64(L, list[i].value);
		lua_setfield(L, -2, list[i].name);
	}
	return 1;
}

static int is_gc_paused(lua_State *L)
{
	lua_pushboolean(L, gc_is_paused());
	return 1;
}

/** Sets name = {total, rps} in the table at the top. */
static void set_counter(lua_State *L, const char *name, uint64_t total, uint64_t rps)
{
	lua_createtable(L, 0, 2);
	lua_push_uint64(L, total);
	lua_setfield(L, -2, "total");
	lua_push_uint64(L, rps);
	lua_setfield(L, -2, "rps");
	lua_setfield(L, -2, name);
}

/** Sets `current` in those of the counters in the table at the top that have it. */
static void set_now(lua_State *L, const uint32_t *now)
{
	const struct { const char *name; uint32_t value; } list[] = {
		{"CONNECTIONS", now[STAT_NOW_CONNECTIONS]},
		{"REQUESTS", now[STAT_NOW_REQUESTS]},
		{"REQUESTS_IN_PROGRESS", now[STAT_NOW_REQUESTS] - now[STAT_NOW_QUEUED]},
		{"REQUESTS_IN_STREAM_QUEUE", now[STAT_NOW_QUEUED]},
		{"STREAMS", now[STAT_NOW_STREAMS]},
	};
	for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++) {
		lua_getfield(L, -1, list[i].name);
		lua_pushnumber(L, list[i].value);
		lua_setfield(L, -2, "current");
		lua_pop(L, 1);
	}
}

/** Sets REQUESTS_IN_PROGRESS in the table at the top: those that have left the queue of a stream. */
static void set_in_progress(lua_State *L, uint64_t requests, uint64_t rps, const uint32_t *now)
{
	set_counter(L, "REQUESTS_IN_PROGRESS", requests - now[STAT_NOW_QUEUED], rps);
}

/** () -> {SELECT = {total, rps}, ...}: requests from the network, by type */
static int stat_requests(lua_State *L)
{
	lua_newtable(L);
	for (int i = 0; i < stat_request_MAX; i++)
		set_counter(L, stat_names[i], stat_totals[i], stat_rps(i));
	return 1;
}

/** () -> {SENT = {total, rps}, CONNECTIONS = {total, rps, current}, ...}: the network */
static int stat_net(lua_State *L)
{
	net_update_stat();
	lua_newtable(L);
	for (int i = STAT_NET_FIRST; i < stat_id_MAX; i++)
		set_counter(L, stat_names[i], stat_totals[i], stat_rps(i));
	set_in_progress(L, stat_totals[STAT_NET_REQUESTS], stat_rps(STAT_NET_REQUESTS), stat_now);
	set_now(L, stat_now);
	return 1;
}

/** () -> a list of the same, of each thread that serves sockets: tx where there is no other */
static int stat_net_threads(lua_State *L)
{
	net_update_stat();
	int count = net_get_threads();
	lua_createtable(L, count, 0);
	for (int t = 0; t < count; t++) {
		const struct stat_thread *thread = net_get_thread_stat(t);
		lua_newtable(L);
		for (int i = STAT_NET_FIRST; i < stat_id_MAX; i++)
			set_counter(L, stat_names[i], thread->totals[i - STAT_NET_FIRST],
				    stat_thread_rps(thread, i));
		set_in_progress(L, thread->totals[STAT_NET_REQUESTS - STAT_NET_FIRST],
				stat_thread_rps(thread, STAT_NET_REQUESTS), thread->now);
		set_now(L, thread->now);
		lua_rawseti(L, -2, t + 1);
	}
	if (count == 0) {
		stat_net(L);
		lua_rawseti(L, -2, 1);
	}
	return 1;
}

static void set_seconds(lua_State *L, const char *name, double seconds)
{
	lua_pushnumber(L, seconds);
	lua_setfield(L, -2, name);
}

/** () -> {type of request = {count, p50, p99, p999, max}} */
static int stat_latency(lua_State *L)
{
	struct latency latency;
	lua_newtable(L);
	for (int i = 0; i < latency_type_MAX; i++) {
		if (latency_name(i) == NULL || !latency_get(i, &latency))
			continue;
		lua_createtable(L, 0, 5);
		lua_push_uint64(L, latency.count);
		lua_setfield(L, -2, "count");
		set_seconds(L, "p50", latency.p50);
		set_seconds(L, "p99", latency.p99);
		set_seconds(L, "p999", latency.p999);
		set_seconds(L, "max", latency.max);
		lua_setfield(L, -2, latency_name(i));
	}
	return 1;
}

static int reset(lua_State *L)
{
	stat_reset();
	return 0;
}

void lua_info_init(lua_State *L)
{
	static const luaL_Reg funcs[] = {
		{"uuid", uuid}, {"cluster_uuid", cluster_uuid}, {"id", id}, {"lsn", lsn},
		{"signature", signature}, {"vclock", vclock}, {"status", status},
		{"is_read_only", is_read_only}, {"uptime", uptime}, {"pid", pid},
		{"version", version}, {"listen", listen_addresses}, {"memory", memory},
		{"checkpoints", checkpoints}, {"is_checkpoint_running", is_checkpoint_running},
		{"is_gc_paused", is_gc_paused}, {"recovery", recovery},
		{"stat", stat_requests}, {"stat_net", stat_net},
		{"stat_net_threads", stat_net_threads},
		{"stat_latency", stat_latency}, {"stat_reset", reset}, {NULL, NULL},
	};
	start_time = loop_monotonic();
	lua_new_module(L, "tarn.info", funcs);
	lua_pop(L, 1);
	lua_load_embedded(L, "info.lua", "tarn.box.info");
	lua_load_embedded(L, "stat.lua", "tarn.box.stat");
}
