/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Small hash maps for the program's own look-ups (spaces by id, users by name):
 * open addressing, linear probing, no order. Not for rows of data.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** From an integer to a pointer. */
struct map_u64 {
	struct map_u64_slot { uint64_t key; void *value; } *slots;
	size_t count, capacity;
};

void map_u64_create(struct map_u64 *m);
void map_u64_destroy(struct map_u64 *m);
/** NULL where the key is not there. */
void *map_u64_get(const struct map_u64 *m, uint64_t key);
/** Sets the value (not NULL); returns the one it replaces, or NULL. */
void *map_u64_put(struct map_u64 *m, uint64_t key, void *value);
/** Takes a key out; returns its value, or NULL. */
void *map_u64_del(struct map_u64 *m, uint64_t key);
/** Walks: start with *pos = 0; false at the end. The map may not change meanwhile. */
bool map_u64_next(const struct map_u64 *m, size_t *pos, uint64_t *key, void **value);

/** From a string of any bytes to a pointer. The key is copied. */
struct map_str {
	struct map_str_slot { char *key; uint32_t len, hash; void *value; } *slots;
	size_t count, capacity;
};

void map_str_create(struct map_str *m);
void map_str_destroy(struct map_str *m);
void *map_str_get(const struct map_str *m, const char *key, size_t len);
void *map_str_put(struct map_str *m, const char *key, size_t len, void *value);
void *map_str_del(struct map_str *m, const char *key, size_t len);
bool map_str_next(const struct map_str *m, size_t *pos, const char **key, size_t *len,
		  void **value);
