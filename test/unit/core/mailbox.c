/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Mailboxes between threads: order, batches, nothing lost and no wake missed, under load and
 * with an owner that sleeps between letters. Meant for the thread sanitizer, too.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/mailbox.h"

enum { SENDERS = 3, LETTERS = 30000 };

struct numbered {
	struct letter letter;
	int sender, number;
	/** Not atomic: the mailbox orders it. */
	int payload;
};

struct owner {
	struct ev_loop *loop;
	struct mailbox box;
	int seen[SENDERS];
	int total, calls, expected;
};

static void on_mail(void *arg)
{
	struct owner *o = arg;
	struct letter *next;
	o->calls++;
	for (struct letter *l = mailbox_take(&o->box); l != NULL; l = next) {
		struct numbered *n = (struct numbered *)l;
		next = l->next;
		assert_int_equal(n->number, o->seen[n->sender]);
		assert_int_equal(n->payload, n->number * 3 + 1);
		o->seen[n->sender]++;
		o->total++;
		free(n);
	}
	if (o->total == o->expected)
		ev_break(o->loop, EVBREAK_ALL);
}

static void owner_create(struct owner *o, int expected)
{
	*o = (struct owner){.loop = ev_loop_new(EVFLAG_AUTO), .expected = expected};
	mailbox_create(&o->box, o->loop, on_mail, o);
}

static void owner_destroy(struct owner *o)
{
	mailbox_destroy(&o->box);
	ev_loop_destroy(o->loop);
}

static struct letter *new_letter(int sender, int number)
{
	struct numbered *n = malloc(sizeof(*n));
	n->sender = sender;
	n->number = number;
	n->payload = number * 3 + 1;
	return &n->letter;
}

struct sender {
	struct owner *owner;
	int index, count;
	/** Sleeps so long between batches, so that the owner sleeps, too. */
	unsigned pause_us;
};

static void *send_all(void *arg)
{
	struct sender *s = arg;
	struct letter_batch batch = {NULL, NULL};
	for (int i = 0; i < s->count; i++) {
		letter_batch_add(&batch, new_letter(s->index, i));
		/* Batches of 1 to 7. */
		if (i % 7 >= s->index * 2 || i + 1 == s->count) {
			mailbox_post(&s->owner->box, &batch);
			assert_null(batch.newest);
			if (s->pause_us > 0)
				usleep(s->pause_us);
		}
	}
	return NULL;
}

static void run(int count, unsigned pause_us)
{
	struct owner o;
	struct sender senders[SENDERS];
	pthread_t ids[SENDERS];
	owner_create(&o, SENDERS * count);
	for (int i = 0; i < SENDERS; i++) {
		senders[i] = (struct sender){&o, i, count, pause_us};
		pthread_create(&ids[i], NULL, send_all, &senders[i]);
	}
	ev_run(o.loop, 0);
	for (int i = 0; i < SENDERS; i++)
		pthread_join(ids[i], NULL);
	assert_int_equal(o.total, SENDERS * count);
	assert_true(o.calls > 0);
	owner_destroy(&o);
}

static void test_load(void **state)
{
	run(LETTERS, 0);
}

static void test_sleeping_owner(void **state)
{
	run(300, 50);
}

/** Without a loop: what was posted comes out in its order, batch by batch. */
static void test_order(void **state)
{
	struct owner o;
	struct letter_batch batch = {NULL, NULL};
	owner_create(&o, 0);
	assert_true(mailbox_is_empty(&o.box));
	assert_null(mailbox_take(&o.box));
	mailbox_post(&o.box, &batch);
	assert_true(mailbox_is_empty(&o.box));
	for (int i = 0; i < 6; i++) {
		letter_batch_add(&batch, new_letter(0, i));
		if (i % 2 == 1)
			mailbox_post(&o.box, &batch);
	}
	assert_false(mailbox_is_empty(&o.box));
	on_mail(&o);
	assert_int_equal(o.total, 6);
	owner_destroy(&o);
}

/** One answers the other: neither may sleep while a letter waits. */
struct player {
	struct ev_loop *loop;
	struct mailbox box;
	struct player *other;
	int rounds;
};

static void on_ball(void *arg)
{
	struct player *p = arg;
	struct letter *l = mailbox_take(&p->box);
	if (l == NULL)
		return;
	struct letter_batch batch = {NULL, NULL};
	letter_batch_add(&batch, l);
	if (p->rounds-- == 0)
		ev_break(p->loop, EVBREAK_ALL);
	mailbox_post(&p->other->box, &batch);
}

static void *play(void *arg)
{
	ev_run(((struct player *)arg)->loop, 0);
	return NULL;
}

static void test_ping_pong(void **state)
{
	struct player a = {.rounds = 2000}, b = {.rounds = 2000};
	struct player *both[] = {&a, &b};
	for (int i = 0; i < 2; i++) {
		both[i]->loop = ev_loop_new(EVFLAG_AUTO);
		both[i]->other = both[1 - i];
		mailbox_create(&both[i]->box, both[i]->loop, on_ball, both[i]);
	}
	struct letter ball;
	struct letter_batch batch = {NULL, NULL};
	letter_batch_add(&batch, &ball);
	mailbox_post(&a.box, &batch);
	pthread_t id;
	pthread_create(&id, NULL, play, &b);
	play(&a);
	pthread_join(id, NULL);
	for (int i = 0; i < 2; i++) {
		mailbox_take(&both[i]->box);
		mailbox_destroy(&both[i]->box);
		ev_loop_destroy(both[i]->loop);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_load),
		cmocka_unit_test(test_sleeping_owner),
		cmocka_unit_test(test_ping_pong),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
