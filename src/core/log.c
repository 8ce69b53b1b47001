/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The log. A line is put together in memory and written with one write(2), to a
 * descriptor that is replaced by dup3() when the target changes: other threads
 * never see a closed one. What was learnt about the
 * reference's lines by looking at them is in log.h.
 */
#include "core/log.h"

#include <assert.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/buf.h"
#include "core/diag.h"
#include "core/fiber.h"
#include "core/log_target.h"
#include "core/memory.h"

enum line_style { STYLE_BARE, STYLE_PLAIN, STYLE_JSON };

int log_level = LOG_INFO;
bool log_json_plain_slash;

static struct {
	/** The log's own descriptor, or -1: standard error. */
	int fd;
	/** The file, or NULL. */
	char *path;
	/** The program at the other end of a pipe, or 0. */
	pid_t pipe_pid;
	bool is_syslog;
	struct log_syslog syslog;
	enum line_style style;
	pid_t pid;
} state = {.fd = -1, .style = STYLE_BARE};

static const char level_letters[] = "F!ECWIVD";
static const char *const level_names[] = {
	"FATAL", "SYSERROR", "ERROR", "CRIT", "WARN", "INFO", "VERBOSE", "DEBUG",
};

void log_set_level(int level)
{
	log_level = level < LOG_FATAL ? LOG_FATAL : level > LOG_DEBUG ? LOG_DEBUG : level;
}

void log_set_format(enum log_format format)
{
	state.style = format == LOG_JSON ? STYLE_JSON : STYLE_PLAIN;
}

const char *log_file_name(void)
{
	return state.path;
}

/** -1: SystemError is set. */
static int open_file(const char *path)
{
	int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0640);
	if (fd < 0)
		diag_set_errno(SystemError, "can't open log file '%s'", path);
	return fd;
}

/** Makes a new descriptor the log's. */
static void set_fd(int fd)
{
	if (state.fd < 0) {
		state.fd = fd;
	} else {
		dup3(fd, state.fd, O_CLOEXEC);
		close(fd);
	}
}

static int open_pipe(const char *command, bool is_nonblock)
{
	pid_t pid;
	int fd = log_pipe_open(command, &pid);
	if (fd < 0)
		return -1;
	if (is_nonblock)
		fcntl(fd, F_SETFL, O_NONBLOCK);
	log_close();
	set_fd(fd);
	state.pipe_pid = pid;
	return 0;
}

static int open_syslog(const char *options)
{
	struct log_syslog syslog;
	int fd = log_syslog_open(options, &syslog);
	if (fd < 0)
		return -1;
	log_close();
	set_fd(fd);
	state.syslog = syslog;
	state.is_syslog = true;
	return 0;
}

/** Opens `target` and keeps its absolute path, so that log_reopen() works after a chdir(). */
static int open_target_file(const char *target)
{
	char *dir = target[0] == '/' ? NULL : getcwd(NULL, 0);
	char *path = dir != NULL ? xasprintf("%s/%s", dir, target) : xstrdup(target);
	free(dir);
	int fd = open_file(path);
	if (fd < 0) {
		xfree(path);
		return -1;
	}
	log_close();
	set_fd(fd);
	state.path = path;
	return 0;
}

int log_open(const char *target, bool is_nonblock)
{
	int rc = 0;
	if (target == NULL || target[0] == '\0')
		log_close();
	else if (target[0] == '|')
		rc = open_pipe(target + 1, is_nonblock);
	else if (strncmp(target, "pipe:", 5) == 0)
		rc = open_pipe(target + 5, is_nonblock);
	else if (strncmp(target, "syslog:", 7) == 0)
		rc = open_syslog(target + 7);
	else
		rc = open_target_file(strncmp(target, "file:", 5) == 0 ? target + 5 : target);
	if (rc == 0 && state.style == STYLE_BARE)
		state.style = STYLE_PLAIN;
	return rc;
}

int log_pipe_pid(void)
{
	return state.pipe_pid;
}

void log_close(void)
{
	if (state.fd >= 0)
		dup3(STDERR_FILENO, state.fd, O_CLOEXEC);
	xfree(state.path);
	state.path = NULL;
	state.pipe_pid = 0;
	state.is_syslog = false;
	log_syslog_free(&state.syslog);
}

