/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The box_* part of the module interface, for func_c.c.
 */
#pragma once

struct box_function_ctx;
struct port;

/** Where a procedure's results go. */
struct port *box_function_result(struct box_function_ctx *ctx);

void lua_module_box_init(void);
