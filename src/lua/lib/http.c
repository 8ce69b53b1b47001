/* SPDX-License-Identifier: BSD-2-Clause
 *
 * HTTP transfers for http.lua, which makes requests of options and answers of heads.
 * Only wait() and wait_change() yield.
 */
#include <string.h>

#include "lua/bridge.h"
#include "lua/lib/http_transfer.h"
#include "lua/modules.h"

static struct lua_class client_class = {.name = "http.client"};
static struct lua_class transfer_class = {.name = "http.transfer"};

static struct http_client *check_client(lua_State *L, int idx)
{
	return *(struct http_client **)lua_class_check(L, idx, &client_class);
}

static struct http_transfer *check_transfer(lua_State *L, int idx)
{
	struct http_transfer **object = lua_class_check(L, idx, &transfer_class);
	struct http_transfer *t = *object;
	if (t == NULL)
		luaL_error(L, "http.client: the request is closed");
	return t;
}

/** (connections kept, connections at once) -> client, or nil where there is no memory */
static int http_client(lua_State *L)
{
	long connections = luaL_checkinteger(L, 1);
	long total = luaL_checkinteger(L, 2);
	struct http_client **p = lua_newuserdata(L, sizeof(*p));
	*p = NULL;
	lua_class_set(L, &client_class);
	*p = http_client_new(connections, total);
	return *p != NULL ? 1 : 0;
}

static int http_client_gc(lua_State *L)
{
	struct http_client **p = lua_class_check(L, 1, &client_class);
	if (*p != NULL)
		http_client_unref(*p);
	*p = NULL;
	return 0;
}

/** (client) -> counters by name */
static int http_stat(lua_State *L)
{
	const struct http_stat *stat = &check_client(L, 1)->stat;
	const struct { const char *name; uint64_t value; } counters[] = {
		{"active_requests", stat->active_requests},
		{"total_requests", stat->total_requests},
		{"failed_requests", stat->failed_requests},
		{"http_200_responses", stat->http_200_responses},
		{"http_other_responses", stat->http_other_responses},
		{"sockets_added", stat->sockets_added},
		{"sockets_deleted", stat->sockets_deleted},
	};
	lua_newtable(L);
	for (size_t i = 0; i < sizeof(counters) / sizeof(counters[0]); i++) {
		lua_pushnumber(L, counters[i].value);
		lua_setfield(L, -2, counters[i].name);
	}
	return 1;
}

/** (client, url) -> transfer, or nil where there is no memory */
static int http_transfer(lua_State *L)
{
	struct http_client *client = check_client(L, 1);
	const char *url = luaL_checkstring(L, 2);
	struct http_transfer **p = lua_newuserdata(L, sizeof(*p));
	*p = NULL;
	lua_class_set(L, &transfer_class);
	*p = http_transfer_new(client, url);
	return *p != NULL ? 1 : 0;
}

/** (transfer): frees it, and ends it where it runs. */
static int http_close(lua_State *L)
{
	struct http_transfer **p = lua_class_check(L, 1, &transfer_class);
	struct http_transfer *t = *p;
	*p = NULL;
	if (t != NULL)
		http_transfer_delete(t);
	return 0;
}

