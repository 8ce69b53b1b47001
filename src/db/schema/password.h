/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Passwords: what is stored of them in _user, and how a login is checked by it. There are
 * two methods. chap-sha1: the password never goes over the wire, but what is stored is the
 * same for all who have the same password. pap-sha256: what is stored is salted, and the
 * password itself is sent, so it is for encrypted connections.
 * Source: the manual, "Binary protocol", authentication, and "Authentication protocol".
 *
 * Checks take the same time whether there is a password or not, and whether it matches.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum password_method {
	PASSWORD_CHAP_SHA1, PASSWORD_PAP_SHA256, password_method_MAX,
};
/** "chap-sha1", "pap-sha256". */
extern const char *password_method_names[password_method_MAX];

/** password_method_MAX where there is none of the name. */
enum password_method password_method_by_name(const char *name, size_t len);

enum {
	SCRAMBLE_SIZE = 20,
	PAP_SALT_SIZE = 20, PAP_HASH_SIZE = 32,
	/** Room for the text of a salt or a hash, with a zero behind. */
	PASSWORD_TEXT_SIZE = 48,
};

/** What is stored of one password, by method. */
struct password {
	bool has_chap, has_pap;
	/** SHA1(SHA1(password)) */
	unsigned char chap_hash[SCRAMBLE_SIZE];
	unsigned char pap_salt[PAP_SALT_SIZE];
	/** SHA256(salt, password) */
	unsigned char pap_hash[PAP_HASH_SIZE];
};

/**
 * Reads the map {method = data} of a row of _user. NULL, or what is wrong with it. Methods
 * that are not known are passed over.
 */
const char *password_decode(struct password *password, const char *map);

/** Is it the answer to the salt of a greeting? `scramble` has SCRAMBLE_SIZE bytes. */
bool password_check_chap(const struct password *password, const unsigned char *scramble,
			 const unsigned char *salt);

/** Is it the password? By pap-sha256. */
bool password_check_pap(const struct password *password, const char *text, size_t len);

/** Is it the password? By any method that is stored. For the rules of new passwords. */
bool password_matches(const struct password *password, const char *text, size_t len);

/** What a client that knows the password answers to the greeting's salt: SCRAMBLE_SIZE bytes. */
void password_scramble(const char *text, size_t len, const unsigned char *salt,
		       unsigned char *out);

/** base64(SHA1(SHA1(password))), 28 characters and a zero, as stored for chap-sha1. */
void password_hash(const char *text, size_t len, char *out);

/** A new salt, and the hash with it, as stored for pap-sha256: texts in base64. */
void password_hash_pap(const char *text, size_t len, char *salt_out, char *hash_out);
