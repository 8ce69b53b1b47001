/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Intrusive doubly linked circular lists. A `struct list` is both the head and
 * the link that an element embeds; an element that is in no list is linked to
 * itself, so list_del() may be called twice.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct list {
	struct list *prev, *next;
};

#define LIST_INIT(head) {&(head), &(head)}

/** Makes an empty head, or a link that is in no list. */
static inline void list_create(struct list *l)
{
	l->prev = l->next = l;
}

static inline bool list_empty(const struct list *l)
{
	return l->next == l;
}

/** Puts `item` first. */
static inline void list_add(struct list *head, struct list *item)
{
	item->prev = head;
	item->next = head->next;
	head->next->prev = item;
	head->next = item;
}

/** Puts `item` last. */
static inline void list_add_tail(struct list *head, struct list *item)
{
	item->next = head;
	item->prev = head->prev;
	head->prev->next = item;
	head->prev = item;
}

/** Takes `item` out of its list and leaves it linked to itself. */
static inline void list_del(struct list *item)
{
	item->prev->next = item->next;
	item->next->prev = item->prev;
	list_create(item);
}

/** Takes the first element out; the list must not be empty. */
static inline struct list *list_shift(struct list *head)
{
	struct list *item = head->next;
	list_del(item);
	return item;
}

/** Moves all elements of `from` to the end of `to`. */
static inline void list_splice_tail(struct list *to, struct list *from)
{
	if (list_empty(from))
		return;
	from->next->prev = to->prev;
	to->prev->next = from->next;
	from->prev->next = to;
	to->prev = from->prev;
	list_create(from);
}

#define list_entry(link, type, member) \
	((type *)((char *)(link) - offsetof(type, member)))
#define list_first_entry(head, type, member) \
	list_entry((head)->next, type, member)
#define list_last_entry(head, type, member) \
	list_entry((head)->prev, type, member)
#define list_shift_entry(head, type, member) \
	list_entry(list_shift(head), type, member)

/** Walks a list; the body may not take `item` out. */
#define list_foreach_entry(item, head, member) \
	for (item = list_first_entry(head, __typeof__(*item), member); \
	     &item->member != (head); \
	     item = list_first_entry(&item->member, __typeof__(*item), member))

/** Walks a list from its end. */
#define list_foreach_entry_reverse(item, head, member) \
	for (item = list_last_entry(head, __typeof__(*item), member); \
	     &item->member != (head); \
	     item = list_last_entry(&item->member, __typeof__(*item), member))

/** Walks a list; the body may take `item` (not `tmp`) out or free it. */
#define list_foreach_entry_safe(item, tmp, head, member) \
	for (item = list_first_entry(head, __typeof__(*item), member); \
	     &item->member != (head) && \
	     (tmp = list_first_entry(&item->member, __typeof__(*item), member), 1); \
	     item = tmp)
