/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The rows of a new database: the system spaces, their indexes, collations,
 * functions, users and privileges, as the reference's 2.6.0 has them. All of this
 * is data that clients see and match on; it was read from a new database.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/buf.h"
#include "data/mp.h"
#include "data/mp_buf.h"
#include "db/db_int.h"
#include "db/schema/bootstrap.h"
#include "db/schema/schema.h"

/**
 * The system spaces. Fields are "name:type", with a `?` where a field may be nil;
 * NULL: as in the space that the view shows.
 */
static const struct system_space {
	uint32_t id;
	const char *name, *engine, *fields;
} system_spaces[] = {
	{257, "_vinyl_deferred_delete", "blackhole",
	 "space_id:unsigned lsn:unsigned tuple:array"},
	{272, "_schema", "memtx",
	 "key:string value:any?"},
	{276, "_collation", "memtx",
	 "id:unsigned name:string owner:unsigned type:string locale:string opts:map"},
	{277, "_vcollation", "sysview", NULL},
	{280, "_space", "memtx",
	 "id:unsigned owner:unsigned name:string engine:string field_count:unsigned "
	 "flags:map format:array"},
	{281, "_vspace", "sysview", NULL},
	{284, "_sequence", "memtx",
	 "id:unsigned owner:unsigned name:string step:integer min:integer max:integer "
	 "start:integer cache:integer cycle:boolean"},
	{285, "_sequence_data", "memtx",
	 "id:unsigned value:integer"},
	{286, "_vsequence", "sysview", NULL},
	{288, "_index", "memtx",
	 "id:unsigned iid:unsigned name:string type:string opts:map parts:array"},
	{289, "_vindex", "sysview", NULL},
	{296, "_func", "memtx",
	 "id:unsigned owner:unsigned name:string setuid:unsigned language:string "
	 "body:string routine_type:string param_list:array returns:string "
	 "aggregate:string sql_data_access:string is_deterministic:boolean "
	 "is_sandboxed:boolean is_null_call:boolean exports:array opts:map "
	 "comment:string created:string last_altered:string"},
	{297, "_vfunc", "sysview",
	 "id:unsigned owner:unsigned name:string setuid:unsigned"},
	{304, "_user", "memtx",
	 "id:unsigned owner:unsigned name:string type:string auth:map"},
	{305, "_vuser", "sysview", NULL},
	{312, "_priv", "memtx",
	 "grantor:unsigned grantee:unsigned object_type:string object_id:scalar "
	 "privilege:unsigned"},
	{313, "_vpriv", "sysview", NULL},
	{320, "_cluster", "memtx",
	 "id:unsigned uuid:string"},
	{328, "_trigger", "memtx",
	 "name:string space_id:unsigned opts:map"},
	{330, "_truncate", "memtx",
	 "id:unsigned count:unsigned"},
	{340, "_space_sequence", "memtx",
	 "id:unsigned sequence_id:unsigned is_generated:boolean field:unsigned "
	 "path:string"},
	{356, "_fk_constraint", "memtx",
	 "name:string child_id:unsigned parent_id:unsigned is_deferred:boolean "
	 "match:string on_delete:string on_update:string child_cols:array "
	 "parent_cols:array"},
	{364, "_ck_constraint", "memtx",
	 "space_id:unsigned name:string is_deferred:boolean language:str code:str "
	 "is_enabled:boolean"},
	{372, "_func_index", "memtx",
	 "space_id:unsigned index_id:unsigned func_id:unsigned"},
	{380, "_session_settings", "service",
	 "name:string value:any"},
};

