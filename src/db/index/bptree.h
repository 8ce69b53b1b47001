/* SPDX-License-Identifier: BSD-2-Clause
 *
 * An ordered set of tuples: a B+-tree with copy-on-write views.
 *
 * A leaf holds hints and tuples, in order. An inner block holds children and,
 * for every child but the last, the greatest entry below it (its separator):
 *
 *     inner:  children  [  A  |  B  |  C  ]
 *             separators    a9    b7
 *     leaf A: a1 a2 ... a9
 *
 * Invariants:
 * 1. Entries strictly ascend by the comparison definition.
 * 2. A separator is exactly the greatest entry of its child's subtree, so it is
 *    always a tuple of the tree. Hence an insertion changes none; the deletion of
 *    a leaf's last entry changes one, in the nearest ancestor that has it.
 * 3. All leaves are equally deep. A block but the root is never empty, an inner
 *    one has two children at least; blocks that fall below a third are merged or
 *    refilled. (A split at either end of the tree leaves a small block there.)
 *
 * Hints of strings: where a block lies between two separators, all keys that belong
 * into it begin as both of these do, if they begin alike. Hints of the block are
 * taken from behind that, its `skip`, and so differ although all keys of the tree
 * may begin alike.
 * 4. Of a block with a `skip`, the separators around it (its bounds) have so many
 *    first bytes in common. A block without a bound on either side has none.
 *
 * Views: a view remembers the root and has an epoch; opening one begins a new
 * epoch. A block made in an epoch of the newest open view or before is seen by it
 * and is copied, with the path above it, before it is changed. The old block is
 * retired: kept by the newest view until no view sees it.
 *
 * No siblings are linked, since a copy would spread along the links.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/list.h"
#include "db/tuple/hint.h"
#include "db/tuple/key_def.h"

enum {
	BPTREE_BLOCK_SIZE = 1024,
	BPTREE_HEAD_SIZE = 16,
	BPTREE_LEAF_MAX = (BPTREE_BLOCK_SIZE - BPTREE_HEAD_SIZE) / 16,
	BPTREE_INNER_MAX = (BPTREE_BLOCK_SIZE - BPTREE_HEAD_SIZE + 16) / 24,
	BPTREE_LEAF_MIN = BPTREE_LEAF_MAX / 3,
	BPTREE_INNER_MIN = BPTREE_INNER_MAX / 3,
	/** Enough for any tree that fits into memory. */
	BPTREE_DEPTH_MAX = 16,
};

struct bptree_block {
	uint32_t epoch;
	/** Entries of a leaf, children of an inner block. */
	uint16_t count;
	bool is_leaf;
	/** Bytes that are the same in all keys, which hints do not show. */
	uint8_t skip;
	/** Link in the list of spare or of retired blocks. */
	struct bptree_block *next;
	union {
		struct {
			hint_t hints[BPTREE_LEAF_MAX];
			struct tuple *tuples[BPTREE_LEAF_MAX];
		} leaf;
		struct {
			hint_t hints[BPTREE_INNER_MAX - 1];
			struct tuple *tuples[BPTREE_INNER_MAX - 1];
			struct bptree_block *children[BPTREE_INNER_MAX];
		} inner;
	};
};

_Static_assert(offsetof(struct bptree_block, leaf) == BPTREE_HEAD_SIZE, "block head");
_Static_assert(sizeof(struct bptree_block) == BPTREE_BLOCK_SIZE, "block size");

struct bptree {
	/** Borrowed. */
	const struct key_def *cmp_def;
	/** Whether hints are kept; they are all HINT_NONE otherwise. */
	bool use_hint;
	/** Hints are bytes of strings, and skip what is the same in a block. */
	bool use_skip;
	/** Deleted while views were open: freed with the last of them. */
	bool is_orphan;
	/** Levels; 0 where empty. */
	int depth;
	struct bptree_block *root;
	size_t size;
	size_t block_count;
	/** Grows with every change of the set. */
	uint64_t version;
	uint32_t epoch;
	unsigned spare_count;
	struct bptree_block *spare;
	/** Open views, newest first. */
	struct list views;
};

/** What is looked for: a tuple, or a key of one part at least. */
struct bptree_search {
	const struct key_def *def;
	/** Where the tree does not skip: the least hint of what equals it; the bits that vary. */
	hint_t hint, open_bits;
	/** Where it does. */
	struct hint_bytes bytes;
	/** Equal hints settle it: no comparison is needed. */
	bool is_exact;
	/** NULL: the key. */
	const struct tuple *tuple;
	const char *key;
	uint32_t part_count;
};

