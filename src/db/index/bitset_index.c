/* SPDX-License-Identifier: BSD-2-Clause
 *
 * BITSET indexes: for each bit of the indexed values the set of the rows that have it.
 *
 * Rows have numbers (bitset_rows.h). An iterator goes through the pages of numbers, 512 to
 * a page, and works its expression out a page at a time, anew where the index has
 * changed meanwhile; a row keeps its number when it is replaced. Bits of a string are
 * numbered from the first byte's lowest one on.
 */
#include <assert.h>
#include <stddef.h>
#include <string.h>

#include "core/memory.h"
#include "data/mp.h"
#include "db/error.h"
#include "db/index/bitset.h"
#include "db/index/bitset_rows.h"
#include "db/index/index_private.h"
#include "db/tuple/tuple.h"
#include "db/tuple/tuple_field.h"

struct bitset_index {
	struct index base;
	struct bitset_rows rows;
	/** The numbers of all rows. */
	struct bitset all;
	/** By bit. */
	struct bitset *bits;
	size_t bit_count, bit_capacity;
	uint64_t version;
};

static struct bitset_index *bitset_of(const struct index *index)
{
	return (struct bitset_index *)index;
}

/* Values --------------------------------------------------------------------- */

/** A value as bytes, the lowest first; those at the end that are 0 are left out. */
struct bit_value {
	const unsigned char *data;
	size_t len;
	unsigned char number[sizeof(uint64_t)];
};

enum { BITS_PER_BYTE = 8, BIT_CAPACITY_MIN = 64 };
static const size_t BIT_NONE = SIZE_MAX;

static void bit_value_decode(struct bit_value *value, const char *data)
{
	if (mp_typeof(*data) == MP_STR) {
		uint32_t len;
		value->data = (const unsigned char *)mp_decode_str(&data, &len);
		value->len = len;
	} else {
		uint64_t number = mp_decode_uint(&data);
		for (size_t i = 0; i < sizeof(number); i++)
			value->number[i] = number >> BITS_PER_BYTE * i;
		value->data = value->number;
		value->len = sizeof(number);
	}
	while (value->len > 0 && value->data[value->len - 1] == 0)
		value->len--;
}

static void bit_value_of_tuple(struct bit_value *value, const struct index *index,
			       const struct tuple *tuple)
{
	const char *field = tuple_field_by_part(tuple, &index->def->key_def->parts[0]);
	bit_value_decode(value, field);
}

/** The first bit that is set, from `bit` on; BIT_NONE where there is none. */
static size_t bit_value_next(const struct bit_value *value, size_t bit)
{
	for (size_t i = bit / BITS_PER_BYTE; i < value->len; i++) {
		unsigned byte = value->data[i];
		if (i == bit / BITS_PER_BYTE)
			byte &= 0xffu << bit % BITS_PER_BYTE;
		if (byte != 0)
			return i * BITS_PER_BYTE + __builtin_ctz(byte);
	}
	return BIT_NONE;
}

#define bit_value_foreach(bit, value) \
	for (size_t bit = bit_value_next((value), 0); bit != BIT_NONE; \
	     bit = bit_value_next((value), bit + 1))

static bool bit_value_has(const struct bit_value *value, size_t bit)
{
	size_t byte = bit / BITS_PER_BYTE;
	return byte < value->len && (value->data[byte] >> bit % BITS_PER_BYTE & 1);
}

/* Changes -------------------------------------------------------------------- */

/** Moves the sets into an array with room for `count`, of which there are no more now. */
static int bitset_resize_bits(struct bitset_index *bitset, size_t count)
{
	size_t capacity = BIT_CAPACITY_MIN;
	while (capacity < count)
		capacity *= 2;
	size_t size = capacity * sizeof(*bitset->bits);
	void *bits = index_is_undoing ? mem_alloc_forced(&index_memory, size) :
		mem_alloc(&index_memory, size);
	if (bits == NULL)
		return -1;
	memset(bits, 0, size);
	if (bitset->bit_count > 0)
		memcpy(bits, bitset->bits, bitset->bit_count * sizeof(*bitset->bits));
	mem_free(&index_memory, bitset->bits, bitset->bit_capacity * sizeof(*bitset->bits));
	bitset->bits = bits;
	bitset->bit_capacity = capacity;
	return 0;
}

/** Makes sets for all bits that a value may have. */
static int bitset_reserve_bits(struct bitset_index *bitset, size_t count)
{
	if (count <= bitset->bit_count)
		return 0;
	if (count > bitset->bit_capacity && bitset_resize_bits(bitset, count) != 0)
		return -1;
	bitset->bit_count = count;
	return 0;
}

