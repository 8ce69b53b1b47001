/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What errors are about, as fields: the values that their texts are made of, each under a
 * name. Which value is what, is in one table, so whoever raises an error need not care.
 */
#include "db/error_fields.h"

#include <stdio.h>
#include <string.h>

#include "core/memory.h"
#include "data/mp.h"
#include "db/error.h"

/**
 * Names of the values in the order of the code's format, separated by spaces; "-" is a value
 * that says nothing by itself.
 */
static const char *const names[box_error_code_MAX] = {
	[ER_TUPLE_FOUND] = "index space",
	[ER_TUPLE_NOT_FOUND] = "index space",
	[ER_UNSUPPORTED] = "object feature",
	[ER_CREATE_SPACE] = "space details",
	[ER_SPACE_EXISTS] = "space",
	[ER_DROP_SPACE] = "space details",
	[ER_ALTER_SPACE] = "space details",
	[ER_INDEX_TYPE] = "index space",
	[ER_MODIFY_INDEX] = "index space details",
	[ER_LAST_DROP] = "space",
	[ER_DROP_PRIMARY_KEY] = "space",
	[ER_KEY_PART_TYPE] = "part expected",
	[ER_EXACT_MATCH] = "expected actual",
	[ER_FIELD_TYPE] = "field expected",
	[ER_INDEX_PART_TYPE_MISMATCH] = "field type other_type",
	[ER_UPDATE_SPLICE] = "field details",
	[ER_UPDATE_ARG_TYPE] = "operation field expected",
	[ER_FORMAT_MISMATCH_INDEX_PART] = "field type other_type",
	[ER_UNKNOWN_UPDATE_OP] = "operation_number details",
	[ER_UPDATE_FIELD] = "field details",
	[ER_KEY_PART_COUNT] = "expected actual",
	[ER_NO_SUCH_PROC] = "function",
	[ER_NO_SUCH_TRIGGER] = "trigger",
	[ER_NO_SUCH_INDEX_ID] = "index_id space",
	[ER_NO_SUCH_SPACE] = "space",
	[ER_NO_SUCH_FIELD_NO] = "field",
	[ER_EXACT_FIELD_COUNT] = "actual expected",
	[ER_FIELD_MISSING] = "field",
	[ER_ACCESS_DENIED] = "access_type object_type object_name user",
	[ER_CREATE_USER] = "user details",
	[ER_DROP_USER] = "user details",
	[ER_NO_SUCH_USER] = "user",
	[ER_USER_EXISTS] = "user",
	[ER_PASSWORD_MISMATCH] = "user",
	[ER_UNKNOWN_SCHEMA_OBJECT] = "object_type",
	[ER_CREATE_FUNCTION] = "function details",
	[ER_NO_SUCH_FUNCTION] = "function",
	[ER_FUNCTION_EXISTS] = "function",
	[ER_NO_SUCH_ENGINE] = "engine",
	[ER_CFG] = "option details",
	[ER_RELOAD_CFG] = "option",
	[ER_MISSING_REQUEST_FIELD] = "request_field",
	[ER_IDENTIFIER] = "identifier",
	[ER_DROP_FUNCTION] = "- details",
	[ER_ITERATOR_TYPE] = "iterator",
	[ER_NO_SUCH_ROLE] = "role",
	[ER_ROLE_EXISTS] = "role",
	[ER_CREATE_ROLE] = "role details",
	[ER_INDEX_EXISTS] = "index",
	[ER_ROLE_LOOP] = "role other_role",
	[ER_PRIV_GRANTED] = "user privilege object_type -",
	[ER_ROLE_GRANTED] = "user role",
	[ER_PRIV_NOT_GRANTED] = "user privilege object_type object_name",
	[ER_ROLE_NOT_GRANTED] = "user role",
	[ER_CANT_UPDATE_PRIMARY_KEY] = "index space",
	[ER_UPDATE_INTEGER_OVERFLOW] = "operation field",
	[ER_UNSUPPORTED_PRIV] = "object_type privilege",
	[ER_LOAD_FUNCTION] = "function details",
	[ER_FUNCTION_LANGUAGE] = "language function",
	[ER_WRONG_INDEX_OPTIONS] = "- details",
	[ER_WRONG_SCHEMA_VERSION] = "actual expected",
	[ER_MEMTX_MAX_TUPLE_SIZE] = "size",
	[ER_WRONG_SPACE_OPTIONS] = "- details",
	[ER_UNSUPPORTED_INDEX_FEATURE] = "index index_type space engine feature",
	[ER_VIEW_IS_RO] = "space",
	[ER_PARTIAL_KEY] = "index_type expected actual",
	[ER_TRUNCATE_SYSTEM_SPACE] = "space",
	[ER_LOAD_MODULE] = "module details",
	[ER_CREATE_SEQUENCE] = "sequence details",
	[ER_ALTER_SEQUENCE] = "sequence details",
	[ER_DROP_SEQUENCE] = "sequence details",
	[ER_NO_SUCH_SEQUENCE] = "sequence",
	[ER_SEQUENCE_EXISTS] = "sequence",
	[ER_SEQUENCE_OVERFLOW] = "sequence",
	[ER_SEQUENCE_NOT_STARTED] = "sequence",
	[ER_NO_SUCH_INDEX_NAME] = "index space",
	[ER_SPACE_FIELD_IS_DUPLICATE] = "field",
	[ER_NULLABLE_PRIMARY] = "space",
	[ER_NO_SUCH_FIELD_NAME_IN_SPACE] = "field space",
	[ER_UPDATE_DECIMAL_OVERFLOW] = "operation field",
	[ER_ACTION_MISMATCH] = "field",
	[ER_NO_SUCH_MODULE] = "module",
	[ER_NO_SUCH_COLLATION] = "collation",
	[ER_DROP_COLLATION] = "collation details",
	[ER_INDEX_EXISTS_IN_SPACE] = "index space",
	[ER_MULTIKEY_INDEX_MISMATCH] = "field",
	[ER_FUNC_INDEX_FUNC] = "index space details",
	[ER_FUNC_INDEX_FORMAT] = "index space details",
	[ER_NO_SUCH_FIELD_NAME] = "field",
	[ER_SQL_FUNC_WRONG_RET_COUNT] = "function actual",
	[ER_SESSION_SETTING_INVALID_VALUE] = "setting expected",
	[ER_NO_SUCH_SESSION_SETTING] = "setting",
	[ER_CREATE_CONSTRAINT] = "constraint space details",
	[ER_FIELD_CONSTRAINT_FAILED] = "constraint field",
	[ER_TUPLE_CONSTRAINT_FAILED] = "constraint",
	[ER_CREATE_FOREIGN_KEY] = "constraint space details",
	[ER_FOREIGN_KEY_INTEGRITY] = "constraint details",
	[ER_FIELD_FOREIGN_KEY_FAILED] = "constraint field details",
	[ER_COMPLEX_FOREIGN_KEY_FAILED] = "constraint details",
	[ER_DEFAULT_VALUE_TYPE] = "field expected actual",
};

