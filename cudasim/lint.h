/**
 * @file lint.h
 * @brief What clang's CUDA front end needs to check a .cu file without a CUDA toolkit: `make lint`.
 * @ingroup cudasim
 *
 * To clang a function belongs to the host, the device or both, and it refuses what crosses over: a
 * host compiler, which only sees C++, lets a kernel call `malloc`. No code is made. The functions
 * that both sides may call are declared for both; the rest of the C library stays the host's.
 */
#ifndef CUDASIM_LINT_H
#define CUDASIM_LINT_H

/** @cond */
#define CUDASIM_LINT 1
#define __CUDACC__

#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __managed__ __attribute__((device)) /* clang has no word for it */
#define __grid_constant__
#define __noinline__ /* so that __attribute__((__noinline__)) is valid, too */
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))

/* First those that only the host may call, so that the others do not bring them in. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* Overloads for the device, before the templates that call them. */
extern "C" {
__device__ int printf(const char *format, ...);
__device__ int abs(int x);
__device__ void *malloc(size_t bytes);
__device__ void free(void *p);
__device__ clock_t clock(void);
}
namespace std { /* of the special functions */
__device__ void __throw_domain_error(const char *what) __attribute__((noreturn));
__device__ void __throw_runtime_error(const char *what) __attribute__((noreturn));
} // namespace std

#include <algorithm>
#include <cstdlib>
#include <tuple>
#include <type_traits>
#include <utility>

#pragma clang force_cuda_host_device begin
#include <assert.h>
#include <math.h>
#include <string.h>

#include <cmath>
#pragma clang force_cuda_host_device end

#include "cuda_runtime.h"

/* The function that <<< >>> calls. */
extern "C" int cudaConfigureCall(dim3 grid, dim3 block, size_t shared = 0, cudaStream_t stream = 0);
extern "C" unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared = 0,
                                                void *stream = 0);
/** @endcond */

#endif
