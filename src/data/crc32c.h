/* SPDX-License-Identifier: BSD-2-Clause
 *
 * CRC-32C (Castagnoli; reflected polynomial 0x82f63b78), with the processor's
 * instruction where it has one and by tables otherwise.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/**
 * Goes on with a checksum over `size` more bytes. No inversion at either end: the
 * common form is ~crc32c(~0, data, size); the journal starts with 0 and takes the
 * value as it is.
 */
uint32_t crc32c(uint32_t crc, const void *data, size_t size);

/** The table version, for tests. */
uint32_t crc32c_portable(uint32_t crc, const void *data, size_t size);
