/* SPDX-License-Identifier: BSD-2-Clause
 *
 * URIs: what is one, what is none, and how addresses are shown.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include <sys/un.h>

#include "net/address.h"

static void expect(const char *text, const char *host, const char *service, const char *path)
{
	struct address_uri uri;
	if (!address_parse(text, strlen(text), &uri))
		fail_msg("'%s' was refused", text);
	assert_string_equal(uri.host, host);
	assert_string_equal(uri.service, service);
	assert_string_equal(uri.path, path);
}

static void refuse(const char *text)
{
	struct address_uri uri;
	if (address_parse(text, strlen(text), &uri))
		fail_msg("'%s' was accepted", text);
}

static void test_parse(void **state)
{
	expect("3301", "", "3301", "");
	expect("127.0.0.1:3301", "127.0.0.1", "3301", "");
	expect("localhost:http", "localhost", "http", "");
	expect("*:0", "", "0", "");
	expect("[::1]:3301", "::1", "3301", "");
	expect("tcp://127.0.0.1:3301", "127.0.0.1", "3301", "");
	expect("user:pass@127.0.0.1:3301", "127.0.0.1", "3301", "");
	expect("unix/:/tmp/a.sock", "", "", "/tmp/a.sock");
	expect("unix/:./a.sock", "", "", "./a.sock");
	expect("/tmp/a.sock", "", "", "/tmp/a.sock");
	expect("/tmp/a@b.sock", "", "", "/tmp/a@b.sock");
	expect("./a.sock", "", "", "./a.sock");
}

static void test_refuse(void **state)
{
	refuse("");
	refuse("abc");
	refuse("127.0.0.1");
	refuse("127.0.0.1:");
	refuse("127.0.0.1:65536");
	refuse("99999999999999999999");
	refuse("127.0.0.1:80x");
	refuse(":3301");
	refuse("::1:3301");
	refuse("[::1]");
	refuse("[::1:3301");
	refuse("user:pass@");
	refuse("tcp://");
	char path[200] = "/";
	memset(path + 1, 'x', sizeof(path) - 2);
	refuse(path);
	char host[400];
	memset(host, 'h', sizeof(host));
	strcpy(host + 300, ":1");
	refuse(host);
	struct address_uri uri;
	assert_false(address_parse("/a\0b", 4, &uri));
}

/** Every cut of every text: nothing but true or false may come of it. */
static void test_cuts(void **state)
{
	static const char *texts[] = {"tcp://u:p@[::1]:3301", "unix/:/tmp/x", "unix/:", "*:*",
				      "@@//::"};
	struct address_uri uri;
	for (size_t t = 0; t < sizeof(texts) / sizeof(*texts); t++)
		for (size_t i = 0; i <= strlen(texts[t]); i++)
			for (size_t j = i; j <= strlen(texts[t]); j++)
				address_parse(texts[t] + i, j - i, &uri);
}

static void test_format(void **state)
{
	struct address_uri uri;
	struct address a[4];
	char buf[ADDRESS_TEXT_MAX];
	static const char *same[] = {"127.0.0.1:3301", "[::1]:80", "unix/:/tmp/x.sock"};
	for (size_t i = 0; i < sizeof(same) / sizeof(*same); i++) {
		assert_true(address_parse(same[i], strlen(same[i]), &uri));
		assert_int_equal(address_resolve(&uri, a, 4), 1);
		address_format((struct sockaddr *)&a[0].sa, a[0].len, buf, sizeof(buf));
		assert_string_equal(buf, same[i]);
	}
	struct sockaddr_un un = {.sun_family = AF_UNIX};
	address_format((struct sockaddr *)&un, sizeof(sa_family_t), buf, sizeof(buf));
	assert_string_equal(buf, "unix/:(socket)");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse),
		cmocka_unit_test(test_refuse),
		cmocka_unit_test(test_cuts),
		cmocka_unit_test(test_format),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
