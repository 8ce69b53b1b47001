/* SPDX-License-Identifier: BSD-2-Clause
 *
 * See line.h: the network thread's half. Whole packets go to tx in a chunk of just their size
 * where they are few, and the rest stays in the thread's chunk, which is warm in its cache;
 * else the chunk itself goes, and the rest is copied.
 */
#include "net/line.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "core/memory.h"
#include "net/buffers.h"
#include "net/connection.h"
#include "net/linger.h"
#include "net/net_thread.h"
#include "net/tls.h"

/* Notes ------------------------------------------------------------------- */

enum { NOTE_CACHE_MAX = 256 };

static _Thread_local struct note *note_cache[NOTE_CACHE_MAX];
static _Thread_local int note_cache_count;

struct note *note_new(struct line *line)
{
	struct note *note = note_cache_count > 0 ? note_cache[--note_cache_count] :
			    xmalloc(sizeof(*note));
	*note = (struct note){.line = line};
	return note;
}

void note_free(struct note *note)
{
	if (note_cache_count < NOTE_CACHE_MAX)
		note_cache[note_cache_count++] = note;
	else
		xfree(note);
}

void notes_drop(void)
{
	while (note_cache_count > 0)
		xfree(note_cache[--note_cache_count]);
}

/** A note to tx, which takes a buffer that has been sent back with it. */
static struct note *report(struct line *line, unsigned what)
{
	struct note *note = note_new(line);
	note->what = what;
	outbuf_get(&note->out);
	net_thread_report(line->thread, note);
	return note;
}

/* Input --------------------------------------------------------------------- */

size_t line_cost(const struct chunk *c)
{
	return sizeof(*c) + sizeof(struct note) + c->used;
}

/** Moves `parsed` behind all whole packets. False: what is behind them can't be a packet. */
static bool find_packets(struct chunk *c)
{
	size_t header;
	uint64_t size;
	enum packet_state state;
	while ((state = chunk_scan(c, &header, &size)) == PACKET_WHOLE)
		c->parsed += header + size;
	return state == PACKET_PARTIAL;
}

static struct chunk *copy_of(const char *data, size_t size, struct chunk *to)
{
	memcpy(to->data, data, size);
	to->used = size;
	return to;
}

/** Takes the whole packets of `in` out of it, as a chunk. */
static struct chunk *split(struct line *line)
{
	struct chunk *c = line->in, *given;
	size_t whole = c->parsed, rest = c->used - whole;
	if (whole <= c->capacity / 4) {
		given = copy_of(c->data, whole, chunk_get_exact(whole));
		given->read_at = c->read_at;
		memmove(c->data, c->data + whole, rest);
		c->used = rest;
		c->parsed = 0;
	} else {
		given = c;
		line->in = rest > 0 ? copy_of(c->data + whole, rest, chunk_get(rest + 1)) : NULL;
		given->used = whole;
		given->parsed = 0;
	}
	if (line->in != NULL && line->in->used == 0) {
		chunk_put(line->in);
		line->in = NULL;
	}
	return given;
}

/** Gives tx the packets that are whole. */
static void hand_over(struct line *line)
{
	struct chunk *c = line->in;
	bool makes_sense = find_packets(c);
	if (!makes_sense) {
		/* tx will meet it behind the packets, say so and close. */
		c->parsed = c->used;
		ev_io_stop(line->wire.loop, &line->wire.input);
	}
	if (c->parsed == 0)
		return;
	struct chunk *given = split(line);
	line->ahead += line_cost(given);
	report(line, 0)->in = given;
}

/* Output ---------------------------------------------------------------------- */

static size_t unsent(const struct line *line)
{
	return line->out.size - line->out_sent;
}

static void add_sent(struct line *line, size_t n)
{
	atomic_store_explicit(&line->sent,
			      atomic_load_explicit(&line->sent, memory_order_relaxed) + n,
			      memory_order_relaxed);
}

/** The socket is of no use any more: tx is told, and will say CLOSE. */
static void end(struct line *line, char *reason)
{
	ev_io_stop(line->wire.loop, &line->wire.input);
	ev_io_stop(line->wire.loop, &line->wire.output);
	line->is_ended = true;
	add_sent(line, unsent(line));
	outbuf_put(&line->out);
	line->out_sent = 0;
	report(line, NOTE_ENDED)->reason = reason;
}

