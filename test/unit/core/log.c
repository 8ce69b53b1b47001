/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The log's lines, in each format, and its files.
 */
#include "harness.h"

#include <errno.h>
#include <regex.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/log.h"

static char dir[] = "/tmp/tarn-log-XXXXXX";
static char path[64];

static int setup(void **state)
{
	strcpy(dir, "/tmp/tarn-log-XXXXXX");
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/a.log", dir);
	return runtime_setup(state);
}

static int teardown(void **state)
{
	log_close();
	log_set_level(LOG_INFO);
	log_set_format(LOG_PLAIN);
	unlink(path);
	char moved[80];
	snprintf(moved, sizeof(moved), "%s.1", path);
	unlink(moved);
	rmdir(dir);
	return runtime_teardown(state);
}

#define log_test(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

static char content[200000];

static const char *read_file(const char *name)
{
	FILE *f = fopen(name, "r");
	assert_non_null(f);
	size_t n = fread(content, 1, sizeof(content) - 1, f);
	content[n] = '\0';
	fclose(f);
	return content;
}

static void assert_matches(const char *text, const char *pattern)
{
	regex_t re;
	assert_int_equal(regcomp(&re, pattern, REG_EXTENDED | REG_NOSUB), 0);
	if (regexec(&re, text, 0, NULL, 0) != 0)
		fail_msg("no match\n  text:    %s\n  pattern: %s", text, pattern);
	regfree(&re);
}

#define TIME "[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3}"

static void plain_lines(void **state)
{
	(void)state;
	assert_int_equal(log_open(path, false), 0);
	assert_string_equal(log_file_name(), path);
	say_info("hello %s %d", "x", 5);
	say_verbose("not shown");
	say_crit("critical");
	log_write(LOG_WARN, "./src/some/file.c", 12, NULL, "careful");
	errno = ENOENT;
	say_syserror("open %s", "x");
	assert_int_equal(errno, ENOENT);
	read_file(path);
	char *line = strtok(content, "\n");
	assert_matches(line, "^" TIME " \\[[0-9]+\\] main I> hello x 5$");
	assert_matches(strtok(NULL, "\n"), "^" TIME " \\[[0-9]+\\] main C> critical$");
	assert_matches(strtok(NULL, "\n"),
		       "^" TIME " \\[[0-9]+\\] main file\\.c:12 W> careful$");
	assert_matches(strtok(NULL, "\n"), "^" TIME " \\[[0-9]+\\] main log\\.c:[0-9]+ !> "
					   "open x: No such file or directory$");
	assert_null(strtok(NULL, "\n"));
}

FIBER_TEST(fibers_are_named)
{
	assert_int_equal(log_open(path, false), 0);
	fiber_set_name(fiber(), "app.lua");
	say_info("in a fiber");
	assert_matches(read_file(path), " main/101/app\\.lua I> in a fiber\n$");
	return 0;
}

FIBER_TEST(long_lines_stay_whole)
{
	assert_int_equal(log_open(path, false), 0);
	char name[FIBER_NAME_MAX + 1];
	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	fiber_set_name(fiber(), name);
	static char text[50001];
	memset(text, 't', sizeof(text) - 1);
	say_info("%s", text);
	assert_non_null(strstr(read_file(path), text));
	log_set_format(LOG_JSON);
	say_info("%s%%", text);
	assert_non_null(strstr(read_file(path), "t%\""));
	return 0;
}

FIBER_TEST(json_lines)
{
	log_set_format(LOG_JSON);
	assert_int_equal(log_open(path, false), 0);
	fiber_set_name(fiber(), "b.lua");
	log_write(LOG_ERROR, "b.lua", 4, NULL, "he\"l/lo\n\x01\xc3\xa9");
	read_file(path);
	assert_matches(content, "^\\{\"time\": \"[-0-9]{10}T[:0-9]{8}\\.[0-9]{3}[-+][0-9]{4}\", "
				"\"level\": \"ERROR\", \"message\": ");
	char tail[300];
	snprintf(tail, sizeof(tail), "\"message\": \"he\\\"l\\/lo\\n\\u0001\xc3\xa9\", \"pid\": %d , "
		 "\"cord_name\": \"main\", \"fiber_id\": 101, \"fiber_name\": \"b.lua\", "
		 "\"file\": \"b.lua\", \"line\": 4}\n", (int)getpid());
	assert_non_null(strstr(content, tail));
	log_write_object(LOG_INFO, NULL, NULL, 0, "{\"a\":1}");
	assert_matches(read_file(path), "\"level\": \"INFO\", \"a\":1, \"pid\": ");
	log_write_object(LOG_INFO, NULL, NULL, 0, "{}");
	assert_matches(read_file(path), "\"level\": \"INFO\", \"pid\": ");
	return 0;
}

