/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Time zones: see timezone.h. Reads files of the tz database (TZif, RFC 8536): the
 * transitions of the block with 64-bit times, and the POSIX rule for what comes later.
 */
#include "data/timezone_private.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/memory.h"
#include "data/timezone_rule.h"

enum {
	TZIF_HEADER_SIZE = 44,
	TZIF_SIZE_MAX = 1 << 20,
	TZIF_TYPE_SIZE = 6,
	RULE_SIZE_MAX = 64,
	/** A link to a link ... */
	LINK_DEPTH_MAX = 5,
	LINK_LINE_MAX = 256,
};

/** A zone, as its file tells. */
struct zone {
	uint32_t count;
	/** When each transition happens, ascending; what holds from then on. */
	int64_t *times;
	struct timezone_info *infos;
	/** Before the first. */
	struct timezone_info first;
	/** After the last, where has_rule. */
	struct timezone_rule rule;
	bool has_rule;
};

static struct zone *zone_cache[TIMEZONE_INDEX_MAX];

static const char *zoneinfo_dir(void)
{
	const char *dir = getenv("TZDIR");
	return dir != NULL && *dir != '\0' ? dir : "/usr/share/zoneinfo";
}

static FILE *zoneinfo_open(const char *name)
{
	char path[512];
	int n = snprintf(path, sizeof(path), "%s/%s", zoneinfo_dir(), name);
	return n > 0 && (size_t)n < sizeof(path) ? fopen(path, "re") : NULL;
}

/* Reading files. ------------------------------------------------------------- */

/** Big-endian, signed, of 4 or 8 bytes. */
static int64_t load_be(const uint8_t *p, int size)
{
	uint64_t v = *p & 0x80 ? UINT64_MAX : 0;
	for (int i = 0; i < size; i++)
		v = v << 8 | p[i];
	return (int64_t)v;
}

/** Counts of a header, and the size of the block behind it. */
struct tzif_header {
	uint32_t isut, isstd, leap, time, type, chars;
	size_t block_size;
};

/** False: not a header, or of a file too large to be one. */
static bool read_header(const uint8_t *p, size_t left, int time_size, struct tzif_header *h)
{
	if (left < TZIF_HEADER_SIZE || memcmp(p, "TZif", 4) != 0)
		return false;
	uint32_t *counts[] = {&h->isut, &h->isstd, &h->leap, &h->time, &h->type, &h->chars};
	for (int i = 0; i < 6; i++) {
		*counts[i] = load_be(p + 20 + 4 * i, 4);
		if (*counts[i] > TZIF_SIZE_MAX)
			return false;
	}
	h->block_size = (size_t)h->time * (time_size + 1) + h->type * TZIF_TYPE_SIZE + h->chars +
			(size_t)h->leap * (time_size + 4) + h->isstd + h->isut;
	return h->type > 0 && left - TZIF_HEADER_SIZE >= h->block_size;
}

static struct timezone_info read_type(const uint8_t *types, uint8_t i)
{
	const uint8_t *p = types + i * TZIF_TYPE_SIZE;
	return (struct timezone_info){load_be(p, 4), p[4] != 0};
}

/** The block of 64-bit times. False: an index leads past the types. */
static bool read_block(struct zone *z, const uint8_t *p, const struct tzif_header *h)
{
	const uint8_t *indexes = p + 8 * (size_t)h->time, *types = indexes + h->time;
	z->count = h->time;
	z->times = xmalloc((h->time + 1) * sizeof(*z->times));
	z->infos = xmalloc((h->time + 1) * sizeof(*z->infos));
	for (uint32_t i = 0; i < h->time; i++) {
		if (indexes[i] >= h->type)
			return false;
		z->times[i] = load_be(p + 8 * (size_t)i, 8);
		z->infos[i] = read_type(types, indexes[i]);
	}
	z->first = read_type(types, 0);
	return true;
}

/** Between two line breaks at the end: a POSIX rule, or nothing. */
static bool read_rule(struct zone *z, const uint8_t *p, size_t left)
{
	char text[RULE_SIZE_MAX];
	const uint8_t *end = left > 1 && *p == '\n' ? memchr(p + 1, '\n', left - 1) : NULL;
	if (end == NULL || end - p > (long)sizeof(text))
		return false;
	size_t len = end - p - 1;
	memcpy(text, p + 1, len);
	text[len] = '\0';
	z->has_rule = timezone_rule_parse(&z->rule, text) == 0;
	return z->has_rule || len == 0;
}

static bool zone_read(struct zone *z, const uint8_t *data, size_t size)
{
	struct tzif_header h;
	/* First comes a block with 32-bit times, of no use. */
	if (!read_header(data, size, 4, &h) || data[4] < '2')
		return false;
	size_t skip = TZIF_HEADER_SIZE + h.block_size;
	data += skip;
	size -= skip;
	if (!read_header(data, size, 8, &h))
		return false;
	data += TZIF_HEADER_SIZE;
	size -= TZIF_HEADER_SIZE;
	return read_block(z, data, &h) && read_rule(z, data + h.block_size, size - h.block_size);
}

