/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Sets of small integers: see the header.
 */
#include "db/index/bitset.h"

#include <assert.h>
#include <string.h>

#include "core/memory.h"

static void *bitset_alloc(struct mem_account *account, size_t size, bool is_forced)
{
	return is_forced ? mem_alloc_forced(account, size) : mem_alloc(account, size);
}

/** Position of the first page whose number is not below `no`. */
static uint32_t bitset_find(const struct bitset *set, uint32_t no)
{
	uint32_t low = 0, high = set->slot_count;
	/* Where all pages up to it are there, it stands at its number. */
	if (no < high && set->slots[no].no == no)
		return no;
	/* Numbers are handed out in order, so most changes are at the end. */
	if (high > 0 && set->slots[high - 1].no <= no)
		return set->slots[high - 1].no == no ? high - 1 : high;
	while (low < high) {
		uint32_t mid = low + (high - low) / 2;
		if (set->slots[mid].no < no)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

void bitset_destroy(struct bitset *set, struct mem_account *account)
{
	for (uint32_t i = 0; i < set->slot_count; i++)
		mem_free(account, set->slots[i].page, sizeof(struct bitset_page));
	mem_free(account, set->slots, set->slot_capacity * sizeof(*set->slots));
	memset(set, 0, sizeof(*set));
}

size_t bitset_bsize(const struct bitset *set)
{
	return set->slot_capacity * sizeof(*set->slots) +
		set->slot_count * sizeof(struct bitset_page);
}

/** Makes room for one more slot. */
static int bitset_grow(struct bitset *set, struct mem_account *account, bool is_forced)
{
	if (set->slot_count < set->slot_capacity)
		return 0;
	size_t old_size = set->slot_capacity * sizeof(*set->slots);
	uint32_t capacity = set->slot_capacity > 0 ? set->slot_capacity * 2 : 1;
	void *slots = bitset_alloc(account, capacity * sizeof(*set->slots), is_forced);
	if (slots == NULL)
		return -1;
	if (old_size > 0)
		memcpy(slots, set->slots, old_size);
	mem_free(account, set->slots, old_size);
	set->slots = slots;
	set->slot_capacity = capacity;
	return 0;
}

static int bitset_add_page(struct bitset *set, uint32_t pos, uint32_t no,
			   struct mem_account *account, bool is_forced)
{
	if (bitset_grow(set, account, is_forced) != 0)
		return -1;
	struct bitset_page *page = bitset_alloc(account, sizeof(*page), is_forced);
	if (page == NULL)
		return -1;
	memset(page, 0, sizeof(*page));
	memmove(&set->slots[pos + 1], &set->slots[pos],
		(set->slot_count - pos) * sizeof(*set->slots));
	set->slots[pos] = (struct bitset_slot){.page = page, .no = no};
	set->slot_count++;
	return 0;
}

int bitset_add(struct bitset *set, uint32_t n, struct mem_account *account, bool is_forced)
{
	uint32_t no = n / BITSET_PAGE_BITS, bit = n % BITSET_PAGE_BITS;
	uint32_t pos = bitset_find(set, no);
	if ((pos == set->slot_count || set->slots[pos].no != no) &&
	    bitset_add_page(set, pos, no, account, is_forced) != 0)
		return -1;
	struct bitset_slot *slot = &set->slots[pos];
	assert((slot->page->words[bit / 64] >> bit % 64 & 1) == 0);
	slot->page->words[bit / 64] |= UINT64_C(1) << bit % 64;
	slot->count++;
	set->size++;
	return 0;
}

void bitset_remove(struct bitset *set, uint32_t n, struct mem_account *account)
{
	uint32_t no = n / BITSET_PAGE_BITS, bit = n % BITSET_PAGE_BITS;
	uint32_t pos = bitset_find(set, no);
	assert(bitset_has(set, n));
	struct bitset_slot *slot = &set->slots[pos];
	slot->page->words[bit / 64] &= ~(UINT64_C(1) << bit % 64);
	set->size--;
	if (--slot->count > 0)
		return;
	mem_free(account, slot->page, sizeof(*slot->page));
	set->slot_count--;
	memmove(slot, slot + 1, (set->slot_count - pos) * sizeof(*slot));
	if (set->slot_count == 0)
		bitset_destroy(set, account);
}

const struct bitset_page *bitset_page(const struct bitset *set, uint32_t no)
{
	uint32_t pos = bitset_find(set, no);
	return pos < set->slot_count && set->slots[pos].no == no ? set->slots[pos].page : NULL;
}

uint32_t bitset_next_page(const struct bitset *set, uint32_t no)
{
	uint32_t pos = bitset_find(set, no);
	return pos < set->slot_count ? set->slots[pos].no : UINT32_MAX;
}

bool bitset_has(const struct bitset *set, uint32_t n)
{
	const struct bitset_page *page = bitset_page(set, n / BITSET_PAGE_BITS);
	uint32_t bit = n % BITSET_PAGE_BITS;
	return page != NULL && (page->words[bit / 64] >> bit % 64 & 1);
}
