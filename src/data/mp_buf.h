/* SPDX-License-Identifier: BSD-2-Clause
 *
 * MessagePack values into a growing buffer. The process stops where there is no
 * memory for it (core/buf.h).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <msgpuck.h>

#include "core/buf.h"

enum {
	/** The most that the head of an array, a map, a string or a whole number takes. */
	MP_HEAD_SIZE_MAX = 9,
};

static inline void mp_put_nil(struct buf *out)
{
	*buf_alloc(out, 1) = (char)0xc0;
}

static inline void mp_put_bool(struct buf *out, bool value)
{
	*buf_alloc(out, 1) = (char)(value ? 0xc3 : 0xc2);
}

static inline void mp_put_uint(struct buf *out, uint64_t value)
{
	char *p = buf_reserve(out, MP_HEAD_SIZE_MAX);
	out->size += mp_encode_uint(p, value) - p;
}

/** A whole number of any sign, in the form that the format wants for it. */
static inline void mp_put_int(struct buf *out, int64_t value)
{
	char *p = buf_reserve(out, MP_HEAD_SIZE_MAX);
	out->size += (value >= 0 ? mp_encode_uint(p, value) : mp_encode_int(p, value)) - p;
}

static inline void mp_put_strn(struct buf *out, const char *s, uint32_t len)
{
	char *p = buf_reserve(out, len + MP_HEAD_SIZE_MAX);
	out->size += mp_encode_str(p, s, len) - p;
}

static inline void mp_put_bin(struct buf *out, const char *data, uint32_t len)
{
	char *p = buf_reserve(out, len + MP_HEAD_SIZE_MAX);
	out->size += mp_encode_bin(p, data, len) - p;
}

static inline void mp_put_str(struct buf *out, const char *s)
{
	mp_put_strn(out, s, strlen(s));
}

static inline void mp_put_array(struct buf *out, uint32_t count)
{
	char *p = buf_reserve(out, MP_HEAD_SIZE_MAX);
	out->size += mp_encode_array(p, count) - p;
}

static inline void mp_put_map(struct buf *out, uint32_t count)
{
	char *p = buf_reserve(out, MP_HEAD_SIZE_MAX);
	out->size += mp_encode_map(p, count) - p;
}
