/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Worker threads: results and errors come back, the loop goes on meanwhile, the
 * number of threads is bounded, the end waits for what runs.
 */
#include "harness.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "core/worker.h"

static int setup(void **state)
{
	runtime_setup(state);
	worker_init();
	return 0;
}

static int teardown(void **state)
{
	worker_free();
	worker_set_threads_max(4);
	return runtime_teardown(state);
}

#define worker_test(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

static int job_add(void *arg)
{
	assert_false(fiber_is_tx());
	assert_string_equal(fiber()->name, "worker");
	region_alloc(&fiber()->region, 10000);
	return *(int *)arg + 1;
}

static int job_fail(void *arg)
{
	diag_set(IllegalParams, "failed in a thread");
	return -1;
}

FIBER_TEST(results_come_back)
{
	for (int i = 0; i < 200; i++)
		assert_int_equal(worker_call(job_add, &i), i + 1);
	assert_int_equal(worker_call(job_fail, NULL), -1);
	assert_string_equal(diag_last()->message, "failed in a thread");
	return 0;
}

static atomic_int running, running_max;

static int job_slow(void *arg)
{
	int now = atomic_fetch_add(&running, 1) + 1;
	int max = atomic_load(&running_max);
	while (now > max && !atomic_compare_exchange_weak(&running_max, &max, now))
		;
	usleep(2000);
	atomic_fetch_sub(&running, 1);
	return 0;
}

static int f_call_slow(va_list ap)
{
	int *left = va_arg(ap, int *);
	worker_call(job_slow, NULL);
	--*left;
	return 0;
}

FIBER_TEST(threads_are_bounded_and_tx_goes_on)
{
	worker_set_threads_max(3);
	running_max = 0;
	int left = 30, turns = 0;
	for (int i = 0; i < 30; i++)
		fiber_start(fiber_new("slow", f_call_slow), &left);
	while (left > 0) {
		fiber_sleep(0.0005);
		turns++;
	}
	assert_true(turns > 3);
	assert_true(running_max <= 3 && running_max >= 1);
	return 0;
}

FIBER_TEST(cancel_does_not_end_the_wait)
{
	int left = 1;
	struct fiber *f = fiber_new("slow", f_call_slow);
	fiber_start(f, &left);
	fiber_cancel(f);
	fiber_wakeup(f);
	fiber_reschedule();
	assert_int_equal(left, 1);
	while (left > 0)
		fiber_sleep(0.001);
	return 0;
}

static int posted;

static void on_done(void *arg, int result)
{
	assert_int_equal(fiber()->id, 1);
	if (result == -1)
		assert_string_equal(diag_last()->message, "failed in a thread");
	else
		assert_int_equal(result, *(int *)arg + 1);
	posted++;
}

FIBER_TEST(posted_jobs_call_back)
{
	static int args[500];
	posted = 0;
	for (int i = 0; i < 500; i++) {
		args[i] = i;
		worker_post(i % 10 == 3 ? job_fail : job_add, &args[i], on_done);
	}
	while (posted < 500)
		fiber_sleep(0.001);
	return 0;
}

static void end_waits_for_jobs(void **state)
{
	setup(state);
	static int arg;
	posted = 0;
	for (int i = 0; i < 20; i++)
		worker_post(job_add, &arg, on_done);
	teardown(state);
	assert_int_equal(posted, 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		worker_test(results_come_back),
		worker_test(threads_are_bounded_and_tx_goes_on),
		worker_test(cancel_does_not_end_the_wait),
		worker_test(posted_jobs_call_back),
		cmocka_unit_test(end_waits_for_jobs),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