static void zone_delete(struct zone *z)
{
	xfree(z->times);
	xfree(z->infos);
	xfree(z);
}

static struct zone *zone_load(const char *name)
{
	FILE *f = zoneinfo_open(name);
	if (f == NULL)
		return NULL;
	uint8_t *data = xmalloc(TZIF_SIZE_MAX);
	size_t size = fread(data, 1, TZIF_SIZE_MAX, f);
	fclose(f);
	struct zone *z = xcalloc(1, sizeof(*z));
	if (!zone_read(z, data, size)) {
		zone_delete(z);
		z = NULL;
	}
	xfree(data);
	return z;
}

static const struct zone *zone_get(int index, const char *name)
{
	if (zone_cache[index] == NULL)
		zone_cache[index] = zone_load(name);
	return zone_cache[index];
}

/* Names. ---------------------------------------------------------------------- */

/** Other names of zones, as the database lists them: "L TARGET NAME". */
static struct {
	struct link {
		char *target, *name;
	} *all;
	uint32_t count;
	bool is_loaded;
} links;

static void links_load(void)
{
	FILE *f = links.is_loaded ? NULL : zoneinfo_open("tzdata.zi");
	links.is_loaded = true;
	if (f == NULL)
		return;
	char line[LINK_LINE_MAX], target[LINK_LINE_MAX], name[LINK_LINE_MAX];
	while (fgets(line, sizeof(line), f) != NULL) {
		if (sscanf(line, "L %255s %255s", target, name) != 2)
			continue;
		links.all = xrealloc(links.all, (links.count + 1) * sizeof(*links.all));
		links.all[links.count++] = (struct link){xstrdup(target), xstrdup(name)};
	}
	fclose(f);
}

static bool name_equal(const char *known, const char *name, size_t len)
{
	return strlen(known) == len && strncasecmp(known, name, len) == 0;
}

/** What the name is a link to, or NULL. */
static const char *link_target(const char *name, size_t len)
{
	for (uint32_t i = 0; i < links.count; i++)
		if (name_equal(links.all[i].name, name, len))
			return links.all[i].target;
	return NULL;
}

/** Has a zone with a new name an old one in the table, now a link to it? The first of several. */
static int find_former_name(const char *name, size_t len)
{
	int index = 0;
	for (uint32_t i = 0; i < links.count; i++) {
		if (!name_equal(links.all[i].target, name, len))
			continue;
		int candidate = timezone_find(links.all[i].name, strlen(links.all[i].name));
		if (candidate != 0 && (index == 0 || candidate < index))
			index = candidate;
	}
	return index;
}

int timezone_by_name(const char *name, size_t len)
{
	int index = timezone_find(name, len);
	if (index == 0)
		links_load();
	for (int depth = 0; index == 0 && depth < LINK_DEPTH_MAX; depth++) {
		const char *target = link_target(name, len);
		if (target == NULL)
			return find_former_name(name, len);
		name = target;
		len = strlen(target);
		index = timezone_find(name, len);
	}
	return index != 0 && timezone_entry(index)->is_ambiguous ? TIMEZONE_AMBIGUOUS : index;
}

const char *timezone_name(int index)
{
	const struct timezone_name *n = timezone_entry(index);
	return n != NULL ? n->name : NULL;
}

/* What holds when. -------------------------------------------------------------- */

static struct timezone_info zone_at(const struct zone *z, int64_t utc)
{
	if (z->count == 0 || utc < z->times[0])
		return z->count == 0 && z->has_rule ? timezone_rule_at(&z->rule, utc) : z->first;
	uint32_t low = 0, high = z->count;
	/* The last transition that is not after the moment. */
	while (high - low > 1) {
		uint32_t middle = (low + high) / 2;
		if (z->times[middle] <= utc)
			low = middle;
		else
			high = middle;
	}
	return low == z->count - 1 && z->has_rule ? timezone_rule_at(&z->rule, utc) : z->infos[low];
}

int timezone_at(int index, int64_t utc, struct timezone_info *info)
{
	const struct timezone_name *n = timezone_entry(index);
	if (n == NULL)
		return -1;
	if (!n->is_zone) {
		*info = (struct timezone_info){n->offset * 60, n->is_dst};
		return 0;
	}
	const struct zone *z = zone_get(index, n->name);
	if (z == NULL)
		return -1;
	*info = zone_at(z, utc);
	return 0;
}

int timezone_at_local(int index, int64_t local, struct timezone_info *info)
{
	struct timezone_info before, after;
	/* No zone changes twice within two days. */
	const int64_t day = 24 * 60 * 60;
	if (timezone_at(index, local - day, &before) != 0 ||
	    timezone_at(index, local + day, &after) != 0)
		return -1;
	*info = before;
	if (before.offset == after.offset) {
		/* The summer's flag may differ still. */
		return timezone_at(index, local - before.offset, info);
	}
	struct timezone_info early, late;
	if (timezone_at(index, local - before.offset, &early) != 0 ||
	    timezone_at(index, local - after.offset, &late) != 0)
		return -1;
	if (early.offset == before.offset)
		*info = early;
	else if (late.offset == after.offset)
		*info = late;
	return 0;
}
