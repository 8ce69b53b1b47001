/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Private to the layer: network threads, which serve sockets in place of tx where the user
 * wants that (iproto_threads). Each has an event loop and the lines of some connections. tx
 * and a thread have a mailbox each; what they tell each other in a turn goes there at once.
 */
#pragma once

#include <ev.h>
#include <stddef.h>

struct linger_set;
struct net_thread;
struct note;
struct stat_thread;

/* By tx --------------------------------------------------------------------- */

/** Starts so many threads, once. -1: SystemError is set, and there are none. */
int net_threads_start(int count);

/** Ends the threads, whose lines have all been told to close, and takes in their last notes. */
void net_threads_stop(void);

extern int net_thread_count;

/** The one with the fewest connections; NULL: there are no threads. */
struct net_thread *net_thread_pick(void);

struct stat_thread *net_thread_stat(int i);
struct stat_thread *net_thread_stat_of(struct net_thread *thread);

/** Tells a thread something when net_thread_push() is called next. */
void net_thread_tell(struct net_thread *thread, struct note *note);
void net_thread_push(struct net_thread *thread);

/** The turn's end: sends what all threads are told, and counts. */
void net_threads_turn(void);

/** Adds what threads have counted to the statistics. */
void net_threads_take_counts(void);

/* By the thread ------------------------------------------------------------ */

struct ev_loop *net_thread_loop(struct net_thread *thread);
struct linger_set *net_thread_linger(struct net_thread *thread);

/** Tells tx something at the turn's end. */
void net_thread_report(struct net_thread *thread, struct note *note);

void net_thread_count_sent(struct net_thread *thread, size_t size);
void net_thread_count_received(struct net_thread *thread, size_t size);
