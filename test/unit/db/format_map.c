/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Tuples with the names of their fields in packets: written, read, taken away; and how
 * many names strangers may bring.
 */
#include "data/mp_buf.h"
#include "db/error.h"
#include "db/tuple/format_map.h"
#include "index_model.h"

static struct field_def fields[] = {
	{"id", FIELD_TYPE_UNSIGNED, false, COLL_NONE, NULL},
	{"name", FIELD_TYPE_STRING, true, COLL_NONE, NULL},
};

static const char row[] = "\x92\x01\xa1" "a";
enum { ROW_SIZE = sizeof(row) - 1 };

static void read_back(struct format_map *m, const char *ext, const char *name)
{
	int8_t type;
	const char *data;
	uint32_t dict;
	uint32_t len = mp_decode_extl(&ext, &type);
	assert_int_equal(type, MP_EXT_TUPLE);
	assert_true(format_map_read_tuple(m, ext, len, &data, &dict));
	assert_int_equal(ext + len - data, ROW_SIZE);
	assert_memory_equal(data, row, ROW_SIZE);
	if (name == NULL)
		assert_int_equal(dict, 0);
	else
		assert_int_equal(tuple_dictionary_find(tuple_dictionary_by_id(dict), name,
						       strlen(name)), 0);
}

static void test_there_and_back(void **state)
{
	struct tuple_format *f = tuple_format_new(NULL, 0, fields, 2, 0);
	struct tuple *tuple = tuple_new(f, row, row + ROW_SIZE);
	struct format_map out, in;
	struct buf body = BUF_INIT, formats = BUF_INIT, plain = BUF_INIT;
	format_map_create(&out);
	format_map_create(&in);
	format_map_put(&out, &body, tuple);
	size_t second = body.size;
	/* Its format is gone: its names are left. */
	format_map_put_tuple(&out, &body, tuple_format_default, f->dict->id, row, ROW_SIZE);
	size_t third = body.size;
	format_map_put_tuple(&out, &body, tuple_format_default, 0, row, ROW_SIZE);
	format_map_put_formats(&out, &formats);
	assert_int_equal(out.dicts.count, 3);
	assert_int_equal(mp_check_whole(formats.data, buf_end(&formats)), 0);
	assert_int_equal(format_map_read(&in, formats.data), 0);
	read_back(&in, body.data, "id");
	read_back(&in, body.data + second, "id");
	read_back(&in, body.data + third, NULL);
	read_back(&in, body.data, "id");
	/* Without the extensions, one row is left behind the other; values around them stay. */
	mp_put_str(&body, "end");
	format_map_strip(&plain, body.data, buf_end(&body));
	assert_int_equal(plain.size, 3 * ROW_SIZE + 4);
	for (int i = 0; i < 3; i++)
		assert_memory_equal(plain.data + i * ROW_SIZE, row, ROW_SIZE);
	assert_memory_equal(plain.data + 3 * ROW_SIZE, "\xa3" "end", 4);
	buf_free(&body);
	buf_free(&formats);
	buf_free(&plain);
	format_map_destroy(&out);
	format_map_destroy(&in);
	tuple_unref(tuple);
	tuple_format_unref(f);
}

static void test_bad_tuples(void **state)
{
	static const struct { const char *content; uint32_t len; } bad[] = {
		{"", 0}, {"\x01", 1}, {"\x01\x01", 2}, {"\x90", 1}, {"\x01\x92\x01", 3},
		{"\x01\x90\x90", 3}, {"\x02\x90", 2}, {"\xcd\x01", 2}, {"\x01\xdf\xff\xff\xff\xff", 6},
	};
	struct format_map m;
	const char *data;
	uint32_t dict;
	format_map_create(&m);
	assert_int_equal(format_map_read(&m, "\x81\x01\x90"), 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_false(format_map_read_tuple(&m, bad[i].content, bad[i].len, &data, &dict));
		/* Such stay where extensions are taken away, save one whose format is not there. */
		char ext[16], *p = mp_encode_extl(ext, MP_EXT_TUPLE, bad[i].len);
		memcpy(p, bad[i].content, bad[i].len);
		struct buf plain = BUF_INIT;
		format_map_strip(&plain, ext, p + bad[i].len);
		assert_int_equal(plain.size, i == 6 ? 1 : p + bad[i].len - ext);
		buf_free(&plain);
	}
	format_map_destroy(&m);
}

/** Tells of a format of one field whose name has the number. */
static int tell(unsigned number)
{
	struct buf b = BUF_INIT;
	struct format_map m;
	char name[32];
	snprintf(name, sizeof(name), "stranger %u", number);
	mp_put_map(&b, 1);
	mp_put_uint(&b, 1);
	mp_put_array(&b, 1);
	mp_put_map(&b, 1);
	mp_put_str(&b, "name");
	mp_put_str(&b, name);
	format_map_create(&m);
	int rc = format_map_read(&m, b.data);
	format_map_destroy(&m);
	buf_free(&b);
	return rc;
}

static void test_strangers_are_bounded(void **state)
{
	enum { MANY = 100000 };
	unsigned good = 0;
	while (good < MANY && tell(good) == 0)
		good++;
	assert_in_range(good, 1000, MANY - 1);
	assert_int_equal(diag_last()->code, ER_TUPLE_FORMAT_LIMIT);
	uint32_t count = tuple_dictionary_count();
	assert_int_equal(tell(good + 1), -1);
	assert_int_equal(tuple_dictionary_count(), count);
	/* What is known serves on, and our own formats have no such bound. */
	assert_int_equal(tell(5), 0);
	struct field_def own = {"own field", FIELD_TYPE_ANY, false, COLL_NONE, NULL};
	assert_int_equal(tuple_dictionary_intern(&own, 1)->id, count + 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_there_and_back),
		cmocka_unit_test(test_bad_tuples),
		cmocka_unit_test(test_strangers_are_bounded),
	};
	return cmocka_run_group_tests(tests, setup_db, teardown_db);
}