static void reopening(void **state)
{
	(void)state;
	char target[80], moved[80];
	snprintf(target, sizeof(target), "file:%s", path);
	snprintf(moved, sizeof(moved), "%s.1", path);
	assert_int_equal(log_open(target, false), 0);
	say_info("old");
	assert_int_equal(rename(path, moved), 0);
	say_info("still old");
	assert_int_equal(log_reopen(), 0);
	say_info("new");
	assert_non_null(strstr(read_file(moved), "still old"));
	assert_null(strstr(read_file(moved), "new"));
	assert_non_null(strstr(read_file(path), "new"));
	assert_int_equal(log_open("/nonexistent/dir/log", false), -1);
	assert_string_equal(error_type_name(diag_last()), "SystemError");
	say_info("goes on");
	assert_non_null(strstr(read_file(path), "goes on"));
}

static void levels(void **state)
{
	(void)state;
	assert_int_equal(log_open(path, false), 0);
	log_set_level(100);
	assert_int_equal(log_level, LOG_DEBUG);
	log_set_level(-5);
	assert_int_equal(log_level, LOG_FATAL);
	say_crit("no");
	log_set_level(LOG_DEBUG);
	say_debug("yes");
	assert_matches(read_file(path), "^" TIME " \\[[0-9]+\\] main D> yes\n$");
}

static void errors_with_causes(void **state)
{
	(void)state;
	assert_int_equal(log_open(path, false), 0);
	diag_set(IllegalParams, "the cause");
	struct error *e = error_new(&type_Exception, 0, "./a/b.c", 7, "what came of it");
	diag_add_error(e);
	error_unref(e);
	diag_log();
	assert_matches(read_file(path), " main b\\.c:7 E> Exception: what came of it\n"
					".* main log\\.c:[0-9]+ E> IllegalParams: the cause\n$");
}

static void modules(void **state)
{
	(void)state;
	assert_int_equal(log_open(path, false), 0);
	log_write_module(LOG_INFO, "cart", NULL, 0, "text");
	log_set_format(LOG_JSON);
	log_write_module(LOG_WARN, "cart", "a.lua", 3, "text");
	log_set_format(LOG_PLAIN);
	assert_matches(read_file(path), " main/cart I> text\n"
					".*\"message\": \"text\".*\"module\": \"cart\".*\"line\": 3}\n$");
}

static void programs(void **state)
{
	(void)state;
	char target[100];
	snprintf(target, sizeof(target), "| sed s/^/piped:/ > %s", path);
	assert_int_equal(log_open(target, false), 0);
	pid_t pid = log_pipe_pid();
	assert_true(pid > 0);
	say_info("a line");
	log_close();
	assert_int_equal(log_pipe_pid(), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_matches(read_file(path), "^piped:" TIME " \\[[0-9]+\\] main I> a line\n$");
}

static void syslog_lines(void **state)
{
	(void)state;
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	strcpy(address.sun_path, path);
	int server = socket(AF_UNIX, SOCK_DGRAM, 0);
	assert_int_equal(bind(server, (struct sockaddr *)&address, sizeof(address)), 0);
	char target[120], line[200];
	snprintf(target, sizeof(target), "syslog:server=unix:%s,facility=local3,identity=shop", path);
	assert_int_equal(log_open(target, false), 0);
	say_info("a line");
	ssize_t n = recv(server, line, sizeof(line) - 1, MSG_DONTWAIT);
	assert_true(n > 0);
	line[n] = '\0';
	assert_matches(line, "^<158>[A-Z][a-z]{2} [ 0-9]{2} [0-9:]{8} shop\\[[0-9]+\\]: main I> a line$");
	close(server);
	say_info("lost, and no harm done");
	static const char *const bad[] = {
		"syslog:foo=1", "syslog:identity", "syslog:facility=nosuch",
		"syslog:identity=a,identity=b", "syslog:server=unix:/nonexistent",
		"syslog:server=/a/path/that/is/much/too/long/for/the/address/of/a/unix/socket/whose/"
		"room/is/about/one/hundred/bytes/and/not/more",
	};
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(log_open(bad[i], false), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		log_test(plain_lines),
		log_test(fibers_are_named),
		log_test(long_lines_stay_whole),
		log_test(json_lines),
		log_test(reopening),
		log_test(levels),
		log_test(errors_with_causes),
		log_test(modules),
		log_test(programs),
		log_test(syslog_lines),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