/** A place in the tree: a block and a position on every level, root first. */
struct bptree_path {
	int depth;
	uint16_t pos[BPTREE_DEPTH_MAX];
	struct bptree_block *block[BPTREE_DEPTH_MAX];
};

struct bptree *bptree_new(const struct key_def *cmp_def, bool use_hint);

/** The tuples are not touched. With views open the blocks live as long as they. */
void bptree_delete(struct bptree *tree);

/**
 * Frees up to `count` blocks of a tree that is to be deleted. True where none are left, or a
 * view keeps them all.
 */
bool bptree_free_some(struct bptree *tree, size_t count);

/**
 * Looks for a tuple by `def`: the tree's definition, or a prefix of its parts. What is looked for
 * is borrowed. The search is made in its place, since a copy of what was just written stalls.
 */
void bptree_search_tuple(struct bptree_search *search, const struct bptree *tree,
			 const struct tuple *tuple, const struct key_def *def);
void bptree_search_key(struct bptree_search *search, const struct bptree *tree, const char *key,
		       uint32_t part_count);

/** An entry that equals what is looked for (the first of them), or NULL. */
struct tuple *bptree_find(const struct bptree *tree, const struct bptree_search *search);

/* Places. Functions that return bool tell whether there is an entry; where there
 * is none, only a path from bptree_seek() is still good, for bptree_insert(). */

/** The first entry that is not below (`is_upper`: that is above) what is looked for. */
bool bptree_seek(const struct bptree *tree, const struct bptree_search *search, bool is_upper,
		 struct bptree_path *path);
bool bptree_first(const struct bptree *tree, struct bptree_path *path);
bool bptree_last(const struct bptree *tree, struct bptree_path *path);
bool bptree_path_next(struct bptree_path *path);
/** Also from a place behind the end, as bptree_seek() leaves it. */
bool bptree_path_prev(struct bptree_path *path);
/** To the first entry of the next leaf. */
bool bptree_path_next_leaf(struct bptree_path *path);

static inline struct bptree_block *bptree_path_leaf(const struct bptree_path *path)
{
	return path->block[path->depth - 1];
}

static inline unsigned bptree_path_pos(const struct bptree_path *path)
{
	return path->pos[path->depth - 1];
}

static inline struct tuple *bptree_path_tuple(const struct bptree_path *path)
{
	return bptree_path_leaf(path)->leaf.tuples[bptree_path_pos(path)];
}

/** Compares the entry at a place with what is looked for. */
int bptree_path_compare(const struct bptree *tree, const struct bptree_path *path,
			const struct bptree_search *search);

/* Changes. `is_forced` passes the limit of memory and never fails. The path must
 * be fresh; it is void afterwards. -1: OutOfMemory, and nothing has changed. */

/** Puts a tuple at the place bptree_seek() found for it; the tree must not have its equal. */
int bptree_insert(struct bptree *tree, struct bptree_path *path, struct tuple *tuple,
		  bool is_forced);

/** Puts a tuple in the place of its equal. */
int bptree_overwrite(struct bptree *tree, struct bptree_path *path, struct tuple *tuple,
		     bool is_forced);

/** Takes the entry out. Never fails. */
void bptree_remove(struct bptree *tree, struct bptree_path *path);

/* Bulk load of an empty tree. */

struct index_load;

/** Makes sure that `count` blocks are spare. -1: OutOfMemory. */
int bptree_reserve(struct bptree *tree, unsigned count, bool is_forced);

/** So many blocks `count` entries take: to be made spare first, by bptree_reserve(). */
size_t bptree_load_block_count(size_t count);

/** Puts entries in strictly ascending order into an empty tree that nobody else uses. */
void bptree_load(struct bptree *tree, const struct index_load *load);

/* Views. */

struct bptree_view {
	struct list link;
	struct bptree *tree;
	uint32_t epoch;
	struct bptree_block *retired;
	size_t retired_count;
	/** The place of the entry that comes next; other threads touch nothing else. */
	struct bptree_path path;
	bool has_entry;
};

/** A view of the tree as it is now, before its first entry. */
struct bptree_view *bptree_view_new(struct bptree *tree);
/** Many blocks that only this view kept are left as garbage, to be collected in steps. */
void bptree_view_delete(struct bptree_view *view);

/** Bytes, of index_memory, that are kept for views, or are garbage. */
extern size_t bptree_retired_size;
bool bptree_has_garbage(void);
/** Frees up to `count` blocks of it. */
void bptree_collect_garbage(size_t count);
/** Called when there is garbage; NULL: none is left. */
extern void (*bptree_on_garbage)(void);

/** Checks every invariant; NULL, or what is broken. */
const char *bptree_check(const struct bptree *tree);
