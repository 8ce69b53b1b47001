/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The text header of journal and snapshot files.
 */
#include <stdio.h>
#include <string.h>

#include "db/wal/xlog.h"

const char *xlog_type_names[xlog_type_MAX] = {"SNAP", "XLOG"};
const char *xlog_type_suffixes[xlog_type_MAX] = {".snap", ".xlog"};

/** The version of the reference whose formats these are; readers show it only. */
#define XLOG_WRITER_VERSION "2.6.0-tarn"

static void put_str(struct buf *out, const char *str)
{
	buf_append(out, str, strlen(str));
}

static void put_vclock(struct buf *out, const char *name, const struct vclock *vclock)
{
	char str[VCLOCK_STR_MAX];
	vclock_to_string(vclock, str);
	put_str(out, name);
	put_str(out, str);
	put_str(out, "\n");
}

void xlog_meta_encode(const struct xlog_meta *meta, struct buf *out)
{
	char uuid[UUID_STR_LEN + 1];
	uuid_to_string(&meta->instance_uuid, uuid);
	put_str(out, xlog_type_names[meta->type]);
	put_str(out, "\n0.13\nVersion: " XLOG_WRITER_VERSION "\nInstance: ");
	put_str(out, uuid);
	put_str(out, "\n");
	put_vclock(out, "VClock: ", &meta->vclock);
	if (meta->has_prev_vclock)
		put_vclock(out, "PrevVClock: ", &meta->prev_vclock);
	put_str(out, "\n");
}

/** Takes a line without its newline; false where no whole one is left. */
static bool next_line(const char **pos, const char *end, const char **line, size_t *len)
{
	const char *newline = memchr(*pos, '\n', end - *pos);
	if (newline == NULL)
		return false;
	*line = *pos;
	*len = newline - *pos;
	*pos = newline + 1;
	return true;
}

static bool line_is(const char *line, size_t len, const char *str)
{
	return len == strlen(str) && memcmp(line, str, len) == 0;
}

/** Is the line `KEY: value`? Then the value. */
static bool line_value(const char *line, size_t len, const char *key, const char **value,
		       size_t *value_len)
{
	size_t key_len = strlen(key);
	if (len < key_len || memcmp(line, key, key_len) != 0)
		return false;
	*value = line + key_len;
	*value_len = len - key_len;
	return true;
}

static const char *parse_type(struct xlog_meta *meta, const char *line, size_t len)
{
	for (int type = 0; type < xlog_type_MAX; type++) {
		if (line_is(line, len, xlog_type_names[type])) {
			meta->type = type;
			return NULL;
		}
	}
	return "the first line is neither SNAP nor XLOG";
}

/** Reads one `Key: value` line; keys that are not known are left alone. */
static const char *parse_field(struct xlog_meta *meta, const char *line, size_t len)
{
	const char *value;
	size_t n;
	if (line_value(line, len, "Instance: ", &value, &n) ||
	    line_value(line, len, "Server: ", &value, &n)) {
		if (uuid_from_string(&meta->instance_uuid, value, n) != 0)
			return "the instance's UUID is broken";
	} else if (line_value(line, len, "VClock: ", &value, &n)) {
		if (vclock_from_string(&meta->vclock, value, n) != 0)
			return "the vclock is broken";
	} else if (line_value(line, len, "PrevVClock: ", &value, &n)) {
		if (vclock_from_string(&meta->prev_vclock, value, n) != 0)
			return "the previous file's vclock is broken";
		meta->has_prev_vclock = true;
	} else if (memchr(line, ':', len) == NULL) {
		return "a line is no 'Key: value'";
	}
	return NULL;
}

ssize_t xlog_meta_parse(struct xlog_meta *meta, const char *data, size_t size,
			const char **reason)
{
	memset(meta, 0, sizeof(*meta));
	vclock_create(&meta->vclock);
	vclock_create(&meta->prev_vclock);
	const char *pos = data, *end = data + size, *line;
	size_t len;
	*reason = "the header is not whole";
	if (!next_line(&pos, end, &line, &len))
		return -1;
	if ((*reason = parse_type(meta, line, len)) != NULL)
		return -1;
	*reason = "the header is not whole";
	if (!next_line(&pos, end, &line, &len))
		return -1;
	if (!line_is(line, len, "0.13") && !line_is(line, len, "0.12")) {
		*reason = "the format's version is not supported";
		return -1;
	}
	for (;;) {
		if (!next_line(&pos, end, &line, &len)) {
			*reason = "the header is not whole";
			return -1;
		}
		if (len == 0)
			break;
		if ((*reason = parse_field(meta, line, len)) != NULL)
			return -1;
	}
	if (uuid_is_nil(&meta->instance_uuid)) {
		*reason = "the header has no instance UUID";
		return -1;
	}
	*reason = NULL;
	return pos - data;
}