int log_reopen(void)
{
	if (state.path == NULL)
		return 0;
	int fd = open_file(state.path);
	if (fd < 0)
		return -1;
	set_fd(fd);
	say_info("log file has been reopened");
	return 0;
}

/* Lines ---------------------------------------------------------------- */

static void __attribute__((format(printf, 2, 3))) put(struct buf *b, const char *format, ...)
{
	va_list ap;
	va_start(ap, format);
	char *at = buf_reserve(b, 256);
	int len = vsnprintf(at, 256, format, ap);
	va_end(ap);
	assert(len >= 0 && len < 256);
	b->size += len;
}

static void put_text(struct buf *b, const char *s)
{
	buf_append(b, s, strlen(s));
}

static void put_vtext(struct buf *b, const char *format, va_list ap)
{
	va_list again;
	va_copy(again, ap);
	size_t room = 512;
	int len = vsnprintf(buf_reserve(b, room), room, format, ap);
	if (len >= (int)room)
		len = vsnprintf(buf_reserve(b, len + 1), len + 1, format, again);
	va_end(again);
	if (len > 0)
		b->size += len;
}

/** Writes `s` as a JSON string, in the reference's manner: "/" is escaped, other bytes stay. */
static void put_json(struct buf *b, const char *s, size_t len)
{
	static const char controls[] = "btn_fr";
	buf_append(b, "\"", 1);
	for (size_t i = 0; i < len; i++) {
		unsigned char c = s[i];
		if (c == '"' || c == '\\' || (c == '/' && !log_json_plain_slash)) {
			put(b, "\\%c", c);
		} else if (c >= '\b' && c <= '\r' && c != '\v') {
			put(b, "\\%c", controls[c - '\b']);
		} else if (c < 0x20 || c == 0x7f) {
			put(b, "\\u%04x", c);
		} else {
			buf_append(b, &s[i], 1);
		}
	}
	buf_append(b, "\"", 1);
}

/** The name of the running thread and, but for its main fiber, of the fiber. */
static void put_where(struct buf *b)
{
	const struct fiber *f = fiber();
	bool is_tx = fiber_is_tx();
	if (f == NULL || f->id == 1) {
		put_text(b, f == NULL || is_tx ? "main" : f->name);
		return;
	}
	put(b, "main/%llu/", (unsigned long long)f->id);
	put_text(b, f->name);
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash != NULL ? slash + 1 : path;
}

static void put_time(struct buf *b, const char *format, const char *zone_format)
{
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	struct tm tm;
	localtime_r(&now.tv_sec, &tm);
	b->size += strftime(buf_reserve(b, 64), 64, format, &tm);
	put(b, ".%03d", (int)(now.tv_nsec / 1000000));
	if (zone_format != NULL)
		b->size += strftime(buf_reserve(b, 64), 64, zone_format, &tm);
}

struct log_line {
	int level;
	const char *module;
	const char *file;
	int line;
	const char *error;
	const char *text;
	size_t text_len;
	/** The text is a JSON object whose members become the line's. */
	bool is_object;
};

static void put_plain(struct buf *b, const struct log_line *l)
{
	if (!state.is_syslog) {
		put_time(b, "%F %T", NULL);
		put(b, " [%d] ", (int)state.pid);
	}
	put_where(b);
	if (l->module != NULL) {
		put_text(b, "/");
		put_text(b, l->module);
	}
	if (l->file != NULL && l->level <= LOG_WARN && l->level != LOG_CRIT) {
		put_text(b, " ");
		put_text(b, base_name(l->file));
		put(b, ":%d", l->line);
	}
	put(b, " %c> ", level_letters[l->level]);
}

static void put_bare(struct buf *b, const struct log_line *l)
{
	buf_append(b, l->text, l->text_len);
	if (l->error != NULL) {
		put_text(b, ": ");
		put_text(b, l->error);
	}
}