/** Gives up the sets at the end that are empty, when a long value has gone. */
static void bitset_trim_bits(struct bitset_index *bitset)
{
	while (bitset->bit_count > 0 && bitset->bits[bitset->bit_count - 1].size == 0)
		bitset->bit_count--;
	size_t count = bitset->bit_count;
	size_t size = (2 * count + BIT_CAPACITY_MIN) * sizeof(*bitset->bits);
	/* Where there is no room for the smaller array beside this one, this one stays. */
	if (bitset->bit_capacity > BIT_CAPACITY_MIN && count <= bitset->bit_capacity / 8 &&
	    index_memory.used + 2 * size < index_memory.limit)
		bitset_resize_bits(bitset, count);
}

/** Takes the row out of the sets of the value's bits, of those below `end` not in `kept`. */
static void bitset_remove_bits(struct bitset_index *bitset, uint32_t n,
			       const struct bit_value *value, const struct bit_value *kept,
			       size_t end)
{
	bit_value_foreach(bit, value) {
		if (bit >= end)
			break;
		if (kept == NULL || !bit_value_has(kept, bit))
			bitset_remove(&bitset->bits[bit], n, &index_memory);
	}
}

/** Adds the row to the sets of the value's bits, save for those that `had` has. */
static int bitset_add_bits(struct bitset_index *bitset, uint32_t n, const struct bit_value *value,
			   const struct bit_value *had)
{
	bit_value_foreach(bit, value) {
		if (had != NULL && bit_value_has(had, bit))
			continue;
		if (bitset_add(&bitset->bits[bit], n, &index_memory, index_is_undoing) != 0) {
			bitset_remove_bits(bitset, n, value, had, bit);
			return -1;
		}
	}
	return 0;
}

static int bitset_insert(struct bitset_index *bitset, struct tuple *tuple,
			 const struct bit_value *value)
{
	bool is_forced = index_is_undoing;
	if (bitset_rows_reserve(&bitset->rows, &index_memory, is_forced) != 0)
		return -1;
	uint32_t n = bitset_rows_add(&bitset->rows, tuple);
	if (bitset_add(&bitset->all, n, &index_memory, is_forced) == 0) {
		if (bitset_add_bits(bitset, n, value, NULL) == 0)
			return 0;
		bitset_remove(&bitset->all, n, &index_memory);
	}
	bitset_rows_remove(&bitset->rows, n);
	return -1;
}

static void bitset_delete(struct bitset_index *bitset, struct tuple *tuple)
{
	struct bit_value value;
	bit_value_of_tuple(&value, &bitset->base, tuple);
	uint32_t n = bitset_rows_find(&bitset->rows, tuple);
	bitset_remove_bits(bitset, n, &value, NULL, BIT_NONE);
	bitset_remove(&bitset->all, n, &index_memory);
	bitset_rows_remove(&bitset->rows, n);
	bitset_trim_bits(bitset);
}

/** Puts a row in the place of another one: it gets the same number. */
static int bitset_overwrite(struct bitset_index *bitset, struct tuple *old_tuple,
			    struct tuple *new_tuple, const struct bit_value *new_value)
{
	struct bit_value old_value;
	bit_value_of_tuple(&old_value, &bitset->base, old_tuple);
	uint32_t n = bitset_rows_find(&bitset->rows, old_tuple);
	if (bitset_add_bits(bitset, n, new_value, &old_value) != 0)
		return -1;
	bitset_remove_bits(bitset, n, &old_value, new_value, BIT_NONE);
	bitset_rows_replace(&bitset->rows, n, new_tuple);
	return 0;
}

static int bitset_put(struct bitset_index *bitset, struct tuple *old_tuple,
		      struct tuple *new_tuple)
{
	struct bit_value value;
	bit_value_of_tuple(&value, &bitset->base, new_tuple);
	int rc = bitset_reserve_bits(bitset, value.len * BITS_PER_BYTE);
	if (rc == 0)
		rc = old_tuple == NULL ? bitset_insert(bitset, new_tuple, &value) :
			bitset_overwrite(bitset, old_tuple, new_tuple, &value);
	bitset_trim_bits(bitset);
	return rc;
}

static int bitset_replace(struct index *index, struct tuple *old_tuple, struct tuple *new_tuple,
			  enum dup_replace_mode mode, struct tuple **result)
{
	struct bitset_index *bitset = bitset_of(index);
	*result = old_tuple;
	if (new_tuple == NULL)
		bitset_delete(bitset, old_tuple);
	else if (bitset_put(bitset, old_tuple, new_tuple) != 0)
		return -1;
	bitset->version++;
	return 0;
}

/* Iterators ------------------------------------------------------------------- */

struct bitset_iterator {
	struct iterator base;
	enum iterator_type type;
	/** The rows of page `no` that match, at the version of the index; `next` is to be done. */
	struct bitset_page page;
	uint32_t no;
	unsigned next;
	uint64_t version;
	bool has_page;
	struct bit_value value;
	unsigned char bytes[];
};

