/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What the program says of itself. Scripts compare `_TARANTOOL` with releases of the
 * reference: it names the release whose interface we follow, with our own name behind.
 */
#pragma once

#ifndef TARN_VERSION
#define TARN_VERSION "0.1.0"
#endif

#define TARN_COMPAT_VERSION "2.6.0-0-gtarn" TARN_VERSION

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
