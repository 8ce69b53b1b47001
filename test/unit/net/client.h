/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A blocking client of the binary protocol for tests: it sends packets made by
 * hand and checks answers byte by byte.
 */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <msgpuck.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "db/errcode.h"
#include "db/iproto_const.h"
#include "net/address.h"
#include "net/connection.h"
#include "net/iproto.h"

/** Where the server under test listens; set by server_setup(). */
static char server_address[ADDRESS_TEXT_MAX];

struct client {
	int fd;
	char greeting[GREETING_SIZE];
	char *in;
	size_t in_size;
	size_t in_capacity;
};

struct reply {
	uint32_t code;
	uint64_t sync;
	/** Valid until the next reply is read. */
	const char *body, *end;
};

static inline int dial(const char *address)
{
	struct address_uri uri;
	struct address a;
	assert_true(address_parse(address, strlen(address), &uri));
	assert_int_equal(address_resolve(&uri, &a, 1), 1);
	int fd = socket(a.sa.ss_family, SOCK_STREAM, 0);
	struct timeval limit = {.tv_sec = 20};
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	if (connect(fd, (struct sockaddr *)&a.sa, a.len) != 0) {
		close(fd);
		return -1;
	}
	return fd;
}

static inline void read_greeting(struct client *c)
{
	size_t got = 0;
	while (got < GREETING_SIZE) {
		ssize_t n = recv(c->fd, c->greeting + got, GREETING_SIZE - got, 0);
		assert_true(n > 0);
		got += n;
	}
}

static inline void client_open_at(struct client *c, const char *address)
{
	memset(c, 0, sizeof(*c));
	c->fd = dial(address);
	assert_true(c->fd >= 0);
	read_greeting(c);
	c->in_capacity = 1 << 16;
	c->in = malloc(c->in_capacity);
}

static inline void client_open(struct client *c)
{
	client_open_at(c, server_address);
}

static inline void client_close(struct client *c)
{
	close(c->fd);
	free(c->in);
}

static inline void send_bytes(struct client *c, const void *data, size_t size)
{
	for (size_t sent = 0; sent < size; ) {
		ssize_t n = send(c->fd, (const char *)data + sent, size - sent, MSG_NOSIGNAL);
		assert_true(n > 0);
		sent += n;
	}
}

/** Keeps a body where it can be looked at until the next reply. */
static inline void keep_body(struct reply *r, const char *body, size_t size)
{
	static char *copy;
	free(copy);
	copy = malloc(size + 1);
	memcpy(copy, body, size);
	r->body = copy;
	r->end = copy + size;
}

/** Takes a reply out of the buffer; false where it is not all there. */
static inline bool take_reply(struct client *c, struct reply *r)
{
	const char *p = c->in, *end = c->in + c->in_size;
	if (end - p < 5)
		return false;
	uint64_t size = mp_decode_uint(&p);
	if ((uint64_t)(end - p) < size)
		return false;
	const char *packet_end = p + size;
	for (uint32_t pairs = mp_decode_map(&p); pairs > 0; pairs--) {
		uint64_t key = mp_decode_uint(&p), v = mp_decode_uint(&p);
		if (key == IPROTO_REQUEST_TYPE)
			r->code = v;
		else if (key == IPROTO_SYNC)
			r->sync = v;
	}
	keep_body(r, p, packet_end - p);
	c->in_size = end - packet_end;
	memmove(c->in, packet_end, c->in_size);
	return true;
}

/** 1: a reply; 0: the server closed the connection. */
static inline int receive(struct client *c, struct reply *r)
{
	while (!take_reply(c, r)) {
		if (c->in_size == c->in_capacity)
			c->in = realloc(c->in, c->in_capacity *= 2);
		ssize_t n = recv(c->fd, c->in + c->in_size, c->in_capacity - c->in_size, 0);
		if (n == 0 || (n < 0 && errno == ECONNRESET))
			return 0;
		assert_true(n > 0);
		c->in_size += n;
	}
	return 1;
}