/** The set of a bit that no row has need not exist. */
static const struct bitset *bitset_of_bit(const struct bitset_index *bitset, size_t bit)
{
	static const struct bitset empty;
	return bit < bitset->bit_count ? &bitset->bits[bit] : &empty;
}

static void page_all_set(const struct bitset_iterator *it, struct bitset_page *page)
{
	const struct bitset_index *bitset = bitset_of(it->base.index);
	bit_value_foreach(bit, &it->value)
		bitset_page_and(page, bitset_page(bitset_of_bit(bitset, bit), it->no));
}

/** Leaves out the rows that have another bit. */
static void page_no_other_set(const struct bitset_iterator *it, struct bitset_page *page)
{
	const struct bitset_index *bitset = bitset_of(it->base.index);
	for (size_t bit = 0; bit < bitset->bit_count && !bitset_page_is_empty(page); bit++) {
		const struct bitset *set = &bitset->bits[bit];
		if (set->size > 0 && !bit_value_has(&it->value, bit))
			bitset_page_and_not(page, bitset_page(set, it->no));
	}
}

static void page_any_set(const struct bitset_iterator *it, struct bitset_page *page)
{
	const struct bitset_index *bitset = bitset_of(it->base.index);
	memset(page, 0, sizeof(*page));
	bit_value_foreach(bit, &it->value)
		bitset_page_or(page, bitset_page(bitset_of_bit(bitset, bit), it->no));
}

static void page_none_set(const struct bitset_iterator *it, struct bitset_page *page)
{
	const struct bitset_index *bitset = bitset_of(it->base.index);
	bit_value_foreach(bit, &it->value)
		bitset_page_and_not(page, bitset_page(bitset_of_bit(bitset, bit), it->no));
}

/** Works out which rows of page `no` match. */
static void bitset_iterator_load(struct bitset_iterator *it)
{
	const struct bitset_index *bitset = bitset_of(it->base.index);
	const struct bitset_page *all = bitset_page(&bitset->all, it->no);
	it->version = bitset->version;
	it->has_page = true;
	if (all == NULL) {
		memset(&it->page, 0, sizeof(it->page));
		return;
	}
	it->page = *all;
	switch (it->type) {
	case ITER_EQ:
		page_all_set(it, &it->page);
		page_no_other_set(it, &it->page);
		break;
	case ITER_BITS_ALL_SET:
		page_all_set(it, &it->page);
		break;
	case ITER_BITS_ANY_SET:
		page_any_set(it, &it->page);
		break;
	case ITER_BITS_ALL_NOT_SET:
		page_none_set(it, &it->page);
		break;
	default:
		break;
	}
}

/** The first page from `no` on that may have rows; UINT32_MAX: there is none. */
static uint32_t bitset_iterator_next_page(const struct bitset_iterator *it, uint32_t no)
{
	const struct bitset_index *bitset = bitset_of(it->base.index);
	size_t first = bit_value_next(&it->value, 0);
	uint32_t found = UINT32_MAX;
	switch (it->type) {
	case ITER_BITS_ALL_SET:
	case ITER_EQ:
		if (first != BIT_NONE)
			return bitset_next_page(bitset_of_bit(bitset, first), no);
		/* All bits of none: the reference finds nothing. */
		return it->type == ITER_EQ ? bitset_next_page(&bitset->all, no) : UINT32_MAX;
	case ITER_BITS_ANY_SET:
		bit_value_foreach(bit, &it->value) {
			uint32_t next = bitset_next_page(bitset_of_bit(bitset, bit), no);
			found = next < found ? next : found;
		}
		return found;
	default:
		return bitset_next_page(&bitset->all, no);
	}
}

/** Leads to the next page with rows; false at the end. */
static bool bitset_iterator_move(struct bitset_iterator *it)
{
	if (it->no == UINT32_MAX)
		return false;
	uint32_t no = it->has_page ? it->no + 1 : it->no;
	it->no = bitset_iterator_next_page(it, no);
	it->next = it->no != UINT32_MAX ? 0 : BITSET_PAGE_BITS;
	if (it->no == UINT32_MAX)
		return false;
	bitset_iterator_load(it);
	return true;
}

static int bitset_iterator_next(struct iterator *base, struct tuple **tuple)
{
	struct bitset_iterator *it = (struct bitset_iterator *)base;
	struct bitset_index *bitset = bitset_of(base->index);
	*tuple = NULL;
	if (it->has_page && it->no != UINT32_MAX && it->version != bitset->version)
		bitset_iterator_load(it);
	while (!it->has_page ||
	       (it->next = bitset_page_next(&it->page, it->next)) == BITSET_PAGE_BITS) {
		if (!bitset_iterator_move(it))
			return 0;
	}
	*tuple = bitset->rows.rows[it->no * BITSET_PAGE_BITS + it->next].tuple;
	it->next++;
	return 0;
}

