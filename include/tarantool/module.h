/* SPDX-License-Identifier: BSD-2-Clause
 *
 * For modules that were written for Tarantool: the interface of tarn under the name
 * they include, and the macros they may use beside it.
 */
#pragma once

#include <stdio.h>
#include <tarantool/lua.h>
#include <tarn/module.h>

/** The version that tarn is compatible with. */
#define PACKAGE_VERSION_MAJOR 2
#define PACKAGE_VERSION_MINOR 6
#define PACKAGE_VERSION_PATCH 0
#define PACKAGE_VERSION "2.6.0-0-gtarn"

/** Before declarations of functions that others call. */
#ifdef __cplusplus
#define API_EXPORT extern "C" __attribute__((nothrow, visibility("default")))
#else
#define API_EXPORT extern __attribute__((nothrow, visibility("default")))
#endif

#ifndef likely
#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
#endif