/** Options by http.lua's names, as curl has them. */
static const struct { const char *name; CURLoption option; bool is_text; } options[] = {
	{"ca_file", CURLOPT_CAINFO, true},
	{"ca_path", CURLOPT_CAPATH, true},
	{"ssl_cert", CURLOPT_SSLCERT, true},
	{"ssl_key", CURLOPT_SSLKEY, true},
	{"unix_socket", CURLOPT_UNIX_SOCKET_PATH, true},
	{"proxy", CURLOPT_PROXY, true},
	{"proxy_user_pwd", CURLOPT_PROXYUSERPWD, true},
	{"no_proxy", CURLOPT_NOPROXY, true},
	{"interface", CURLOPT_INTERFACE, true},
	{"accept_encoding", CURLOPT_ACCEPT_ENCODING, true},
	{"method", CURLOPT_CUSTOMREQUEST, true},
	{"proxy_port", CURLOPT_PROXYPORT, false},
	{"verify_host", CURLOPT_SSL_VERIFYHOST, false},
	{"verify_peer", CURLOPT_SSL_VERIFYPEER, false},
	{"verbose", CURLOPT_VERBOSE, false},
	{"low_speed_time", CURLOPT_LOW_SPEED_TIME, false},
	{"low_speed_limit", CURLOPT_LOW_SPEED_LIMIT, false},
	{"keepalive", CURLOPT_TCP_KEEPALIVE, false},
	{"keepalive_idle", CURLOPT_TCP_KEEPIDLE, false},
	{"keepalive_interval", CURLOPT_TCP_KEEPINTVL, false},
	{"follow_location", CURLOPT_FOLLOWLOCATION, false},
	{"timeout_ms", CURLOPT_TIMEOUT_MS, false},
	{"fresh", CURLOPT_FORBID_REUSE, false},
	{"post", CURLOPT_POST, false},
	{"no_body", CURLOPT_NOBODY, false},
};

/** (transfer, name, value): text, a number or a boolean. */
static int http_option(lua_State *L)
{
	struct http_transfer *t = check_transfer(L, 1);
	const char *name = luaL_checkstring(L, 2);
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		if (strcmp(options[i].name, name) != 0)
			continue;
		CURLcode rc;
		if (options[i].is_text)
			rc = curl_easy_setopt(t->easy, options[i].option, luaL_checkstring(L, 3));
		else if (lua_isboolean(L, 3))
			rc = curl_easy_setopt(t->easy, options[i].option,
					      (long)lua_toboolean(L, 3));
		else
			rc = curl_easy_setopt(t->easy, options[i].option,
					      (long)luaL_checkinteger(L, 3));
		if (rc != CURLE_OK)
			return luaL_error(L, "http.client: the option %s: %s", name,
					  curl_easy_strerror(rc));
		return 0;
	}
	return luaL_error(L, "http.client: no option %s", name);
}

/** (transfer, line) */
static int http_header(lua_State *L)
{
	struct http_transfer *t = check_transfer(L, 1);
	struct curl_slist *list = curl_slist_append(t->headers, luaL_checkstring(L, 2));
	if (list == NULL)
		return luaL_error(L, "not enough memory");
	t->headers = list;
	return 0;
}

/** (transfer, text): the whole body of the request. */
static int http_body(lua_State *L)
{
	struct http_transfer *t = check_transfer(L, 1);
	size_t size;
	const char *body = luaL_checklstring(L, 2, &size);
	curl_easy_setopt(t->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)size);
	if (curl_easy_setopt(t->easy, CURLOPT_COPYPOSTFIELDS, body) != CURLE_OK)
		return luaL_error(L, "not enough memory");
	return 0;
}

/** (transfer, is_upload): both bodies go piece by piece; the request has one where is_upload. */
static int http_stream(lua_State *L)
{
	struct http_transfer *t = check_transfer(L, 1);
	t->is_stream = true;
	if (lua_toboolean(L, 2))
		http_transfer_set_upload(t);
	return 0;
}

/** (transfer) */
static int http_start(lua_State *L)
{
	http_transfer_start(check_transfer(L, 1));
	return 0;
}

/** (transfer): until it is over. Raises where the fiber is cancelled. */
static int http_wait(lua_State *L)
{
	struct http_transfer *t = check_transfer(L, 1);
	if (fiber_may_yield() != 0 || http_transfer_wait(t) != 0)
		return lua_throw(L);
	return 0;
}

/** (transfer, seconds): until something changes; false where nothing did. */
static int http_wait_change(lua_State *L)
{
	struct http_transfer *t = check_transfer(L, 1);
	double timeout = luaL_checknumber(L, 2);
	if (fiber_may_yield() != 0)
		return lua_throw(L);
	bool ok = fiber_cond_wait_timeout(&t->cond, timeout) == 0;
	if (!ok && fiber_testcancel() != 0)
		return lua_throw(L);
	lua_pushboolean(L, ok);
	return 1;
}