static void bitset_iterator_free(struct iterator *base)
{
	xfree(base);
}

static struct iterator *bitset_iterator(struct index *index, enum iterator_type type,
					const char *key, uint32_t part_count)
{
	if (type != ITER_EQ && type != ITER_ALL && type != ITER_BITS_ALL_SET &&
	    type != ITER_BITS_ANY_SET && type != ITER_BITS_ALL_NOT_SET) {
		index_unsupported(index, "requested iterator type");
		return NULL;
	}
	struct bit_value value = {.len = 0};
	if (part_count > 0)
		bit_value_decode(&value, key);
	struct bitset_iterator *it = xmalloc(offsetof(struct bitset_iterator, bytes) + value.len);
	*it = (struct bitset_iterator){.type = type};
	it->base = (struct iterator){
		.next = bitset_iterator_next,
		.free = bitset_iterator_free,
		.index = index,
		.space_id = index->def->space_id,
		.index_id = index->def->iid,
	};
	if (value.len > 0)
		memcpy(it->bytes, value.data, value.len);
	it->value.data = it->bytes;
	it->value.len = value.len;
	return &it->base;
}

static int64_t bitset_count(struct index *index, enum iterator_type type, const char *key,
			    uint32_t part_count)
{
	if (type == ITER_ALL)
		return bitset_of(index)->rows.count;
	struct iterator *it = bitset_iterator(index, type, key, part_count);
	if (it == NULL)
		return -1;
	int64_t count = 0;
	while (bitset_iterator_move((struct bitset_iterator *)it))
		count += bitset_page_count(&((struct bitset_iterator *)it)->page);
	it->free(it);
	return count;
}

/* The rest --------------------------------------------------------------------- */

static void bitset_index_destroy(struct index *index)
{
	struct bitset_index *bitset = bitset_of(index);
	for (size_t bit = 0; bit < bitset->bit_count; bit++)
		bitset_destroy(&bitset->bits[bit], &index_memory);
	bitset_destroy(&bitset->all, &index_memory);
	mem_free(&index_memory, bitset->bits, bitset->bit_capacity * sizeof(*bitset->bits));
	bitset_rows_destroy(&bitset->rows, &index_memory);
	xfree(bitset);
}

static size_t bitset_index_size(struct index *index)
{
	return bitset_of(index)->rows.count;
}

static size_t bitset_index_bsize(struct index *index)
{
	struct bitset_index *bitset = bitset_of(index);
	size_t size = bitset->bit_capacity * sizeof(*bitset->bits) +
		bitset_rows_bsize(&bitset->rows) + bitset_bsize(&bitset->all);
	for (size_t bit = 0; bit < bitset->bit_count; bit++)
		size += bitset_bsize(&bitset->bits[bit]);
	return size;
}

/** How many bits of the rows are in their sets, or -1 where one is not. */
static int64_t bitset_count_bits(const struct bitset_index *bitset)
{
	int64_t count = 0;
	for (uint32_t n = 0; n < bitset->rows.used; n++) {
		if (!bitset_has(&bitset->all, n))
			continue;
		struct bit_value value;
		struct tuple *tuple = bitset->rows.rows[n].tuple;
		if (bitset_rows_find(&bitset->rows, tuple) != n)
			return -1;
		bit_value_of_tuple(&value, &bitset->base, tuple);
		bit_value_foreach(bit, &value) {
			if (bit >= bitset->bit_count || !bitset_has(&bitset->bits[bit], n))
				return -1;
			count++;
		}
	}
	return count;
}

static bool bitset_index_check(struct index *index)
{
	const struct bitset_index *bitset = bitset_of(index);
	int64_t expected = 0;
	for (size_t bit = 0; bit < bitset->bit_count; bit++)
		expected += bitset->bits[bit].size;
	bool is_sound = bitset->all.size == bitset->rows.count &&
			bitset_count_bits(bitset) == expected;
	return index_is_sound(index, is_sound ? NULL : "its sets differ from its rows");
}

static const struct index_vtab bitset_index_vtab = {
	.destroy = bitset_index_destroy,
	.size = bitset_index_size,
	.bsize = bitset_index_bsize,
	.count = bitset_count,
	.replace = bitset_replace,
	.iterator = bitset_iterator,
	.check = bitset_index_check,
};

struct index *bitset_index_new(struct index_def *def)
{
	struct bitset_index *bitset = xcalloc(1, sizeof(*bitset));
	bitset->base.vtab = &bitset_index_vtab;
	bitset_rows_create(&bitset->rows);
	return &bitset->base;
}