/** Puts length and header in front of a body; returns the packet's size. */
static inline size_t make_packet(char *out, unsigned type, uint64_t sync, const char *body,
				 size_t size)
{
	char *p = out + 5;
	p = mp_encode_map(p, 2);
	p = mp_encode_uint(p, IPROTO_REQUEST_TYPE);
	p = mp_encode_uint(p, type);
	p = mp_encode_uint(p, IPROTO_SYNC);
	p = mp_encode_uint(p, sync);
	memcpy(p, body, size);
	p += size;
	out[0] = '\xce';
	mp_store_u32(out + 1, p - out - 5);
	return p - out;
}

static inline void send_packet(struct client *c, unsigned type, uint64_t sync, const char *body,
			size_t size)
{
	char *packet = malloc(size + 64);
	send_bytes(c, packet, make_packet(packet, type, sync, body, size));
	free(packet);
}

/** A CALL's body with the argument bytes `args` (an array). */
static inline size_t call_body(char *out, const char *name, const char *args, size_t args_size)
{
	char *p = mp_encode_map(out, 2);
	p = mp_encode_uint(p, IPROTO_FUNCTION_NAME);
	p = mp_encode_str(p, name, strlen(name));
	p = mp_encode_uint(p, IPROTO_TUPLE);
	memcpy(p, args, args_size);
	return p + args_size - out;
}

static inline void send_call(struct client *c, uint64_t sync, const char *name, const char *args,
		      size_t args_size)
{
	char *body = malloc(args_size + 256);
	send_packet(c, IPROTO_CALL, sync, body, call_body(body, name, args, args_size));
	free(body);
}

static inline void send_call_number(struct client *c, uint64_t sync, const char *name, double v)
{
	char args[16], *p = mp_encode_array(args, 1);
	p = mp_encode_double(p, v);
	send_call(c, sync, name, args, p - args);
}

static inline void send_call_text(struct client *c, uint64_t sync, const char *name,
				  const char *text)
{
	char args[300], *p = mp_encode_array(args, 1);
	p = mp_encode_str(p, text, strlen(text));
	send_call(c, sync, name, args, p - args);
}

static inline void expect_reply(struct client *c, struct reply *r, uint32_t code, uint64_t sync)
{
	assert_int_equal(receive(c, r), 1);
	if (r->code != code)
		fail_msg("code %u in place of %u", r->code, code);
	assert_int_equal(r->sync, sync);
	const char *p = r->body;
	assert_int_equal(mp_check(&p, r->end), 0);
	assert_ptr_equal(p, r->end);
}

static inline void expect_ping(struct client *c)
{
	struct reply r;
	send_packet(c, IPROTO_PING, 4711, "\x80", 1);
	expect_reply(c, &r, IPROTO_OK, 4711);
}

/** The DATA array; returns its count. */
static inline uint32_t reply_data(const struct reply *r, const char **p)
{
	*p = r->body;
	assert_int_equal(mp_decode_map(p), 1);
	assert_int_equal(mp_decode_uint(p), IPROTO_DATA);
	return mp_decode_array(p);
}

static inline void expect_error_text(const struct reply *r, const char *text)
{
	const char *p = r->body;
	uint32_t len;
	assert_int_equal(mp_decode_map(&p), 2);
	assert_int_equal(mp_decode_uint(&p), IPROTO_ERROR_24);
	const char *s = mp_decode_str(&p, &len);
	if (len != strlen(text) || memcmp(s, text, len) != 0)
		fail_msg("'%.*s' in place of '%s'", (int)len, s, text);
	assert_int_equal(mp_decode_uint(&p), IPROTO_ERROR);
}

static inline uint64_t ask_number(struct client *c, const char *name, int which)
{
	struct reply r;
	const char *p;
	send_call(c, 1, name, "\x90", 1);
	expect_reply(c, &r, IPROTO_OK, 1);
	assert_true(reply_data(&r, &p) > (uint32_t)which);
	while (which-- > 0)
		mp_next(&p);
	return mp_decode_uint(&p);
}

/** Asks until the number is at least `low` and at most `high`. */
static inline void wait_for(struct client *c, const char *name, int which, uint64_t low,
			    uint64_t high)
{
	uint64_t v = 0;
	for (int i = 0; i < 10000; i++) {
		v = ask_number(c, name, which);
		if (v >= low && v <= high)
			return;
		usleep(1000);
	}
	fail_msg("%s is %llu for good", name, (unsigned long long)v);
}

#define ERROR(code) (IPROTO_TYPE_ERROR | (code))
