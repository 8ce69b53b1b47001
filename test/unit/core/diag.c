/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Errors: chains of causes, counts, fields, types; and triggers.
 */
#include "harness.h"

#include <errno.h>

#include "core/trigger.h"

static void chains(void **state)
{
	(void)state;
	diag_set(IllegalParams, "first %d", 1);
	struct error *first = diag_last();
	error_ref(first);
	struct error *second = error_new(&type_Exception, 77, "some.c", 5, "second");
	diag_add_error(second);
	assert_ptr_equal(diag_last(), second);
	assert_ptr_equal(second->cause, first);
	assert_int_equal(second->code, 77);
	assert_int_equal(second->line, 5);
	assert_string_equal(second->file, "some.c");
	error_unref(second);
	struct diag other = {NULL};
	diag_move(diag_get(), &other);
	assert_null(diag_last());
	assert_ptr_equal(other.last, second);
	diag_clear(&other);
	assert_int_equal(first->refs, 1);
	error_unref(first);
	/* A long chain is freed without recursion. */
	for (int i = 0; i < 300000; i++) {
		struct error *e = error_new(&type_Exception, 0, NULL, 0, "%d", i);
		diag_add_error(e);
		error_unref(e);
	}
	diag_clear(diag_get());
}

static void setting_the_same_error_again(void **state)
{
	(void)state;
	diag_set(TimedOut, "timed out");
	diag_set_error(diag_last());
	assert_string_equal(diag_last()->message, "timed out");
	assert_int_equal(diag_last()->refs, 1);
	diag_move(diag_get(), diag_get());
	assert_non_null(diag_last());
}

static void types(void **state)
{
	(void)state;
	errno = ENOENT;
	diag_set_errno(SocketError, "open '%s'", "x");
	assert_int_equal(errno, ENOENT);
	struct error *e = diag_last();
	assert_string_equal(e->message, "open 'x': No such file or directory");
	assert_int_equal(e->saved_errno, ENOENT);
	assert_true(error_is(e, &type_SocketError));
	assert_true(error_is(e, &type_SystemError));
	assert_true(error_is(e, &type_Exception));
	assert_false(error_is(e, &type_OutOfMemory));
	assert_string_equal(error_type_name(e), "SocketError");
	strcpy(e->custom_type, "Mine");
	assert_string_equal(error_type_name(e), "Mine");
	char name[200], text[2000];
	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	memset(text, 't', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	e = error_new(&type_Exception, 0, name, 1, "%s", text);
	assert_int_equal(strlen(e->file), 63);
	assert_string_equal(e->message, text);
	error_unref(e);
}

static void fields(void **state)
{
	(void)state;
	struct error *e = error_new(&type_Exception, 0, NULL, 0, "e");
	assert_null(error_field(e, "space"));
	error_set_field(e, "space", "\xa1s", 2);
	error_set_field(e, "n", "\x01", 1);
	error_set_field(e, "space", "\xa2tt", 3);
	assert_memory_equal(error_field(e, "space"), "\xa2tt", 3);
	assert_memory_equal(error_field(e, "n"), "\x01", 1);
	assert_null(error_field(e, "spac"));
	error_unref(e);
}

static struct list triggers;
static struct trigger t1, t2, t3;

static int on_t1(struct trigger *t, void *event)
{
	trace_add("1");
	list_del(&t->link);
	list_del(&t2.link);
	return 0;
}

static int on_t2(struct trigger *t, void *event)
{
	trace_add("2");
	return 0;
}

static int on_fail(struct trigger *t, void *event)
{
	trace_add("f");
	return -1;
}

static int on_recursive(struct trigger *t, void *event)
{
	int *depth = event;
	trace_add("r");
	if (++*depth < 4)
		return trigger_run(&triggers, event);
	return 0;
}

static void note_destroy(struct trigger *t)
{
	trace_add("d");
}

static void triggers_may_change_their_list(void **state)
{
	(void)state;
	trace_reset();
	list_create(&triggers);
	assert_int_equal(trigger_run(&triggers, NULL), 0);
	trigger_create(&t1, on_t1, NULL, note_destroy);
	trigger_create(&t2, on_t2, NULL, note_destroy);
	trigger_create(&t3, on_recursive, NULL, note_destroy);
	list_add_tail(&triggers, &t1.link);
	list_add_tail(&triggers, &t2.link);
	list_add_tail(&triggers, &t3.link);
	int depth = 0;
	assert_int_equal(trigger_run(&triggers, &depth), 0);
	assert_string_equal(trace, "1rrrr");
	trigger_destroy_all(&triggers);
	assert_string_equal(trace, "1rrrrd");
	assert_true(list_empty(&triggers));

	/* The first failure ends the run, inside a run within it too. */
	trace_reset();
	trigger_create(&t1, on_fail, NULL, NULL);
	trigger_create(&t2, on_t2, NULL, NULL);
	list_add_tail(&triggers, &t2.link);
	list_add_tail(&triggers, &t1.link);
	list_add_tail(&triggers, &t3.link);
	assert_int_equal(trigger_run(&triggers, NULL), -1);
	trigger_destroy_all(&triggers);
	assert_string_equal(trace, "2fd");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		runtime_test(chains),
		runtime_test(setting_the_same_error_again),
		runtime_test(types),
		runtime_test(fields),
		runtime_test(triggers_may_change_their_list),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
