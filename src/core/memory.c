/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Memory over mimalloc, which is called by its own names (`mi_malloc`), so
 * libraries that use malloc keep the system's. An account charges each object
 * with the size class mimalloc rounds it up to, so that the figure is what the
 * process really spends, and it needs no header beside the object: the caller
 * tells the size again when it frees.
 *
 * With TARN_ASAN or TARN_TSAN all goes to malloc, and the sanitizer sees each object; the
 * accounts work the same.
 */
#include "core/memory.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/diag.h"

#if defined(TARN_ASAN) || defined(TARN_TSAN)
/* The sanitizer ends the process where more is asked for. */
#define RAW_SIZE_MAX ((size_t)1 << 39)
#define raw_malloc malloc
#define raw_calloc calloc
#define raw_realloc realloc
#define raw_free free
#define raw_free_size(ptr, size) free(ptr)
#define raw_good_size(size) (((size) + 15) & ~(size_t)15)
#else
#include <mimalloc.h>
#define RAW_SIZE_MAX (SIZE_MAX / 4)
#define raw_malloc mi_malloc
#define raw_calloc mi_calloc
#define raw_realloc mi_realloc
#define raw_free mi_free
#define raw_free_size(ptr, size) mi_free_size((ptr), (size))
#define raw_good_size(size) mi_good_size(size)
#endif

/** Sizes beyond it are refused at once, so that rounding up cannot overflow. */
static const size_t ALLOC_SIZE_MAX = RAW_SIZE_MAX;

size_t mem_usable(size_t size)
{
	if (size < 16)
		return 16;
	return raw_good_size(size);
}

static inline void *account_alloc(struct mem_account *account, size_t usable)
{
	size_t used = account->used;
	if (account->partner != NULL)
		used += account->partner->used;
	if (__builtin_expect(usable > account->limit || used > account->limit - usable, 0))
		return NULL;
	void *ptr = raw_malloc(usable);
	if (ptr != NULL)
		account->used += usable;
	return ptr;
}

void *mem_alloc(struct mem_account *account, size_t size)
{
	size_t usable = size <= ALLOC_SIZE_MAX ? mem_usable(size) : SIZE_MAX;
	void *ptr = account_alloc(account, usable);
	if (ptr == NULL && account->reclaim != NULL && account->reclaim())
		ptr = account_alloc(account, usable);
	if (ptr != NULL)
		return ptr;
	errno = ENOMEM;
	diag_set(OutOfMemory, "Failed to allocate %zu bytes in slab allocator for %s",
		 size, account->name);
	return NULL;
}

void mem_free(struct mem_account *account, void *ptr, size_t size)
{
	if (ptr == NULL)
		return;
	size_t usable = mem_usable(size);
	assert(account->used >= usable);
	account->used -= usable;
	raw_free_size(ptr, usable);
}

void *mem_try(size_t size)
{
	return size <= ALLOC_SIZE_MAX ? raw_malloc(size) : NULL;
}

static void __attribute__((noreturn, cold)) out_of_memory(size_t size)
{
	char text[80];
	int len = snprintf(text, sizeof(text), "tarn: no memory for %zu bytes\n", size);
	if (write(STDERR_FILENO, text, len) < 0)
		_exit(1);
	abort();
}

void *xmalloc(size_t size)
{
	void *ptr = raw_malloc(size);
	if (ptr == NULL && size > 0)
		out_of_memory(size);
	return ptr;
}

void *xcalloc(size_t count, size_t size)
{
	void *ptr = raw_calloc(count, size);
	if (ptr == NULL && count > 0 && size > 0)
		out_of_memory(count * size);
	return ptr;
}

void *xrealloc(void *ptr, size_t size)
{
	ptr = raw_realloc(ptr, size);
	if (ptr == NULL && size > 0)
		out_of_memory(size);
	return ptr;
}

void *mem_alloc_forced(struct mem_account *account, size_t size)
{
	size_t limit = account->limit;
	account->limit = SIZE_MAX;
	void *ptr = mem_alloc(account, size);
	account->limit = limit;
	if (ptr == NULL)
		out_of_memory(size);
	return ptr;
}

char *xstrndup(const char *s, size_t len)
{
	char *copy = xmalloc(len + 1);
	if (len > 0)
		memcpy(copy, s, len);
	copy[len] = '\0';
	return copy;
}

char *xstrdup(const char *s)
{
	return xstrndup(s, strlen(s));
}

char *xasprintf(const char *format, ...)
{
	va_list ap, again;
	va_start(ap, format);
	va_copy(again, ap);
	int len = vsnprintf(NULL, 0, format, ap);
	va_end(ap);
	char *s = xmalloc((len > 0 ? len : 0) + 1);
	s[0] = '\0';
	if (len > 0)
		vsnprintf(s, len + 1, format, again);
	va_end(again);
	return s;
}

void xfree(void *ptr)
{
	raw_free(ptr);
}
