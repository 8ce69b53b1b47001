/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What the program says of how it was built.
 */
#pragma once

#include "core/version.h"

/** The commit that was built, with a "+" for changes beyond it; empty where none is known. */
extern const char tarn_commit[];

#ifdef NDEBUG
#define TARN_BUILD_TYPE "RelWithDebInfo"
#else
#define TARN_BUILD_TYPE "Debug"
#endif

#if defined(__aarch64__)
#define TARN_TARGET "Linux-aarch64-" TARN_BUILD_TYPE
#else
#define TARN_TARGET "Linux-x86_64-" TARN_BUILD_TYPE
#endif

#define TARN_COMPILER "cc " __VERSION__
#define TARN_BUILD_OPTIONS "cmake . -DCMAKE_BUILD_TYPE=" TARN_BUILD_TYPE

#ifdef __OPTIMIZE__
#define TARN_C_FLAGS "-O2 -g"
#else
#define TARN_C_FLAGS "-O0 -g3"
#endif