/** Their indexes. Parts are "field:type". Views have those of what they show. */
static const struct system_index {
	uint32_t space_id, iid;
	const char *name, *type;
	bool is_unique;
	const char *parts;
} system_indexes[] = {
	{272, 0, "primary", "tree", true, "0:string"},
	{276, 0, "primary", "tree", true, "0:unsigned"},
	{276, 1, "name", "tree", true, "1:string"},
	{280, 0, "primary", "tree", true, "0:unsigned"},
	{280, 1, "owner", "tree", false, "1:unsigned"},
	{280, 2, "name", "tree", true, "2:string"},
	{284, 0, "primary", "tree", true, "0:unsigned"},
	{284, 1, "owner", "tree", false, "1:unsigned"},
	{284, 2, "name", "tree", true, "2:string"},
	{285, 0, "primary", "hash", true, "0:unsigned"},
	{288, 0, "primary", "tree", true, "0:unsigned 1:unsigned"},
	{288, 2, "name", "tree", true, "0:unsigned 2:string"},
	{296, 0, "primary", "tree", true, "0:unsigned"},
	{296, 1, "owner", "tree", false, "1:unsigned"},
	{296, 2, "name", "tree", true, "2:string"},
	{304, 0, "primary", "tree", true, "0:unsigned"},
	{304, 1, "owner", "tree", false, "1:unsigned"},
	{304, 2, "name", "tree", true, "2:string"},
	{312, 0, "primary", "tree", true, "1:unsigned 2:string 3:scalar"},
	{312, 1, "owner", "tree", false, "0:unsigned"},
	{312, 2, "object", "tree", false, "2:string 3:scalar"},
	{320, 0, "primary", "tree", true, "0:unsigned"},
	{320, 1, "uuid", "tree", true, "1:string"},
	{328, 0, "primary", "tree", true, "0:string"},
	{328, 1, "space_id", "tree", false, "1:unsigned"},
	{330, 0, "primary", "tree", true, "0:unsigned"},
	{340, 0, "primary", "tree", true, "0:unsigned"},
	{340, 1, "sequence", "tree", false, "1:unsigned"},
	{356, 0, "primary", "tree", true, "0:string 1:unsigned"},
	{356, 1, "child_id", "tree", false, "1:unsigned"},
	{364, 0, "primary", "tree", true, "0:unsigned 1:string"},
	{372, 0, "primary", "tree", true, "0:unsigned 1:unsigned"},
	{372, 1, "fid", "tree", false, "2:unsigned"},
	{380, 0, "primary", "tree", true, "0:string"},
};

/** Which space a view shows, or the space itself. */
uint32_t system_view_base(uint32_t id)
{
	static const uint32_t views[][2] = {
		{SPACE_VCOLLATION, SPACE_COLLATION}, {SPACE_VSPACE, SPACE_SPACE},
		{SPACE_VSEQUENCE, SPACE_SEQUENCE}, {SPACE_VINDEX, SPACE_INDEX},
		{SPACE_VFUNC, SPACE_FUNC}, {SPACE_VUSER, SPACE_USER}, {SPACE_VPRIV, SPACE_PRIV},
	};
	for (size_t i = 0; i < sizeof(views) / sizeof(views[0]); i++) {
		if (views[i][0] == id)
			return views[i][1];
	}
	return id;
}

/** SQL's own functions, from id 2 on. Id 65 between them is LUA. */
static const char *const sql_functions[] = {
	"TRIM", "TYPEOF", "PRINTF", "UNICODE", "CHAR", "HEX", "VERSION", "QUOTE",
	"REPLACE", "SUBSTR", "GROUP_CONCAT", "JULIANDAY", "DATE", "TIME", "DATETIME",
	"STRFTIME", "CURRENT_TIME", "CURRENT_TIMESTAMP", "CURRENT_DATE", "LENGTH",
	"POSITION", "ROUND", "UPPER", "LOWER", "IFNULL", "RANDOM", "CEIL", "CEILING",
	"CHARACTER_LENGTH", "CHAR_LENGTH", "FLOOR", "MOD", "OCTET_LENGTH", "ROW_COUNT",
	"COUNT", "LIKE", "ABS", "EXP", "LN", "POWER", "SQRT", "SUM", "TOTAL", "AVG",
	"RANDOMBLOB", "NULLIF", "ZEROBLOB", "MIN", "MAX", "COALESCE", "EVERY", "EXISTS",
	"EXTRACT", "SOME", "GREATER", "LESSER", "SOUNDEX", "LIKELIHOOD", "LIKELY",
	"UNLIKELY", "_sql_stat_get", "_sql_stat_push", "_sql_stat_init", "GREATEST",
	"LEAST",
};

/**
 * Languages with collations of their own, three for each, from id 4 on; the
 * locale where it is not the language's name.
 */
