/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The texts of values: numbers, dates with and without a format, UUIDs, paths. What is
 * read is a value that prints, and reads the same again.
 */
#include "fuzz.h"

#include "data/base64.h"
#include "data/datetime.h"
#include "data/decimal.h"
#include "data/json_path.h"
#include "data/uuid.h"

static void try_decimal(const char *text)
{
	struct decimal d, again;
	char out[DECIMAL_STR_SIZE];
	if (decimal_from_string(&d, text) != 0)
		return;
	decimal_to_string(&d, out);
	FUZZ_CHECK(decimal_from_string(&again, out) == 0 && decimal_compare(&d, &again) == 0);
	struct decimal r;
	decimal_add(&r, &d, &d);
	decimal_sub(&r, &d, &d);
	decimal_mul(&r, &d, &d);
	decimal_div(&r, &d, &d);
	decimal_sqrt(&r, &d);
	double x = decimal_to_double(&d);
	decimal_compare_double(&d, x);
	decimal_hash_key(&d);
}

static void try_datetime(const char *text, size_t len)
{
	struct datetime d = {0}, again = {0};
	char out[DATETIME_STR_SIZE];
	for (int strict = 0; strict <= 1; strict++) {
		if (datetime_parse(&d, text, len, strict) <= 0)
			continue;
		FUZZ_CHECK(datetime_is_valid(&d));
		datetime_to_string(&d, out);
		if (datetime_parse(&again, out, strlen(out), false) > 0)
			FUZZ_CHECK(datetime_is_valid(&again));
	}
	int offset, zone;
	datetime_parse_zone(text, len, &offset, &zone);
}

/** What stands before the first zero byte is a format, for the rest. */
static void try_format(const char *format, const char *text, size_t len)
{
	struct datetime d = {0};
	char out[256];
	if (datetime_parse_format(&d, text, len, format) > 0)
		FUZZ_CHECK(datetime_is_valid(&d));
	FUZZ_CHECK(datetime_format(&d, format, out, sizeof(out)) < SIZE_MAX);
	/* As much as there is room for. */
	char *small = malloc(7);
	datetime_format(&d, format, small, 7);
	free(small);
}

static void try_path(const char *text, size_t len)
{
	struct json_path path = json_path_of(text, len);
	struct json_token token;
	bool is_good = json_path_check(path) == 0;
	int rc;
	while ((rc = json_path_next(&path, &token)) == 0 && token.type != JSON_TOKEN_END)
		FUZZ_CHECK(json_token_equal(&token, &token) && path.offset <= len);
	FUZZ_CHECK(is_good == (rc == 0));
	path = json_path_of(text, len);
	while (json_path_next_any(&path, &token) == 0 && token.type != JSON_TOKEN_END)
		FUZZ_CHECK(path.offset <= len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static bool is_started;
	if (!is_started)
		fiber_init();
	is_started = true;
	/* Some take a length, some the zero at the end. */
	char *bytes = fuzz_copy(data, size);
	char *text = malloc(size + 1);
	memcpy(text, bytes, size);
	text[size] = '\0';
	try_decimal(text);
	try_datetime(bytes, size);
	try_path(bytes, size);
	struct uuid uuid;
	uuid_from_string(&uuid, bytes, size);
	size_t format = strlen(text);
	if (format < size)
		try_format(text, bytes + format + 1, size - format - 1);
	free(text);
	free(bytes);
	fuzz_done();
	return 0;
}
