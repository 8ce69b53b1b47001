/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The log: lines with a time, a fiber and a level, to standard error, a file, a
 * program or the syslog.
 * Format as users of the reference know it:
 *
 *     2026-11-30 14:33:51.970 [2284] main/103/app.lua C> text
 *
 * The source file and line stand before the level for F, !, E and W. A line of
 * the scheduler's fiber has "main" alone. Before the first log_open() or
 * log_set_format() a line is the text and nothing else, as a script's user wants
 * it. Every thread may log; one write(2) per line keeps lines whole.
 */
#pragma once

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

enum log_level {
	LOG_FATAL = 0,	/* F */
	LOG_SYSERROR,	/* ! */
	LOG_ERROR,	/* E */
	LOG_CRIT,	/* C */
	LOG_WARN,	/* W */
	LOG_INFO,	/* I */
	LOG_VERBOSE,	/* V */
	LOG_DEBUG,	/* D */
};

/** The level up to which lines are written; LOG_INFO at first. */
extern int log_level;
/** In JSON lines a slash stays as it is, without a backslash before it. */
extern bool log_json_plain_slash;

void log_set_level(int level);

/**
 * Where lines go: NULL or "" for standard error; "|command" or "pipe:command" for
 * a program; "syslog:options" (see log_target.h); else a file (a leading "file:" is
 * allowed), which is opened for appending. A pipe that `is_nonblock` loses lines
 * rather than waits where it is full. -1: SystemError or IllegalParams is set and nothing
 * changes.
 */
int log_open(const char *target, bool is_nonblock);

/** The process that the log is piped to; 0: there is none. */
int log_pipe_pid(void);

/** Closes the file; lines go to standard error again. */
void log_close(void);

/** The file that is open for the log; NULL for standard error. */
const char *log_file_name(void);

/** Opens the log file anew (after rotation), and says so in it. -1: SystemError is set. */
int log_reopen(void);

/** The format of lines. */
enum log_format { LOG_PLAIN, LOG_JSON };
void log_set_format(enum log_format format);

/**
 * One line. `file` (with `line`) and `error` may be NULL; an error stands behind
 * the text after ": ", in JSON as "error". Keeps errno. Never yields.
 */
void log_write(int level, const char *file, int line, const char *error,
	       const char *format, ...) __attribute__((format(printf, 5, 6)));
void log_vwrite(int level, const char *file, int line, const char *error,
		const char *format, va_list ap);

/**
 * A line of a module, which stands behind the fiber's name, and in JSON as "module"; NULL: of none.
 */
void log_write_module(int level, const char *module, const char *file, int line, const char *text);

/**
 * The same for a JSON object `object`, e.g. {"a":1}: in JSON format its members
 * become the line's; else the line's text is the object as it is.
 */
void log_write_object(int level, const char *module, const char *file, int line,
		      const char *object);

#define say(level, ...) do { \
	if ((level) <= log_level) \
		log_write((level), __FILE__, __LINE__, NULL, __VA_ARGS__); \
} while (0)
#define say_error(...) say(LOG_ERROR, __VA_ARGS__)
#define say_crit(...) say(LOG_CRIT, __VA_ARGS__)
#define say_warn(...) say(LOG_WARN, __VA_ARGS__)
#define say_info(...) say(LOG_INFO, __VA_ARGS__)
#define say_verbose(...) say(LOG_VERBOSE, __VA_ARGS__)
#define say_debug(...) say(LOG_DEBUG, __VA_ARGS__)
/** With strerror(errno) behind the text. */
#define say_syserror(...) do { \
	int _errno = errno; \
	if (LOG_SYSERROR <= log_level) \
		log_write(LOG_SYSERROR, __FILE__, __LINE__, strerror(_errno), __VA_ARGS__); \
} while (0)

/**
 * Writes a line of level LOG_FATAL, to the log and to standard error, and ends the
 * process with status 1.
 */
void panic(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));