static void put_json_line(struct buf *b, const struct log_line *l)
{
	const struct fiber *f = fiber();
	put_time(b, "{\"time\": \"%FT%T", "%z");
	put(b, "\", \"level\": \"%s\", ", level_names[l->level]);
	if (l->is_object && l->text_len > 2) {
		buf_append(b, l->text + 1, l->text_len - 2);
		put_text(b, ", ");
	} else if (!l->is_object) {
		put_text(b, "\"message\": ");
		put_json(b, l->text, l->text_len);
		put_text(b, ", ");
	}
	if (l->error != NULL) {
		put_text(b, "\"error\": ");
		put_json(b, l->error, strlen(l->error));
		put_text(b, ", ");
	}
	const char *thread = f == NULL || fiber_is_tx() ? "main" : f->name;
	put(b, "\"pid\": %d , \"cord_name\": ", (int)state.pid);
	put_json(b, thread, strlen(thread));
	if (f != NULL && f->id != 1) {
		put(b, ", \"fiber_id\": %llu, \"fiber_name\": ", (unsigned long long)f->id);
		put_json(b, f->name, strlen(f->name));
	}
	if (l->module != NULL) {
		put_text(b, ", \"module\": ");
		put_json(b, l->module, strlen(l->module));
	}
	if (l->file != NULL) {
		put_text(b, ", \"file\": ");
		put_json(b, l->file, strlen(l->file));
		put(b, ", \"line\": %d", l->line);
	}
	put_text(b, "}");
}

/** One write(2) as a rule; a full disk or pipe loses the line, not the process. */
static void write_whole(int fd, const char *data, size_t size)
{
	while (size > 0) {
		ssize_t n = write(fd, data, size);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return;
		data += n;
		size -= n;
	}
}

/** What RFC 3164 wants before the text. */
static void put_syslog_head(struct buf *b, const struct log_line *l)
{
	static const char severity[] = {2, 3, 3, 2, 4, 6, 6, 7};
	char date[32];
	time_t now = time(NULL);
	struct tm tm;
	localtime_r(&now, &tm);
	strftime(date, sizeof(date), "%h %e %T", &tm);
	put(b, "<%d>%s ", state.syslog.facility | severity[l->level], date);
	put_text(b, state.syslog.identity);
	put(b, "[%d]: ", (int)state.pid);
}

static void emit(const struct log_line *l)
{
	struct buf b = BUF_INIT;
	state.pid = getpid();
	if (state.is_syslog)
		put_syslog_head(&b, l);
	if (state.style == STYLE_JSON) {
		put_json_line(&b, l);
	} else {
		if (state.style == STYLE_PLAIN)
			put_plain(&b, l);
		put_bare(&b, l);
	}
	if (!state.is_syslog)
		buf_append(&b, "\n", 1);
	write_whole(state.fd >= 0 ? state.fd : STDERR_FILENO, b.data, b.size);
	buf_free(&b);
}

void log_vwrite(int level, const char *file, int line, const char *error,
		const char *format, va_list ap)
{
	assert(level >= LOG_FATAL && level <= LOG_DEBUG);
	int saved_errno = errno;
	struct buf text = BUF_INIT;
	put_vtext(&text, format, ap);
	struct log_line l = {level, NULL, file, line, error, text.data, text.size, false};
	emit(&l);
	buf_free(&text);
	errno = saved_errno;
}

void log_write(int level, const char *file, int line, const char *error,
	       const char *format, ...)
{
	va_list ap;
	va_start(ap, format);
	log_vwrite(level, file, line, error, format, ap);
	va_end(ap);
}

void log_write_module(int level, const char *module, const char *file, int line, const char *text)
{
	int saved_errno = errno;
	struct log_line l = {level, module, file, line, NULL, text, strlen(text), false};
	emit(&l);
	errno = saved_errno;
}

void log_write_object(int level, const char *module, const char *file, int line,
		      const char *object)
{
	int saved_errno = errno;
	struct log_line l = {level, module, file, line, NULL, object, strlen(object), true};
	emit(&l);
	errno = saved_errno;
}

void panic(const char *format, ...)
{
	va_list ap;
	va_start(ap, format);
	struct buf text = BUF_INIT;
	put_vtext(&text, format, ap);
	va_end(ap);
	struct log_line l = {LOG_FATAL, NULL, NULL, 0, NULL, text.data, text.size, false};
	emit(&l);
	if (state.path != NULL || state.pipe_pid != 0 || state.is_syslog) {
		/* Who started the process looks at the terminal, not into the file. */
		log_close();
		emit(&l);
	}
	buf_free(&text);
	exit(1);
}
