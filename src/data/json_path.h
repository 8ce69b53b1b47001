/* SPDX-License-Identifier: BSD-2-Clause
 *
 * JSON paths: how users name a place inside a field, `[3].name["other"]`. Indexes
 * count from 1; a leading name needs no dot.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum json_token_type {
	JSON_TOKEN_END, JSON_TOKEN_INDEX, JSON_TOKEN_KEY,
	/** `[*]`, every element of an array; json_path_next_any() alone gives it. */
	JSON_TOKEN_ANY,
};

struct json_token {
	enum json_token_type type;
	/** JSON_TOKEN_INDEX: from 0. */
	uint32_t index;
	/** JSON_TOKEN_KEY: within the path. */
	const char *key;
	uint32_t key_len;
};

/** A path and how far it was read. */
struct json_path {
	const char *str;
	uint32_t len, offset;
};

static inline struct json_path json_path_of(const char *str, uint32_t len)
{
	return (struct json_path){str, len, 0};
}

/**
 * The next token; JSON_TOKEN_END behind the last. Returns 0, or the position of
 * the character that is wrong, from 1.
 */
int json_path_next(struct json_path *path, struct json_token *token);

/** The same for paths of index parts, in which `[*]` stands for every element of an array. */
int json_path_next_any(struct json_path *path, struct json_token *token);

/** Are they the same step? */
bool json_token_equal(const struct json_token *a, const struct json_token *b);

/**
 * The value that a step leads to from a MessagePack value, or NULL where that has no such
 * element (of equal keys of a map the first counts). Not for JSON_TOKEN_ANY.
 */
const char *json_token_enter(const struct json_token *token, const char *value);

/** Checks what is left of a path: 0, or the position of the character that is wrong. */
int json_path_check(struct json_path path);
