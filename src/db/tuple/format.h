/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Tuple formats: what the fields of a space's tuples are called, which types
 * they must have, and which of them a tuple keeps offsets of.
 *
 * A format is counted: by its space, and by each of its tuples.
 * Names live in dictionaries, interned by content and never freed while used by
 * anyone: a copy of a tuple in a script refers to one by number.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Field types; order and names are those of the reference. */
enum field_type {
	FIELD_TYPE_ANY = 0,
	FIELD_TYPE_UNSIGNED,
	FIELD_TYPE_STRING,
	FIELD_TYPE_NUMBER,
	FIELD_TYPE_DOUBLE,
	FIELD_TYPE_INTEGER,
	FIELD_TYPE_BOOLEAN,
	FIELD_TYPE_VARBINARY,
	FIELD_TYPE_SCALAR,
	FIELD_TYPE_DECIMAL,
	FIELD_TYPE_UUID,
	FIELD_TYPE_DATETIME,
	FIELD_TYPE_INTERVAL,
	FIELD_TYPE_ARRAY,
	FIELD_TYPE_MAP,
	field_type_MAX,
};

/** "unsigned", ... */
extern const char *field_type_names[field_type_MAX];

/**
 * By name ("num", "str", "int" and "*" are accepted as the reference does); field_type_MAX where
 * there is none.
 */
enum field_type field_type_by_name(const char *name, size_t len);

/** Is every value of type `inner` one of type `outer`, too? */
bool field_type_contains(enum field_type outer, enum field_type inner);

/** Does a MessagePack value fit a field of the type (and may it be nil)? */
bool field_type_accepts(enum field_type type, const char *value, bool is_nullable);

enum { COLL_NONE = UINT32_MAX };

/** One field of a space's `format`. */
struct field_def {
	/** Zero-terminated, not empty. */
	char *name;
	enum field_type type;
	bool is_nullable;
	uint32_t coll_id;
	/** What a nil does to a statement, where the format says that by name; else NULL. */
	const char *nullable_action;
};

/** An interned list of field names. */
struct tuple_dictionary {
	/** From 1; 0 is the empty dictionary. Never used again for other names. */
	uint32_t id;
	uint32_t name_count;
	char **names;
};

/** The dictionary of a list of names, made at need; lives for good. */
const struct tuple_dictionary *tuple_dictionary_intern(const struct field_def *fields,
						       uint32_t count);
/** The same where it is there already, else NULL; and how many there are. */
const struct tuple_dictionary *tuple_dictionary_known(const struct field_def *fields,
						      uint32_t count);
uint32_t tuple_dictionary_count(void);
/** NULL where there is none of that id. */
const struct tuple_dictionary *tuple_dictionary_by_id(uint32_t id);
/** The field number from 0 of a name, or -1. */
int tuple_dictionary_find(const struct tuple_dictionary *dict, const char *name, size_t len);

struct key_def;
struct key_part;
struct field_path;
struct mem_account;

/** What index parts with paths want of a place inside a field: a tree, one node a step. */
struct format_node {
	/** A path that leads here by its first `depth` steps. */
	const struct field_path *path;
	uint32_t depth;
	enum field_type type;
	/** May the value be nil or missing? For a part's own place only; never nil on the way. */
	bool is_nullable;
	bool is_key_part;
	/** Index in the field map, from 1; 0: no offset is kept (behind `[*]`, or on the way). */
	uint16_t slot;
	/** When it was made: of places that are missing, the one first made is told of. */
	uint32_t order;
	struct format_node *children, *next;
};

struct tuple_format {
	uint32_t refs;
	uint16_t id;
	/** Fields that are described: by the space's format or by an index. */
	uint32_t field_count;
	/** A tuple must have at least so many fields: the last one that is not nullable. */
	uint32_t min_field_count;
	/** A tuple must have exactly so many; 0: any number. */
	uint32_t exact_field_count;
	/** Bytes of the field map. */
	uint16_t field_map_size;
	bool is_temporary;
	/** Whose memory its tuples take: tuple_memory, unless its owner sets another. */
	struct mem_account *account;
	const struct tuple_dictionary *dict;
	struct tuple_format_field {
		enum field_type type;
		bool is_nullable;
		bool is_key_part;
		/** Index in the field map, from 1; 0: no offset is kept. */
		uint16_t slot;
		/** What paths lead to inside of it. The field may then be missing, but not nil. */
		struct format_node *nodes;
	} *fields;
	uint32_t node_count;
	/** Places inside fields of which a tuple keeps offsets. */
	uint32_t path_count;
	struct format_path_slot {
		uint32_t fieldno;
		uint16_t slot;
		const struct field_path *path;
	} *paths;
	bool has_nodes;
};

/**
 * A format for tuples that must suit these keys and field definitions. Field
 * definitions are copied. One reference, the caller's. NULL: OutOfMemory,
 * ER_TUPLE_FORMAT_LIMIT, ER_FORMAT_MISMATCH_INDEX_PART, ER_INDEX_PART_TYPE_MISMATCH.
 */
struct tuple_format *tuple_format_new(struct key_def *const *keys, uint32_t key_count,
				      const struct field_def *fields, uint32_t field_count,
				      uint32_t exact_field_count);

void tuple_format_ref(struct tuple_format *format);
void tuple_format_unref(struct tuple_format *format);

/** Does every tuple of `narrow` suit `wide`, too? False where that is not sure. */
bool tuple_format_is_wider(const struct tuple_format *wide, const struct tuple_format *narrow);

/** Checks a MessagePack array as tuple_new() does, without making a tuple. */
int tuple_format_validate(struct tuple_format *format, const char *data, const char *end);

/**
 * The same, and fills the field map: `format->field_map_size` bytes at `field_map`,
 * in it a uint32_t for each slot: the field's offset in the array, or 0 where
 * there is no such field.
 */
int tuple_format_map_fields(struct tuple_format *format, const char *data, uint32_t *field_map);

enum {
	FORMAT_ID_MAX = UINT16_MAX,
	/** Fields of a tuple; others than updates are bounded by the size of a tuple. */
	TUPLE_FIELD_COUNT_MAX = INT32_MAX,
};

/**
 * Formats by id; NULL where there is none. The table stays where it is: other threads find the
 * formats of tuples they are given in it.
 */
extern struct tuple_format *tuple_formats[FORMAT_ID_MAX + 1];

/** A field's number from 0 as messages tell it, from 1; in a buffer of the thread. */
const char *tuple_field_no_str(uint32_t fieldno);

/** The format of tuples that belong to no space: no fields, no names. */
extern struct tuple_format *tuple_format_default;