static const struct { const char *name, *locale; } collations[] = {
	{"af", NULL}, {"am", NULL}, {"ar", NULL}, {"as", NULL}, {"az", NULL}, {"be", NULL},
	{"bn", NULL}, {"bs", NULL}, {"bs_Cyrl", NULL}, {"ca", NULL}, {"cs", NULL},
	{"cy", NULL}, {"da", NULL}, {"de__phonebook", "de_DE_u_co_phonebk"},
	{"de_AT_phonebook", "de_AT_u_co_phonebk"}, {"dsb", NULL}, {"ee", NULL}, {"eo", NULL},
	{"es", NULL}, {"es__traditional", "es_u_co_trad"}, {"et", NULL}, {"fa", NULL},
	{"fi", NULL}, {"fi__phonebook", "fi_u_co_phonebk"}, {"fil", NULL}, {"fo", NULL},
	{"fr_CA", NULL}, {"gu", NULL}, {"ha", NULL}, {"haw", NULL}, {"he", NULL},
	{"hi", NULL}, {"hr", NULL}, {"hu", NULL}, {"hy", NULL}, {"ig", NULL}, {"is", NULL},
	{"ja", NULL}, {"kk", NULL}, {"kl", NULL}, {"kn", NULL}, {"ko", NULL}, {"kok", NULL},
	{"ky", NULL}, {"lkt", NULL}, {"ln", NULL}, {"lt", NULL}, {"lv", NULL}, {"mk", NULL},
	{"ml", NULL}, {"mr", NULL}, {"mt", NULL}, {"nb", NULL}, {"nn", NULL}, {"nso", NULL},
	{"om", NULL}, {"or", NULL}, {"pa", NULL}, {"pl", NULL}, {"ro", NULL}, {"sa", NULL},
	{"se", NULL}, {"si", NULL}, {"si__dictionary", "si_u_co_dict"}, {"sk", NULL},
	{"sl", NULL}, {"sq", NULL}, {"sr", NULL}, {"sr_Latn", NULL}, {"sv", NULL},
	{"sv__reformed", "sv_u_co_reformed"}, {"ta", NULL}, {"te", NULL}, {"th", NULL},
	{"tn", NULL}, {"to", NULL}, {"tr", NULL}, {"ug_Cyrl", "ug"}, {"uk", NULL},
	{"ur", NULL}, {"vi", NULL}, {"vo", NULL}, {"wae", NULL}, {"wo", NULL}, {"yo", NULL},
	{"zh", NULL}, {"zh__big5han", "zh_u_co_big5han"},
	{"zh__gb2312han", "zh_u_co_gb2312"}, {"zh__pinyin", "zh_u_co_pinyin"},
	{"zh__stroke", "zh_u_co_stroke"}, {"zh__zhuyin", "zh_u_co_zhuyin"},
};

enum {
	FUNC_ID_USER_INFO = 1, FUNC_ID_LUA = 65, FUNC_ID_LAST = 67,
	COLLATION_ID_LANGUAGES = 4,
};

/* Encoding ---------------------------------------------------------------------- */

static void put_pair(struct buf *b, const char *key, const char *value)
{
	mp_put_str(b, key);
	mp_put_str(b, value);
}

/** Inserts the row in `b` and empties it. */
static int insert(uint32_t space_id, struct buf *b)
{
	static const struct xrow_header recovered = {.type = IPROTO_INSERT};
	struct request request = {
		.type = IPROTO_INSERT,
		.space_id = space_id,
		.tuple = b->data,
		.tuple_end = b->data + b->size,
		.header = &recovered,
	};
	int rc = db_process_unchecked(&request, NULL);
	buf_truncate(b, 0);
	return rc;
}

static uint32_t count_words(const char *text)
{
	uint32_t count = 1;
	while ((text = strchr(text, ' ')) != NULL) {
		text++;
		count++;
	}
	return count;
}

/* Spaces ------------------------------------------------------------------------- */

