/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The text of a datetime by a format of strftime(3). The C library does what it knows,
 * in the language of the locale "C"; %f, zones and what needs the epoch are done here.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <locale.h>

#include "data/datetime.h"
#include "data/timezone.h"

/** The text so far: all of it is counted, what fits is kept. */
struct text {
	char *out;
	size_t size, len;
};

static void put(struct text *t, const char *s, size_t len)
{
	for (size_t i = 0; i < len; i++, t->len++)
		if (t->len + 1 < t->size)
			t->out[t->len] = s[i];
}

static struct tm to_tm(const struct datetime_fields *f)
{
	return (struct tm){
		.tm_year = (int)f->year - 1900, .tm_mon = f->month - 1, .tm_mday = f->day,
		.tm_hour = f->hour, .tm_min = f->min, .tm_sec = f->sec,
		.tm_wday = f->wday - 1, .tm_yday = f->yday - 1, .tm_isdst = f->isdst,
		.tm_gmtoff = f->tzoffset * 60,
	};
}

static locale_t c_locale(void)
{
	static locale_t locale;
	if (locale == (locale_t)0)
		locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	return locale;
}

static void put_libc(struct text *t, const struct tm *tm, const char *spec, size_t spec_len)
{
	char format[8], text[256];
	memcpy(format, spec, spec_len);
	format[spec_len] = '\0';
	put(t, text, strftime_l(text, sizeof(text), format, tm, c_locale()));
}

/** %f: without a width as many groups of three digits as there is something in. */
static void put_nsec(struct text *t, int32_t nsec, int width)
{
	char digits[16];
	snprintf(digits, sizeof(digits), "%09d", nsec);
	if (width == 0)
		width = nsec % 1000000 == 0 ? 3 : nsec % 1000 == 0 ? 6 : 9;
	put(t, digits, width < 9 ? width : 9);
}

static void put_offset(struct text *t, int tzoffset)
{
	char out[16];
	int minutes = tzoffset < 0 ? -tzoffset : tzoffset;
	put(t, out, snprintf(out, sizeof(out), "%c%02d%02d", tzoffset < 0 ? '-' : '+',
			     minutes / 60, minutes % 60));
}

static void put_zone(struct text *t, const struct datetime *d)
{
	const char *name = d->tzindex != 0 ? timezone_name(d->tzindex) : NULL;
	if (name != NULL)
		put(t, name, strlen(name));
	else if (d->tzoffset == 0)
		put(t, "UTC", 3);
	else
		put_offset(t, d->tzoffset);
}

static void put_epoch(struct text *t, const struct datetime *d)
{
	char out[32];
	put(t, out, snprintf(out, sizeof(out), "%.0f", d->epoch));
}

/** Letters that strftime() knows, alone or behind a modifier. */
static bool is_known(char c)
{
	return c != '\0' && strchr("aAbBcCdDeFgGhHIjklmMnpPrRStTuUVwWxXyY%", c) != NULL;
}

size_t datetime_format(const struct datetime *d, const char *format, char *out, size_t size)
{
	struct text t = {out, size, 0};
	struct datetime_fields f;
	datetime_get_fields(d, &f);
	struct tm tm = to_tm(&f);
	for (const char *p = format; *p != '\0'; p++) {
		if (*p != '%') {
			put(&t, p, 1);
			continue;
		}
		const char *spec = p++;
		if (isdigit((unsigned char)*p) && p[1] == 'f') {
			put_nsec(&t, d->nsec, *p - '0');
			p++;
			continue;
		}
		if ((*p == 'E' || *p == 'O' || *p == '-' || *p == '_' || *p == '^') &&
		    is_known(p[1]))
			p++;
		switch (*p) {
		case 'f': put_nsec(&t, d->nsec, 0); break;
		case 'z': put_offset(&t, d->tzoffset); break;
		case 'Z': put_zone(&t, d); break;
		case 's': put_epoch(&t, d); break;
		case 'v': put_libc(&t, &tm, "%e-%b-", 6); put_libc(&t, &tm, "%Y", 2); break;
		case '+':
			put_libc(&t, &tm, "%a %b ", 6);
			put_libc(&t, &tm, "%e %T ", 6);
			put_zone(&t, d);
			put_libc(&t, &tm, " %Y", 3);
			break;
		default:
			if (is_known(*p)) {
				put_libc(&t, &tm, spec, p - spec + 1);
			} else {
				put(&t, "%", 1);
				p = spec;
			}
			break;
		}
	}
	if (size > 0)
		out[t.len < size ? t.len : size - 1] = '\0';
	return t.len;
}
