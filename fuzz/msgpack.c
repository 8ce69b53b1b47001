/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Values in MessagePack, one behind the other, with all extensions: what the check passes
 * can be walked, printed, compared, hashed and turned into errors.
 */
#include "fuzz.h"

#include "data/datetime.h"
#include "data/decimal.h"
#include "data/mp.h"
#include "db/error.h"
#include "db/error_mp.h"

enum { VALUES_MAX = 16 };

static int sign(int x)
{
	return (x > 0) - (x < 0);
}

static void compare(const char *a, const char *b)
{
	int order = sign(mp_compare_scalar(a, b));
	FUZZ_CHECK(order == -sign(mp_compare_scalar(b, a)));
	enum mp_class c = mp_classof(a);
	if (c != mp_classof(b) || c >= MP_CLASS_EXT)
		return;
	FUZZ_CHECK(order != 0 || mp_hash_scalar(a, 1) == mp_hash_scalar(b, 1));
	if (c == MP_CLASS_NUMBER) {
		FUZZ_CHECK(sign(mp_compare_number(a, b)) == order);
		FUZZ_CHECK(order >= 0 || mp_number_order_key(a) <= mp_number_order_key(b));
	} else if (c == MP_CLASS_DATETIME) {
		FUZZ_CHECK(order >= 0 || mp_datetime_order_key(a) <= mp_datetime_order_key(b));
	}
}

/** An extension that was unpacked packs to what unpacks to the same. */
static void repack(const char *value)
{
	int8_t type;
	uint32_t len = mp_decode_extl(&value, &type);
	struct decimal d, d2;
	struct datetime t, t2;
	struct interval i, i2;
	char out[128];
	if (type == MP_EXT_DECIMAL && decimal_unpack(&d, value, len) == 0) {
		size_t size = decimal_pack(&d, out) - out;
		FUZZ_CHECK(size == decimal_packed_size(&d));
		FUZZ_CHECK(decimal_unpack(&d2, out, size) == 0 && decimal_compare(&d, &d2) == 0);
	} else if (type == MP_EXT_DATETIME && datetime_unpack(&t, value, len) == 0) {
		size_t size = datetime_pack(&t, out) - out;
		FUZZ_CHECK(size == datetime_packed_size(&t));
		FUZZ_CHECK(datetime_unpack(&t2, out, size) == 0 && datetime_compare(&t, &t2) == 0);
	} else if (type == MP_EXT_INTERVAL && interval_unpack(&i, value, len) == 0) {
		size_t size = interval_pack(&i, out) - out;
		FUZZ_CHECK(size == interval_packed_size(&i));
		FUZZ_CHECK(interval_unpack(&i2, out, size) == 0 && interval_compare(&i, &i2) == 0);
		if (datetime_from_fields(&t, &(struct datetime_fields){.year = 2000, .month = 1,
								       .day = 31}) == 0) {
			datetime_add(&t, &i, 1);
			datetime_add(&t, &i, -1);
		}
	} else if (type == MP_EXT_ERROR) {
		struct error *e = error_from_stack(value, value + len);
		if (e != NULL) {
			struct buf b = BUF_INIT;
			error_put_stack(&b, e, true);
			FUZZ_CHECK(mp_check_whole(b.data, buf_end(&b)) == 0);
			buf_free(&b);
			error_unref(e);
		}
	}
}

static void use(const char *value, const char *end)
{
	const char *p = value;
	mp_next(&p);
	FUZZ_CHECK(p == end);
	struct buf out = BUF_INIT;
	mp_print(&out, value);
	buf_free(&out);
	int64_t i;
	uint64_t u;
	double d;
	char text[MP_EXT_TEXT_SIZE];
	(void)(p = value, mp_read_int64(&p, &i));
	(void)(p = value, mp_read_uint64(&p, &u));
	(void)(p = value, mp_read_double(&p, &d));
	if (mp_typeof(*value) == MP_EXT) {
		mp_ext_to_string(value, text);
		repack(value);
	}
	compare(value, value);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static bool is_started;
	if (!is_started)
		fiber_init();
	is_started = true;
	char *copy = fuzz_copy(data, size);
	const char *values[VALUES_MAX], *p = copy, *end = copy + size;
	int count = 0;
	while (p < end && count < VALUES_MAX) {
		const char *value = p;
		if (mp_check_value(&p, end) != 0)
			break;
		use(value, p);
		values[count++] = value;
	}
	for (int i = 0; i < count; i++)
		for (int k = 0; k < i; k++)
			compare(values[i], values[k]);
	free(copy);
	fuzz_done();
	return 0;
}