static void put_field(struct buf *b, const char *word, size_t len, bool has_type_first)
{
	const char *colon = memchr(word, ':', len);
	bool is_nullable = word[len - 1] == '?';
	size_t name_len = colon - word, type_len = len - name_len - 1 - is_nullable;
	mp_put_map(b, is_nullable ? 3 : 2);
	for (int i = 0; i < 2; i++) {
		bool is_type = (i == 0) == has_type_first;
		mp_put_str(b, is_type ? "type" : "name");
		if (is_type)
			mp_put_strn(b, colon + 1, type_len);
		else
			mp_put_strn(b, word, name_len);
	}
	if (is_nullable) {
		mp_put_str(b, "is_nullable");
		mp_put_bool(b, true);
	}
}

static void put_fields(struct buf *b, const char *fields, bool has_type_first)
{
	mp_put_array(b, count_words(fields));
	for (const char *word = fields; *word != '\0';) {
		size_t len = strcspn(word, " ");
		put_field(b, word, len, has_type_first);
		word += len + (word[len] == ' ');
	}
}

static const struct system_space *system_space_find(uint32_t id)
{
	const struct system_space *s = system_spaces;
	while (s->id != id)
		s++;
	return s;
}

static void put_space(struct buf *b, const struct system_space *s)
{
	mp_put_array(b, 7);
	mp_put_uint(b, s->id);
	mp_put_uint(b, USER_ADMIN);
	mp_put_str(b, s->name);
	mp_put_str(b, s->engine);
	mp_put_uint(b, s->id == SPACE_SESSION_SETTINGS ? 2 : 0);
	if (s->id == SPACE_VINYL_DEFERRED_DELETE) {
		mp_put_map(b, 1);
		mp_put_str(b, "group_id");
		mp_put_uint(b, 1);
	} else if (s->id == SPACE_SESSION_SETTINGS) {
		mp_put_map(b, 1);
		mp_put_str(b, "temporary");
		mp_put_bool(b, true);
	} else {
		mp_put_map(b, 0);
	}
	put_fields(b, s->fields != NULL ? s->fields :
		   system_space_find(system_view_base(s->id))->fields, s->id == SPACE_SCHEMA);
}

static void put_index(struct buf *b, uint32_t space_id, const struct system_index *i)
{
	mp_put_array(b, 6);
	mp_put_uint(b, space_id);
	mp_put_uint(b, i->iid);
	mp_put_str(b, i->name);
	mp_put_str(b, i->type);
	mp_put_map(b, 1);
	mp_put_str(b, "unique");
	mp_put_bool(b, i->is_unique);
	mp_put_array(b, count_words(i->parts));
	for (const char *word = i->parts; *word != '\0';) {
		size_t len = strcspn(word, " ");
		const char *colon = memchr(word, ':', len);
		mp_put_array(b, 2);
		mp_put_uint(b, strtoul(word, NULL, 10));
		mp_put_strn(b, colon + 1, word + len - colon - 1);
		word += len + (word[len] == ' ');
	}
}

static const size_t system_space_count = sizeof(system_spaces) / sizeof(system_spaces[0]);
static const size_t system_index_count = sizeof(system_indexes) / sizeof(system_indexes[0]);

static int insert_spaces(struct buf *b)
{
	for (size_t i = 0; i < system_space_count; i++) {
		put_space(b, &system_spaces[i]);
		if (insert(SPACE_SPACE, b) != 0)
			return -1;
	}
	return 0;
}

static int insert_indexes(struct buf *b)
{
	for (size_t s = 0; s < system_space_count; s++) {
		uint32_t base = system_view_base(system_spaces[s].id);
		for (size_t i = 0; i < system_index_count; i++) {
			if (system_indexes[i].space_id != base)
				continue;
			put_index(b, system_spaces[s].id, &system_indexes[i]);
			if (insert(SPACE_INDEX, b) != 0)
				return -1;
		}
	}
	return 0;
}

/* The spaces that it takes to read the first rows ---------------------------------- */

