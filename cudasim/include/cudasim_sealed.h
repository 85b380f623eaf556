/**
 * @file cudasim_sealed.h
 * @brief Included before a program that is graded: no kernel of it can hide from check mode.
 * @ingroup cudasim
 *
 * Compilers leave out their instrumentation where a function says no_sanitize, in any spelling.
 * Only the simulator's own headers may, so all of them come first; then the word is taken away. The
 * text after this header is the program's: there cu2cpp refuses assembler and builtins of one
 * machine, in headers of the system too. So those that a kernel may want come first as well.
 */
#ifndef CUDASIM_SEALED_H
#define CUDASIM_SEALED_H

#include <float.h>
#include <inttypes.h>
#include <stdbool.h>

#include <cublas_v2.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

/** @cond */
/* From here on, the expansion of the simulator's macros counts as the program's code. */
#undef CUDASIM_UNCHECKED
#define CUDASIM_UNCHECKED
#undef __forceinline__
#define __forceinline__ inline
/** @endcond */

#pragma GCC poison no_sanitize __no_sanitize__ no_sanitize_thread __no_sanitize_thread__
#pragma GCC poison no_sanitize_undefined __no_sanitize_undefined__ no_sanitize_memory
#pragma GCC poison disable_sanitizer_instrumentation __disable_sanitizer_instrumentation__

/** @cond */
typedef int cudasim_sealed_from_here;
/** @endcond */

#endif