/** (transfer, text, is_last) */
static int http_write(lua_State *L)
{
	struct http_transfer *t = check_transfer(L, 1);
	size_t size;
	const char *data = luaL_checklstring(L, 2, &size);
	http_transfer_write(t, data, size, lua_toboolean(L, 3));
	return 0;
}

/** (transfer) -> bytes of the request's body that curl has not taken yet */
static int http_unsent(lua_State *L)
{
	lua_pushinteger(L, check_transfer(L, 1)->out.size);
	return 1;
}

/** (transfer) -> what has come of the body and is not taken yet */
static int http_take(lua_State *L)
{
	struct http_transfer *t = check_transfer(L, 1);
	lua_pushlstring(L, t->body.data, t->body.size);
	buf_truncate(&t->body, 0);
	http_transfer_resume(t);
	return 1;
}

/** (transfer) -> the header lines of the last response so far, is the transfer over? */
static int http_head(lua_State *L)
{
	struct http_transfer *t = check_transfer(L, 1);
	lua_pushlstring(L, t->head.data, t->head.size);
	lua_pushboolean(L, t->is_done);
	return 2;
}

/** What users see as a status where there was no response; 0: such a failure is raised. */
static int status_of(CURLcode code)
{
	switch (code) {
	case CURLE_OPERATION_TIMEDOUT:
		return 408;
	case CURLE_GOT_NOTHING:
		return 444;
	case CURLE_PEER_FAILED_VERIFICATION:
		return 495;
	case CURLE_COULDNT_RESOLVE_HOST:
	case CURLE_COULDNT_CONNECT:
		return 595;
	default:
		return 0;
	}
}

/** (transfer) -> status, a text where there was no full response, major and minor version */
static int http_result(lua_State *L)
{
	struct http_transfer *t = check_transfer(L, 1);
	long status = 0, version = 0;
	curl_easy_getinfo(t->easy, CURLINFO_RESPONSE_CODE, &status);
	curl_easy_getinfo(t->easy, CURLINFO_HTTP_VERSION, &version);
	if (t->code != CURLE_OK) {
		status = status_of(t->code);
		if (t->code == CURLE_OUT_OF_MEMORY)
			diag_set(OutOfMemory, "curl: %s", curl_easy_strerror(t->code));
		else if (status == 0)
			diag_set(SystemError, "curl: %s", curl_easy_strerror(t->code));
		if (status == 0)
			return lua_throw(L);
	}
	lua_pushinteger(L, status);
	if (t->code != CURLE_OK)
		lua_pushstring(L, curl_easy_strerror(t->code));
	else
		lua_pushnil(L);
	lua_pushinteger(L, version == CURL_HTTP_VERSION_2_0 ? 2 :
			   version == CURL_HTTP_VERSION_3 ? 3 : version == 0 ? 0 : 1);
	lua_pushinteger(L, version == CURL_HTTP_VERSION_1_1);
	return 4;
}

void lua_http_init(lua_State *L)
{
	static const luaL_Reg functions[] = {
		{"client", http_client},
		{"stat", http_stat},
		{"transfer", http_transfer},
		{"option", http_option},
		{"header", http_header},
		{"body", http_body},
		{"stream", http_stream},
		{"start", http_start},
		{"wait", http_wait},
		{"wait_change", http_wait_change},
		{"write", http_write},
		{"unsent", http_unsent},
		{"take", http_take},
		{"head", http_head},
		{"result", http_result},
		{"close", http_close},
		{NULL, NULL},
	};
	lua_class_new_with_gc(L, &client_class, http_client_gc);
	lua_class_new_with_gc(L, &transfer_class, http_close);
	lua_new_module(L, "internal.http", functions);
	lua_pop(L, 1);
	lua_load_embedded(L, "http.lua", "http.client");
}
