/* SPDX-License-Identifier: BSD-2-Clause
 *
 * CRC-32C: see crc32c.h. The table version takes eight bytes a step ("slicing by
 * eight"): table k holds the effect of a byte that k zero bytes follow.
 */
#include "data/crc32c.h"

#include <string.h>

#if defined(__x86_64__)
#include <nmmintrin.h>
#elif defined(__aarch64__)
#include <arm_acle.h>
#include <sys/auxv.h>
#include <asm/hwcap.h>
#endif

static uint32_t crc32c_table[8][256];

__attribute__((constructor)) static void crc32c_table_fill(void)
{
	for (uint32_t i = 0; i < 256; i++) {
		uint32_t crc = i;
		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78 : 0);
		crc32c_table[0][i] = crc;
	}
	for (int k = 1; k < 8; k++)
		for (int i = 0; i < 256; i++) {
			uint32_t prev = crc32c_table[k - 1][i];
			crc32c_table[k][i] = prev >> 8 ^ crc32c_table[0][prev & 255];
		}
}

static uint64_t load_le64(const void *p)
{
	uint64_t v;
	memcpy(&v, p, sizeof(v));
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	v = __builtin_bswap64(v);
#endif
	return v;
}

uint32_t crc32c_portable(uint32_t crc, const void *data, size_t size)
{
	const uint8_t *p = data;
	for (; size >= 8; size -= 8, p += 8) {
		uint64_t v = load_le64(p) ^ crc;
		crc = 0;
		for (int k = 0; k < 8; k++)
			crc ^= crc32c_table[7 - k][v >> 8 * k & 255];
	}
	for (; size > 0; size--, p++)
		crc = crc >> 8 ^ crc32c_table[0][(crc ^ *p) & 255];
	return crc;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2")))
static uint32_t crc32c_hardware(uint32_t crc, const void *data, size_t size)
{
	const uint8_t *p = data;
	uint64_t wide = crc;
	for (; size >= 8; size -= 8, p += 8)
		wide = _mm_crc32_u64(wide, load_le64(p));
	crc = wide;
	for (; size > 0; size--, p++)
		crc = _mm_crc32_u8(crc, *p);
	return crc;
}

static int crc32c_has_hardware(void)
{
	return __builtin_cpu_supports("sse4.2");
}
#elif defined(__aarch64__)
__attribute__((target("+crc")))
static uint32_t crc32c_hardware(uint32_t crc, const void *data, size_t size)
{
	const uint8_t *p = data;
	for (; size >= 8; size -= 8, p += 8)
		crc = __crc32cd(crc, load_le64(p));
	for (; size > 0; size--, p++)
		crc = __crc32cb(crc, *p);
	return crc;
}

static int crc32c_has_hardware(void)
{
	return (getauxval(AT_HWCAP) & HWCAP_CRC32) != 0;
}
#else
#define crc32c_hardware crc32c_portable
static int crc32c_has_hardware(void)
{
	return 0;
}
#endif

uint32_t crc32c(uint32_t crc, const void *data, size_t size)
{
	/* 0: not asked yet. Threads that race here write the same value. */
	static int choice;
	int c = __atomic_load_n(&choice, __ATOMIC_RELAXED);
	if (c == 0) {
		c = crc32c_has_hardware() ? 1 : 2;
		__atomic_store_n(&choice, c, __ATOMIC_RELAXED);
	}
	return c == 1 ? crc32c_hardware(crc, data, size) : crc32c_portable(crc, data, size);
}
