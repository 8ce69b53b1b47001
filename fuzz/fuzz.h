/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What the fuzzers share. Each is a LLVMFuzzerTestOneInput() that gets any bytes, and
 * leaves nothing behind, so that one input alone shows again what it showed.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/diag.h"
#include "core/fiber.h"
#include "core/region.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/** What must hold whatever the bytes are; also without assertions. */
#define FUZZ_CHECK(expr) do { \
	if (!(expr)) { \
		fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #expr); \
		abort(); \
	} \
} while (0)

/**
 * A copy that ends where its memory ends, so that the sanitizer sees a read behind it. Freed
 * by free().
 */
static inline char *fuzz_copy(const void *data, size_t size)
{
	char *copy = malloc(size > 0 ? size : 1);
	if (size > 0)
		memcpy(copy, data, size);
	return copy;
}

/** An input is over: its errors and temporary memory go. */
static inline void fuzz_done(void)
{
	diag_clear(diag_get());
	region_truncate(&fiber()->region, 0);
}
