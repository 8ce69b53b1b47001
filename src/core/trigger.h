/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Triggers: lists of callbacks that upper layers hang on an event.
 */
#pragma once

#include "core/list.h"

struct trigger;
/** -1 with an error set stops the run; the event's owner says what that means. */
typedef int (*trigger_func)(struct trigger *trigger, void *event);

struct trigger {
	struct list link;
	trigger_func run;
	/** The callback's own. */
	void *data;
	/** Frees the trigger when its list is destroyed or it is replaced; may be NULL. */
	void (*destroy)(struct trigger *trigger);
};

static inline void trigger_create(struct trigger *t, trigger_func run, void *data,
				  void (*destroy)(struct trigger *))
{
	list_create(&t->link);
	t->run = run;
	t->data = data;
	t->destroy = destroy;
}

/**
 * Runs them in the list's order until one fails. A callback may remove itself or
 * others. During a run the list holds a marker as well: who walks a list of
 * triggers skips those whose `run` is NULL.
 */
int trigger_run(struct list *triggers, void *event);

/** Empties a list, calling each one's destroy. */
void trigger_destroy_all(struct list *triggers);