enum {
	/** Longer texts are cut. */
	TEXT_MAX = 512,
	/** Of a row, or key, that goes with an error; a larger one is left out. */
	ROW_MAX = 16 * 1024,
};

void error_set_string(struct error *e, const char *name, const char *value)
{
	char buf[TEXT_MAX + 5];
	size_t len = strlen(value);
	char *end = mp_encode_str(buf, value, len < TEXT_MAX ? len : TEXT_MAX);
	error_set_field(e, name, buf, end - buf);
}

static void set_uint(struct error *e, const char *name, unsigned value)
{
	char buf[16];
	char *end = mp_encode_uint(buf, value);
	error_set_field(e, name, buf, end - buf);
}

static void set_value(struct error *e, const char *name, char conversion, va_list *ap)
{
	if (conversion == 's') {
		const char *text = va_arg(*ap, const char *);
		if (name != NULL && text != NULL)
			error_set_string(e, name, text);
	} else if (conversion == 'c') {
		char text[2] = {va_arg(*ap, int), '\0'};
		if (name != NULL)
			error_set_string(e, name, text);
	} else {
		unsigned value = va_arg(*ap, unsigned);
		if (name != NULL)
			set_uint(e, name, value);
	}
}

bool error_argument_name(unsigned code, int no, char *name)
{
	const char *word = code < box_error_code_MAX ? names[code] : NULL;
	while (word != NULL && no-- > 0) {
		word = strchr(word, ' ');
		word = word != NULL ? word + 1 : NULL;
	}
	if (word == NULL || *word == '-')
		return false;
	snprintf(name, ERROR_ARGUMENT_NAME_SIZE, "%.*s", (int)strcspn(word, " "), word);
	return true;
}

void error_set_arguments(struct error *e, unsigned code, va_list ap)
{
	if (code >= box_error_code_MAX || names[code] == NULL)
		return;
	const char *format = error_code_format(code);
	va_list rest;
	va_copy(rest, ap);
	for (int i = 0; (format = strchr(format, '%')) != NULL; i++) {
		char name[ERROR_ARGUMENT_NAME_SIZE];
		set_value(e, error_argument_name(code, i, name) ? name : NULL, format[1], &rest);
		format += 2;
	}
	va_end(rest);
}

void error_set_row(struct error *e, const char *name, const char *data, size_t size)
{
	if (size <= ROW_MAX)
		error_set_field(e, name, data, size);
}

void error_print_fields(const struct error *e, char *out, size_t size)
{
	struct buf text = BUF_INIT;
	for (const struct error_field *f = e->fields; f != NULL; f = f->next) {
		buf_append(&text, text.size == 0 ? " {" : ", ", 2);
		buf_append(&text, f->data, strlen(f->data));
		buf_append(&text, ": ", 2);
		mp_print(&text, f->data + strlen(f->data) + 1);
	}
	if (text.size > 0)
		buf_append(&text, "}", 1);
	snprintf(out, size, "%.*s", (int)(text.size < size ? text.size : size - 1),
		 text.data != NULL ? text.data : "");
	buf_free(&text);
}
