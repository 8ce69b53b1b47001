/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Pipes and the syslog for log.c. libc's syslog(3) knows one server only, /dev/log, so
 * the datagrams of RFC 3164 are sent from here.
 */
#include "core/log_target.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "core/diag.h"
#include "core/memory.h"

extern char **environ;

int log_pipe_open(const char *command, pid_t *pid)
{
	int fds[2];
	if (pipe2(fds, O_CLOEXEC) != 0) {
		diag_set_errno(SystemError, "can't open a pipe for the log");
		return -1;
	}
	char *argv[] = {"sh", "-c", (char *)command, NULL};
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	sigset_t none, pipe_only;
	sigemptyset(&none);
	sigemptyset(&pipe_only);
	sigaddset(&pipe_only, SIGPIPE);
	posix_spawn_file_actions_init(&actions);
	posix_spawnattr_init(&attr);
	posix_spawn_file_actions_adddup2(&actions, fds[0], STDIN_FILENO);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setsigdefault(&attr, &pipe_only);
	/* A session of its own: Ctrl-C ends the server, which then ends the log. */
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
				 POSIX_SPAWN_SETSID);
	int rc = posix_spawn(pid, "/bin/sh", &actions, &attr, argv, environ);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&actions);
	close(fds[0]);
	if (rc != 0) {
		close(fds[1]);
		errno = rc;
		diag_set_errno(SystemError, "can't start the log's program '%s'", command);
		return -1;
	}
	return fds[1];
}

/* Syslog ----------------------------------------------------------------- */

static const char *const facilities[] = {
	"kern", "user", "mail", "daemon", "auth", "intern", "lpr", "news", "uucp", "clock",
	"authpriv", "ftp", "ntp", "audit", "alert", "cron", "local0", "local1", "local2",
	"local3", "local4", "local5", "local6", "local7",
};
enum { FACILITY_COUNT = sizeof(facilities) / sizeof(facilities[0]) };

static int facility_by_name(const char *name)
{
	for (int i = 0; i < FACILITY_COUNT; i++) {
		if (strcmp(facilities[i], name) == 0)
			return i * 8;
	}
	return -1;
}

static int connect_unix(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	if (strlen(path) >= sizeof(address.sun_path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	strcpy(address.sun_path, path);
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof(address)) != 0) {
		int saved = errno;
		close(fd);
		errno = saved;
		return -1;
	}
	return fd;
}

/** "host", "host:port", "[v6]:port" */
static int connect_udp(const char *server)
{
	char *host = xstrdup(server);
	char *port = "514", *colon = strrchr(host, ':'), *name = host;
	if (host[0] == '[' && strchr(host, ']') != NULL) {
		name = host + 1;
		char *end = strchr(host, ']');
		colon = end[1] == ':' ? end + 1 : NULL;
		*end = '\0';
	}
	if (colon != NULL) {
		*colon = '\0';
		port = colon + 1;
	}
	struct addrinfo hints = {.ai_socktype = SOCK_DGRAM}, *found = NULL;
	int fd = -1;
	if (getaddrinfo(name, port, &hints, &found) != 0)
		errno = EADDRNOTAVAIL;
	for (struct addrinfo *a = found; a != NULL && fd < 0; a = a->ai_next) {
		fd = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC, a->ai_protocol);
		if (fd >= 0 && connect(fd, a->ai_addr, a->ai_addrlen) != 0) {
			close(fd);
			fd = -1;
		}
	}
	if (found != NULL)
		freeaddrinfo(found);
	xfree(host);
	return fd;
}

static int bad_option(const char *what, const char *option)
{
	diag_set(IllegalParams, "%s '%s'", what, option);
	return -1;
}

/** Takes one "name=value". */
static int parse_option(char *option, struct log_syslog *syslog, const char **server)
{
	char *value = strchr(option, '=');
	if (value == NULL)
		return bad_option("bad option", option);
	bool is_server = strncmp(option, "server=", 7) == 0;
	bool is_identity = strncmp(option, "identity=", 9) == 0;
	bool is_facility = strncmp(option, "facility=", 9) == 0;
	if (!is_server && !is_identity && !is_facility)
		return bad_option("bad option", option);
	value++;
	if ((is_server && *server != NULL) || (is_identity && syslog->identity != NULL) ||
	    (is_facility && syslog->facility >= 0))
		return bad_option("duplicate option", option);
	if (is_server)
		*server = value;
	else if (is_identity)
		syslog->identity = xstrdup(value);
	else if ((syslog->facility = facility_by_name(value)) < 0)
		return bad_option("bad syslog facility", value);
	return 0;
}

int log_syslog_open(const char *options, struct log_syslog *syslog)
{
	char *copy = xstrdup(options), *rest = copy, *option;
	const char *server = NULL;
	int rc = 0;
	*syslog = (struct log_syslog){.facility = -1};
	while (rc == 0 && (option = strsep(&rest, ",")) != NULL) {
		if (*option != '\0')
			rc = parse_option(option, syslog, &server);
	}
	if (rc == 0) {
		if (server == NULL || *server == '\0')
			server = "unix:/dev/log";
		bool is_unix = strncmp(server, "unix:", 5) == 0 || server[0] == '/';
		rc = is_unix ? connect_unix(server[0] == '/' ? server : server + 5) :
			       connect_udp(server);
		if (rc < 0)
			diag_set_errno(SystemError, "can't connect to the syslog at '%s'", server);
	}
	xfree(copy);
	if (rc < 0)
		log_syslog_free(syslog);
	if (rc >= 0 && syslog->identity == NULL)
		syslog->identity = xstrdup("tarn");
	if (rc >= 0 && syslog->facility < 0)
		syslog->facility = facility_by_name("local7");
	return rc;
}

void log_syslog_free(struct log_syslog *syslog)
{
	xfree(syslog->identity);
	syslog->identity = NULL;
}
