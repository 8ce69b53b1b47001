/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Formats inside fields: what index parts with JSON paths want of a row. A container
 * on the way must be there as a map or an array where anything is; the place itself
 * has the narrowest type that any part asks for.
 */
#include <string.h>

#include "core/memory.h"
#include "data/mp.h"
#include "db/error.h"
#include "db/tuple/field_path.h"
#include "db/tuple/format_private.h"
#include "db/tuple/key_def.h"

/* Making -------------------------------------------------------------------- */

static int mismatch_error(uint32_t fieldno, const struct field_path *path, uint32_t depth,
			  enum field_type was, enum field_type now)
{
	char *text = field_path_print(fieldno, path, depth);
	client_error(ER_INDEX_PART_TYPE_MISMATCH, text, field_type_names[was],
		     field_type_names[now]);
	xfree(text);
	return -1;
}

/** Narrows a type to what both allow. */
static int narrow(enum field_type *type, enum field_type other, uint32_t fieldno,
		  const struct field_path *path, uint32_t depth)
{
	if (field_type_contains(*type, other))
		*type = other;
	else if (!field_type_contains(other, *type))
		return mismatch_error(fieldno, path, depth, *type, other);
	return 0;
}

static const struct json_token *node_step(const struct format_node *node)
{
	return &node->path->steps[node->depth - 1];
}

/** The child for the step at `depth` of a path, made at need. NULL: `[*]` beside an index. */
static struct format_node *node_child(struct tuple_format *format, struct format_node **children,
				      uint32_t fieldno, const struct field_path *path,
				      uint32_t depth)
{
	const struct json_token *step = &path->steps[depth];
	struct format_node **link = children;
	for (; *link != NULL; link = &(*link)->next) {
		const struct json_token *other = node_step(*link);
		if (json_token_equal(other, step))
			return *link;
		if (step->type != other->type) {
			char *text = field_path_print(fieldno, path, depth);
			client_error(ER_MULTIKEY_INDEX_MISMATCH, text);
			xfree(text);
			return NULL;
		}
	}
	struct format_node *node = xcalloc(1, sizeof(*node));
	node->path = path;
	node->depth = depth + 1;
	node->type = FIELD_TYPE_ANY;
	node->order = format->node_count++;
	return *link = node;
}

/** The container that has such steps. */
static enum field_type step_container(const struct json_token *step)
{
	return step->type == JSON_TOKEN_KEY ? FIELD_TYPE_MAP : FIELD_TYPE_ARRAY;
}

static int node_use_part(struct tuple_format *format, struct format_node *node,
			 const struct key_part *part)
{
	const struct field_path *path = part->path;
	if (narrow(&node->type, part->type, part->fieldno, path, path->step_count) != 0)
		return -1;
	node->is_nullable = part->is_nullable && (node->is_nullable || !node->is_key_part);
	if (node->is_key_part || path->any_step != PATH_NO_ANY) {
		node->is_key_part = true;
		return 0;
	}
	if (format_add_slot(format, &node->slot) != 0)
		return -1;
	node->is_key_part = true;
	uint32_t n = format->path_count++;
	format->paths = xrealloc(format->paths, (n + 1) * sizeof(*format->paths));
	format->paths[n] = (struct format_path_slot){part->fieldno, node->slot, path};
	return 0;
}

int format_use_path(struct tuple_format *format, const struct key_part *part)
{
	const struct field_path *path = part->path;
	struct tuple_format_field *field = &format->fields[part->fieldno];
	format->has_nodes = true;
	if (narrow(&field->type, step_container(&path->steps[0]), part->fieldno, path, 0) != 0)
		return -1;
	struct format_node **children = &field->nodes, *node = NULL;
	for (uint32_t depth = 0; depth < path->step_count; depth++) {
		node = node_child(format, children, part->fieldno, path, depth);
		if (node == NULL)
			return -1;
		if (depth + 1 < path->step_count &&
		    narrow(&node->type, step_container(&path->steps[depth + 1]), part->fieldno,
			   path, depth + 1) != 0)
			return -1;
		children = &node->children;
	}
	return node_use_part(format, node, part);
}

/* Frees a tree that is at most as deep as a path. */
void format_nodes_free(struct format_node *nodes)
{
	while (nodes != NULL) {
		struct format_node *next = nodes->next;
		format_nodes_free(nodes->children);
		xfree(nodes);
		nodes = next;
	}
}

/* Checking ------------------------------------------------------------------ */

