/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Streams; see stream.h.
 */
#include "net/stream.h"

#include <assert.h>

#include "core/memory.h"
#include "db/error.h"
#include "db/txn/txn.h"
#include "net/stat.h"
#include "net/worker.h"

struct waiting_packet {
	struct list link;
	struct packet packet;
};

struct list streams_ready = LIST_INIT(streams_ready);

/** The one whose transaction is lost if others run; or NULL. At most one, since it took turns. */
static struct stream *open_stream;

struct stream *stream_get(struct connection *con, uint64_t id)
{
	struct stream *s = map_u64_get(&con->streams, id);
	if (s != NULL)
		return s;
	if (con->streams.count >= STREAMS_MAX) {
		client_error(ER_ILLEGAL_PARAMS, "too many streams on a connection");
		return NULL;
	}
	s = xcalloc(1, sizeof(*s));
	s->id = id;
	s->con = con;
	list_create(&s->waiting);
	list_create(&s->ready_link);
	map_u64_put(&con->streams, id, s);
	stat_count_net(con->stat, STAT_NET_STREAMS, 1);
	stat_now_add(con->stat, STAT_NOW_STREAMS, 1);
	return s;
}

void stream_queue(struct stream *stream, const struct packet *packet)
{
	struct waiting_packet *w = xmalloc(sizeof(*w));
	w->packet = *packet;
	stat_count_net(stream->con->stat, STAT_NET_STREAM_QUEUE, 1);
	stat_now_add(stream->con->stat, STAT_NOW_QUEUED, 1);
	list_add_tail(&stream->waiting, &w->link);
}

bool stream_take(struct stream *stream, struct packet *packet)
{
	if (list_empty(&stream->waiting))
		return false;
	struct waiting_packet *w = list_shift_entry(&stream->waiting, struct waiting_packet, link);
	*packet = w->packet;
	stat_now_add(stream->con->stat, STAT_NOW_QUEUED, -1);
	xfree(w);
	return true;
}

void stream_disturb(const struct stream *but)
{
	if (open_stream == NULL || open_stream == but)
		return;
	txn_disturb(open_stream->txn);
	open_stream = NULL;
}

void stream_enter(struct stream *stream)
{
	assert(!stream->is_busy);
	stream->is_busy = true;
	stream_disturb(stream);
	open_stream = NULL;
	if (stream->txn != NULL)
		txn_resume(stream->txn);
	stream->txn = NULL;
}

static void stream_delete(struct stream *stream)
{
	map_u64_del(&stream->con->streams, stream->id);
	stat_now_add(stream->con->stat, STAT_NOW_STREAMS, -1);
	xfree(stream);
}

void stream_leave(struct stream *stream)
{
	stream->is_busy = false;
	struct txn *txn = txn_current();
	if (txn != NULL) {
		txn_suspend(txn);
		stream->txn = txn;
		stream_disturb(NULL);
		open_stream = stream;
	}
	bool is_over = stream->con->fd < 0;
	if (!list_empty(&stream->waiting) || (is_over && stream->txn != NULL)) {
		list_add_tail(&streams_ready, &stream->ready_link);
		worker_kick();
	} else if (stream->txn == NULL) {
		stream_delete(stream);
	}
}

void stream_close_all(struct connection *con)
{
	size_t pos = 0;
	uint64_t id;
	void *value;
	while (map_u64_next(&con->streams, &pos, &id, &value)) {
		struct stream *s = value;
		/* Those at work, or with work before them, come to their end by themselves. */
		if (!s->is_busy && list_empty(&s->ready_link)) {
			list_add_tail(&streams_ready, &s->ready_link);
			worker_kick();
		}
	}
}

void stream_end(struct stream *stream)
{
	stream_enter(stream);
	struct txn *txn = txn_current();
	if (txn != NULL)
		txn_rollback(txn);
	stream_delete(stream);
}
