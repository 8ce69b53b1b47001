/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Running triggers while their callbacks may remove themselves or others, or
 * add new ones: the walk keeps its place by a marker of its own in the list,
 * which no callback knows of. A marker is a trigger without `run`; runs of the
 * same list inside one another (or in fibers that yield in a callback) skip
 * each other's.
 */
#include "core/trigger.h"

/* The marker is out of the list again when trigger_run() returns. */
#pragma GCC diagnostic ignored "-Wdangling-pointer"

int trigger_run(struct list *triggers, void *event)
{
	if (list_empty(triggers))
		return 0;
	struct trigger marker = {.run = NULL};
	list_add(triggers, &marker.link);
	int rc = 0;
	/* A marker linked to itself was swept out by trigger_destroy_all(). */
	while (rc == 0 && marker.link.next != triggers && !list_empty(&marker.link)) {
		struct trigger *t = list_first_entry(&marker.link, struct trigger, link);
		list_del(&marker.link);
		list_add(&t->link, &marker.link);
		if (t->run != NULL)
			rc = t->run(t, event);
	}
	list_del(&marker.link);
	return rc;
}

void trigger_destroy_all(struct list *triggers)
{
	while (!list_empty(triggers)) {
		struct trigger *t = list_shift_entry(triggers, struct trigger, link);
		if (t->destroy != NULL)
			t->destroy(t);
	}
}