struct node_check {
	uint32_t fieldno;
	const char *data;
	uint32_t *field_map;
	/** The value of a wrong type that comes first in the row, and its place. */
	const char *bad;
	const struct format_node *bad_node;
	/** Of the places that must be there and are not, the one that was made first. */
	const struct format_node *missing;
	uint32_t missing_fieldno;
};

static void check_nodes(struct node_check *c, const struct format_node *nodes, const char *value);

/** The place itself and what is below it; `value` is NULL where there is nothing. */
static void check_node(struct node_check *c, const struct format_node *node, const char *value)
{
	if (node->slot != 0)
		c->field_map[node->slot - 1] = value != NULL ? value - c->data : 0;
	if (value == NULL) {
		if (node->is_key_part && !node->is_nullable &&
		    (c->missing == NULL || node->order < c->missing->order)) {
			c->missing = node;
			c->missing_fieldno = c->fieldno;
		}
	} else if (!field_type_accepts(node->type, value, node->is_nullable)) {
		if (c->bad == NULL || value < c->bad) {
			c->bad = value;
			c->bad_node = node;
		}
		return;
	}
	check_nodes(c, node->children, value);
}

static void check_elements(struct node_check *c, const struct format_node *node, const char *array)
{
	if (array == NULL)
		return;
	for (uint32_t count = mp_decode_array(&array); count > 0; count--) {
		check_node(c, node, array);
		mp_next(&array);
	}
}

static void check_nodes(struct node_check *c, const struct format_node *nodes, const char *value)
{
	for (; nodes != NULL; nodes = nodes->next) {
		const struct json_token *step = node_step(nodes);
		if (step->type == JSON_TOKEN_ANY)
			check_elements(c, nodes, value);
		else
			check_node(c, nodes, value != NULL ? json_token_enter(step, value) : NULL);
	}
}

/** -1: ER_FIELD_TYPE. */
static int check_fields(struct node_check *c, const struct tuple_format *format, const char *pos,
			uint32_t field_count)
{
	uint32_t count = mp_decode_array(&pos);
	for (uint32_t i = 0; i < field_count; i++) {
		c->fieldno = i;
		check_nodes(c, format->fields[i].nodes, i < count ? pos : NULL);
		if (c->bad != NULL) {
			const struct format_node *node = c->bad_node;
			char *text = field_path_print(i, node->path, node->depth);
			client_error(ER_FIELD_TYPE, text, field_type_names[node->type]);
			xfree(text);
			return -1;
		}
		if (i < count)
			mp_next(&pos);
	}
	return 0;
}

int format_check_nodes(const struct tuple_format *format, const char *data, uint32_t field_count,
		       uint32_t *field_map)
{
	struct node_check c = {.data = data, .field_map = field_map};
	return check_fields(&c, format, data, field_count);
}

int format_map_nodes(const struct tuple_format *format, const char *data, uint32_t *field_map)
{
	struct node_check c = {.data = data, .field_map = field_map};
	if (check_fields(&c, format, data, format->field_count) != 0)
		return -1;
	if (c.missing == NULL)
		return 0;
	char *text = field_path_print(c.missing_fieldno, c.missing->path, c.missing->depth);
	client_error(ER_FIELD_MISSING, text);
	xfree(text);
	return -1;
}

/* Comparing ----------------------------------------------------------------- */

static bool nodes_are_wider(const struct format_node *wide, const struct format_node *narrow)
{
	for (; wide != NULL; wide = wide->next) {
		const struct format_node *from = narrow;
		while (from != NULL && !json_token_equal(node_step(wide), node_step(from)))
			from = from->next;
		if (from == NULL || !field_type_contains(wide->type, from->type) ||
		    (wide->is_key_part && !from->is_key_part) ||
		    (from->is_nullable && !wide->is_nullable) ||
		    !nodes_are_wider(wide->children, from->children))
			return false;
	}
	return true;
}

bool tuple_format_is_wider(const struct tuple_format *wide, const struct tuple_format *narrow)
{
	if (wide->exact_field_count != 0 && wide->exact_field_count != narrow->exact_field_count)
		return false;
	for (uint32_t i = 0; i < wide->field_count; i++) {
		static const struct tuple_format_field any = {.is_nullable = true};
		const struct tuple_format_field *to = &wide->fields[i];
		const struct tuple_format_field *from = i < narrow->field_count ?
			&narrow->fields[i] : &any;
		if (!field_type_contains(to->type, from->type) ||
		    (from->is_nullable && !to->is_nullable) ||
		    (from->nodes != NULL && to->nodes == NULL && !to->is_nullable) ||
		    !nodes_are_wider(to->nodes, from->nodes))
			return false;
	}
	return true;
}
