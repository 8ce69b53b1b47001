/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What the files of the module interface share, and its hooks for others. They do not
 * include tarn/module.h, which names tuples, errors and enumerations by its own means.
 */
#pragma once

struct box_function_ctx;
struct port;
struct tuple;

/** In front of each exported function. */
#define MODULE_API __attribute__((visibility("default")))

/** Where a procedure's results go. */
struct port *box_function_result(struct box_function_ctx *ctx);

/** The fiber holds the counted tuple now, in place of the one before; returns it. */
struct tuple *module_keep(struct tuple *tuple);

/** Keeps a counted tuple where a function returned 0, and hands it out; returns `rc`. */
int module_give(int rc, struct tuple *tuple, struct tuple **result);

/** Calls the handlers of box_on_shutdown(). May yield. */
void module_run_shutdown(void);

/** Start-up. */
void lua_module_box_init(void);