static void flush(struct line *line)
{
	ssize_t n = wire_write(&line->wire, &line->out, &line->out_sent);
	if (n < 0) {
		end(line, NULL);
		return;
	}
	net_thread_count_sent(line->thread, n);
	add_sent(line, n);
	if (line->tells && unsent(line) < CONNECTION_OUTPUT_MAX / 2) {
		line->tells = false;
		report(line, NOTE_ROOM);
	}
}

/** Behind what is unsent, or in its place where all was. */
static void add_output(struct line *line, struct buf *out)
{
	if (line->is_ended) {
		add_sent(line, out->size);
		outbuf_put(out);
	} else if (unsent(line) > 0) {
		buf_append(&line->out, out->data, out->size);
		outbuf_put(out);
	} else {
		assert(line->out.data == NULL && line->out_sent == 0);
		line->out = *out;
	}
}

/* Events ------------------------------------------------------------------------ */

static void note_memory(struct line *line)
{
	size_t size = line->out.capacity;
	if (line->in != NULL)
		size += sizeof(*line->in) + line->in->capacity;
	atomic_store_explicit(&line->held, size, memory_order_relaxed);
}

static void on_readable(struct ev_loop *loop, ev_io *w, int events)
{
	struct line *line = w->data;
	if (line->ahead >= LINE_AHEAD_MAX) {
		line->is_paused = true;
		ev_io_stop(loop, w);
		return;
	}
	ssize_t n = wire_read(&line->wire, &line->in);
	if (n < 0) {
		end(line, errno == EPROTO ? xstrdup(tls_reason(line->wire.tls)) : NULL);
		return;
	}
	if (n > 0) {
		net_thread_count_received(line->thread, n);
		hand_over(line);
		if (line->in != NULL)
			chunk_shrink(&line->in);
	}
	if (line->wire.tls != NULL &&
	    wire_after_read(&line->wire, ev_is_active(w), unsent(line) > 0))
		flush(line);
	note_memory(line);
}

static void on_writable(struct ev_loop *loop, ev_io *w, int events)
{
	struct line *line = w->data;
	flush(line);
	/* TLS may have waited for it to read on. */
	if (line->wire.tls != NULL && ev_is_active(&line->wire.input))
		ev_feed_event(loop, &line->wire.input, EV_READ);
	note_memory(line);
}

static void start(struct line *line)
{
	wire_open(&line->wire, net_thread_loop(line->thread), line->wire.fd, line->wire.tls,
		  on_readable, on_writable, line);
	wire_start_input(&line->wire);
}

static void forget(struct line *line, bool lingers)
{
	wire_close(&line->wire, lingers && !line->is_ended ? net_thread_linger(line->thread) : NULL);
	outbuf_put(&line->out);
	if (line->in != NULL)
		chunk_put(line->in);
	report(line, NOTE_GONE);
}

void line_obey(struct line *line, struct note *note)
{
	unsigned what = note->what;
	if ((what & NOTE_OPEN) != 0)
		start(line);
	line->ahead -= note->taken;
	if (note->out.size > 0)
		add_output(line, &note->out);
	if ((what & NOTE_TELL) != 0)
		line->tells = true;
	note_free(note);
	if (!line->is_ended && (line->tells || !ev_is_active(&line->wire.output)))
		flush(line);
	if ((what & NOTE_CLOSE) != 0) {
		forget(line, (what & NOTE_LINGER) != 0);
		return;
	}
	if (line->is_paused && line->ahead < LINE_AHEAD_MAX / 2 && !line->is_ended) {
		line->is_paused = false;
		wire_start_input(&line->wire);
	}
	note_memory(line);
}

/* By tx ---------------------------------------------------------------------------- */

struct line *line_new(struct connection *con, struct net_thread *thread, int fd, struct tls *tls)
{
	struct line *line = xcalloc(1, sizeof(*line));
	line->con = con;
	line->thread = thread;
	line->wire.fd = fd;
	line->wire.tls = tls;
	return line;
}

void line_delete(struct line *line)
{
	if (line->wire.fd >= 0) {
		/* It has never been opened: there are no watchers. */
		tls_delete(line->wire.tls);
		close(line->wire.fd);
	}
	xfree(line);
}
