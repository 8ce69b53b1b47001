/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Where the log can go beside files: a program's standard input, and the syslog
 * (private to log.c). These are opened at start-up, by tx, and stay.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

/** Starts `sh -c command` and returns the pipe to it; -1: SystemError is set. */
int log_pipe_open(const char *command, pid_t *pid);

/** A syslog: what stands before each line. */
struct log_syslog {
	/** Facility, times 8: RFC 3164. */
	int facility;
	char *identity;
};

/**
 * Connects to the syslog by options such as "server=unix:/dev/log,facility=local7,identity=tarn",
 * each of which may be missing; a server without "unix:" is an address, with or without a
 * port. Returns a socket for datagrams; -1: IllegalParams or SystemError is set.
 */
int log_syslog_open(const char *options, struct log_syslog *syslog);
void log_syslog_free(struct log_syslog *syslog);
