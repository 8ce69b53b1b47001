/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Coefficients of decimals that are too large for 128 bits. Apart from the rest, as a
 * name of GMP is one of MessagePack's, too.
 */
#pragma once

#include <gmp.h>

#include "data/decimal_private.h"

/** The same for a coefficient of any size. */
int decimal_finish_mpz(struct decimal *result, bool is_negative, const mpz_t coef, long exponent);

void decimal_mpz_set(mpz_t z, decimal_coef coef);
/** 10^exponent. */
void decimal_mpz_power_of_ten(mpz_t z, unsigned exponent);