int bootstrap_first_spaces(void)
{
	/*
	 * A snapshot's rows come in the order of space ids: these are before the rows
	 * of _space or _index that would create them.
	 */
	static const uint32_t ids[] = {
		SPACE_SCHEMA, SPACE_COLLATION, SPACE_SPACE, SPACE_SEQUENCE, SPACE_SEQUENCE_DATA,
		SPACE_INDEX,
	};
	struct buf b = BUF_INIT;
	int rc = 0;
	for (size_t n = 0; n < sizeof(ids) / sizeof(ids[0]) && rc == 0; n++) {
		const struct system_index *i = system_indexes;
		while (i->space_id != ids[n])
			i++;
		put_space(&b, system_space_find(ids[n]));
		size_t index_at = b.size;
		put_index(&b, ids[n], i);
		rc = schema_add_first_space(b.data, b.data + index_at, b.data + b.size);
		buf_truncate(&b, 0);
	}
	buf_free(&b);
	return rc;
}

/* Other rows ------------------------------------------------------------------------ */

static int insert_schema(struct buf *b)
{
	mp_put_array(b, 2);
	mp_put_str(b, "max_id");
	mp_put_uint(b, SYSTEM_ID_MAX);
	if (insert(SPACE_SCHEMA, b) != 0)
		return -1;
	mp_put_array(b, 4);
	mp_put_str(b, "version");
	mp_put_uint(b, 2);
	mp_put_uint(b, 3);
	mp_put_uint(b, 1);
	return insert(SPACE_SCHEMA, b);
}

static int insert_collation(struct buf *b, uint32_t id, const char *name, const char *locale,
			    const char *strength)
{
	mp_put_array(b, 6);
	mp_put_uint(b, id);
	mp_put_str(b, name);
	mp_put_uint(b, USER_ADMIN);
	mp_put_str(b, strength != NULL ? "ICU" : "BINARY");
	mp_put_str(b, locale);
	mp_put_map(b, strength != NULL);
	if (strength != NULL)
		put_pair(b, "strength", strength);
	return insert(SPACE_COLLATION, b);
}

static int insert_collations(struct buf *b)
{
	static const char *const strengths[] = {"primary", "secondary", "tertiary"};
	if (insert_collation(b, 0, "none", "", NULL) != 0 ||
	    insert_collation(b, 1, "unicode", "", "tertiary") != 0 ||
	    insert_collation(b, 2, "unicode_ci", "", "primary") != 0 ||
	    insert_collation(b, 3, "binary", "", NULL) != 0)
		return -1;
	uint32_t id = COLLATION_ID_LANGUAGES;
	for (size_t i = 0; i < sizeof(collations) / sizeof(collations[0]); i++) {
		const char *locale = collations[i].locale != NULL ? collations[i].locale :
			collations[i].name;
		for (int s = 0; s < 3; s++) {
			char name[64];
			snprintf(name, sizeof(name), "unicode_%s_s%d", collations[i].name, s + 1);
			if (insert_collation(b, id++, name, locale, strengths[s]) != 0)
				return -1;
		}
	}
	return 0;
}

static int insert_function(struct buf *b, uint32_t id, const char *name, const char *language,
			   const char *body, bool is_lua, bool is_sql)
{
	static const char created[] = "2019-12-29 17:52:51";
	mp_put_array(b, 19);
	mp_put_uint(b, id);
	mp_put_uint(b, USER_ADMIN);
	mp_put_str(b, name);
	mp_put_uint(b, 1);
	mp_put_str(b, language);
	mp_put_str(b, body);
	mp_put_str(b, "function");
	mp_put_array(b, is_sql);
	if (is_sql)
		mp_put_str(b, "string");
	mp_put_str(b, "any");
	mp_put_str(b, "none");
	mp_put_str(b, "none");
	mp_put_bool(b, false);
	mp_put_bool(b, false);
	mp_put_bool(b, true);
	mp_put_array(b, is_lua + is_sql);
	if (is_lua)
		mp_put_str(b, "LUA");
	if (is_sql)
		mp_put_str(b, "SQL");
	mp_put_map(b, 0);
	mp_put_str(b, "");
	mp_put_str(b, created);
	mp_put_str(b, created);
	return insert(SPACE_FUNC, b);
}

