-- SPDX-License-Identifier: BSD-2-Clause
--
-- What of the C library scripts may call by `ffi.C` without declaring it, as in the reference:
-- programs written for that do. Declarations as POSIX has them. Our own code does not use these.
local ffi = require('ffi')

ffi.cdef([[
typedef uint32_t uid_t;
typedef uint32_t gid_t;
typedef int32_t pid_t;
typedef int64_t time_t;
typedef uint32_t socklen_t;

struct passwd {
	char *pw_name, *pw_passwd;
	uid_t pw_uid;
	gid_t pw_gid;
	char *pw_gecos, *pw_dir, *pw_shell;
};
struct group {
	char *gr_name, *gr_passwd;
	gid_t gr_gid;
	char **gr_mem;
};
struct passwd *getpwnam(const char *name);
struct passwd *getpwuid(uid_t uid);
struct passwd *getpwent(void);
void setpwent(void);
void endpwent(void);
struct group *getgrnam(const char *name);
struct group *getgrgid(gid_t gid);
struct group *getgrent(void);
void setgrent(void);
void endgrent(void);

pid_t getpid(void);
int chdir(const char *path);
int umask(int mask);
char *strerror(int number);
intptr_t read(int fd, void *buf, size_t size);
intptr_t write(int fd, const void *buf, size_t size);
int memcmp(const void *a, const void *b, size_t size);
void *memmem(const void *in, size_t in_size, const void *what, size_t what_size);
int snprintf(char *buf, size_t size, const char *format, ...);

struct sockaddr;
int socket(int domain, int type, int protocol);
int bind(int fd, const struct sockaddr *address, socklen_t size);
int connect(int fd, const struct sockaddr *address, socklen_t size);
int listen(int fd, int backlog);
int accept(int fd, struct sockaddr *address, socklen_t *size);
int shutdown(int fd, int how);
intptr_t send(int fd, const void *buf, size_t size, int flags);
intptr_t recv(int fd, void *buf, size_t size, int flags);
intptr_t sendto(int fd, const void *buf, size_t size, int flags,
		const struct sockaddr *address, socklen_t address_size);
int setsockopt(int fd, int level, int name, const void *value, socklen_t size);
int getsockopt(int fd, int level, int name, void *value, socklen_t *size);
]])
