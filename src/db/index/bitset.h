/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Sets of small integers, as sorted lists of pages of bits; pages without any are left
 * out. What BITSET indexes are made of (bitset_index.c): a set of rows for each bit.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mem_account;

enum {
	/** A page is a line of the processor's cache. */
	BITSET_PAGE_WORDS = 8, BITSET_PAGE_BITS = 64 * BITSET_PAGE_WORDS,
};

/** Bits of a page, or of an expression over pages of that number. */
struct bitset_page {
	uint64_t words[BITSET_PAGE_WORDS];
};

struct bitset {
	struct bitset_slot { struct bitset_page *page; uint32_t no, count; } *slots;
	/** In ascending order of their numbers. */
	uint32_t slot_count, slot_capacity;
	/** Of integers in the set. */
	size_t size;
};

void bitset_destroy(struct bitset *set, struct mem_account *account);

/** Bytes of pages and lists. */
size_t bitset_bsize(const struct bitset *set);

/** Adds a number that is not there. -1: OutOfMemory; never where `is_forced`. */
int bitset_add(struct bitset *set, uint32_t n, struct mem_account *account, bool is_forced);

/** Takes out a number that is there. Never fails. */
void bitset_remove(struct bitset *set, uint32_t n, struct mem_account *account);

bool bitset_has(const struct bitset *set, uint32_t n);

/** Page `no`; NULL where none of its numbers are in the set. */
const struct bitset_page *bitset_page(const struct bitset *set, uint32_t no);

/** The number of the first page that is not below `no`; UINT32_MAX: there is none. */
uint32_t bitset_next_page(const struct bitset *set, uint32_t no);

static inline void bitset_page_and(struct bitset_page *to, const struct bitset_page *page)
{
	for (int i = 0; i < BITSET_PAGE_WORDS; i++)
		to->words[i] &= page != NULL ? page->words[i] : 0;
}

static inline void bitset_page_or(struct bitset_page *to, const struct bitset_page *page)
{
	for (int i = 0; page != NULL && i < BITSET_PAGE_WORDS; i++)
		to->words[i] |= page->words[i];
}

static inline void bitset_page_and_not(struct bitset_page *to, const struct bitset_page *page)
{
	for (int i = 0; page != NULL && i < BITSET_PAGE_WORDS; i++)
		to->words[i] &= ~page->words[i];
}

static inline bool bitset_page_is_empty(const struct bitset_page *page)
{
	uint64_t any = 0;
	for (int i = 0; i < BITSET_PAGE_WORDS; i++)
		any |= page->words[i];
	return any == 0;
}

static inline unsigned bitset_page_count(const struct bitset_page *page)
{
	unsigned count = 0;
	for (int i = 0; i < BITSET_PAGE_WORDS; i++)
		count += __builtin_popcountll(page->words[i]);
	return count;
}

/** The first number in the page from `from` on; BITSET_PAGE_BITS where there is none. */
static inline unsigned bitset_page_next(const struct bitset_page *page, unsigned from)
{
	for (unsigned word = from / 64; word < BITSET_PAGE_WORDS; word++) {
		uint64_t bits = page->words[word];
		if (word == from / 64)
			bits &= UINT64_MAX << from % 64;
		if (bits != 0)
			return word * 64 + __builtin_ctzll(bits);
	}
	return BITSET_PAGE_BITS;
}