static int insert_functions(struct buf *b)
{
	if (insert_function(b, FUNC_ID_USER_INFO, "box.schema.user.info", "LUA", "", true,
			    false) != 0)
		return -1;
	uint32_t id = FUNC_ID_USER_INFO + 1;
	for (size_t i = 0; i < sizeof(sql_functions) / sizeof(sql_functions[0]); i++, id++) {
		if (id == FUNC_ID_LUA &&
		    insert_function(b, id++, "LUA", "LUA",
				    "function(code) return assert(loadstring(code))() end", true,
				    true) != 0)
			return -1;
		if (insert_function(b, id, sql_functions[i], "SQL_BUILTIN", "", false, false) != 0)
			return -1;
	}
	assert(id == FUNC_ID_LAST + 1);
	return 0;
}

static int insert_user(struct buf *b, uint32_t id, const char *name, const char *type)
{
	mp_put_array(b, 5);
	mp_put_uint(b, id);
	mp_put_uint(b, USER_ADMIN);
	mp_put_str(b, name);
	mp_put_str(b, type);
	mp_put_map(b, id == USER_GUEST);
	if (id == USER_GUEST) {
		char hash[HASH_TEXT_SIZE];
		password_hash("", 0, hash);
		put_pair(b, "chap-sha1", hash);
	}
	return insert(SPACE_USER, b);
}

static int insert_users(struct buf *b)
{
	return insert_user(b, USER_GUEST, "guest", "user") != 0 ||
		insert_user(b, USER_ADMIN, "admin", "user") != 0 ||
		insert_user(b, ROLE_PUBLIC, "public", "role") != 0 ||
		insert_user(b, ROLE_REPLICATION, "replication", "role") != 0 ||
		insert_user(b, ROLE_SUPER, "super", "role") != 0 ? -1 : 0;
}

static int insert_priv(struct buf *b, uint32_t grantee, const char *type, uint32_t id,
		       uint32_t privileges)
{
	mp_put_array(b, 5);
	mp_put_uint(b, USER_ADMIN);
	mp_put_uint(b, grantee);
	mp_put_str(b, type);
	mp_put_uint(b, id);
	mp_put_uint(b, privileges);
	return insert(SPACE_PRIV, b);
}

static int insert_privs(struct buf *b)
{
	static const uint32_t views[] = {
		SPACE_VCOLLATION, SPACE_VSPACE, SPACE_VSEQUENCE, SPACE_VINDEX, SPACE_VFUNC,
		SPACE_VUSER, SPACE_VPRIV,
	};
	int rc = insert_priv(b, USER_GUEST, "role", ROLE_PUBLIC, PRIV_EXECUTE);
	rc = rc ? rc : insert_priv(b, USER_GUEST, "universe", 0, PRIV_SESSION | PRIV_USAGE);
	rc = rc ? rc : insert_priv(b, USER_ADMIN, "universe", 0, PRIV_ALL);
	for (uint32_t id = FUNC_ID_USER_INFO; id <= FUNC_ID_LAST && rc == 0; id++)
		rc = insert_priv(b, ROLE_PUBLIC, "function", id, PRIV_EXECUTE);
	rc = rc ? rc : insert_priv(b, ROLE_PUBLIC, "space", SPACE_COLLATION, PRIV_WRITE);
	for (size_t i = 0; i < sizeof(views) / sizeof(views[0]) && rc == 0; i++)
		rc = insert_priv(b, ROLE_PUBLIC, "space", views[i], PRIV_READ);
	rc = rc ? rc : insert_priv(b, ROLE_PUBLIC, "space", SPACE_TRUNCATE, PRIV_WRITE);
	rc = rc ? rc : insert_priv(b, ROLE_REPLICATION, "space", SPACE_CLUSTER, PRIV_WRITE);
	rc = rc ? rc : insert_priv(b, ROLE_REPLICATION, "universe", 0, PRIV_READ);
	return rc ? rc : insert_priv(b, ROLE_SUPER, "universe", 0, PRIV_ALL);
}

int schema_bootstrap(void)
{
	struct buf b = BUF_INIT;
	int rc = insert_schema(&b) != 0 || insert_collations(&b) != 0 || insert_spaces(&b) != 0 ||
		insert_indexes(&b) != 0 || insert_functions(&b) != 0 || insert_users(&b) != 0 ||
		insert_privs(&b) != 0 ? -1 : 0;
	buf_free(&b);
	return rc;
}
