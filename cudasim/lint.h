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
#define __managed__ __attribute__((managed))
#define __grid_constant__
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))

/* First those that only the host may call, so that the others do not bring them in. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

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

/* Overloads for the device. */
extern "C" {
__device__ int printf(const char *format, ...);
__device__ int abs(int x);

typedef struct cudasim_meeting cudasim_meeting;
__device__ void cudasim_syncthreads(const char *file, int line);
__device__ int cudasim_syncthreads_reduce(int operation, int predicate, const char *file, int line);
__device__ cudasim_meeting *cudasim_meet(int operation, unsigned mask, unsigned long long value,
                                         const char *file, int line);
__device__ void cudasim_undefined_lane(const cudasim_meeting *meeting, int lane, const char *file,
                                       int line);
__device__ void cudasim_undefined_width(int operation, int width, const char *file, int line);
__device__ void cudasim_undefined_rank(unsigned rank, unsigned threads, const char *file, int line);
__device__ void cudasim_before_atomic(const volatile void *p, size_t bytes, const char *file,
                                      int line);
__device__ void cudasim_compares(const volatile void *p);
__device__ void cudasim_within_block(const volatile void *p);
__device__ void cudasim_changed_nothing(void);
__device__ void cudasim_fence(int of_block);
__device__ unsigned cudasim_active_lanes(const char *file, int line);
__device__ long long cudasim_clock(void);
__device__ unsigned cudasim_multiprocessors(void);
__device__ size_t cudasim_shared_offset(const void *p, const char *file, int line);
__device__ void *cudasim_shared_pointer(size_t offset, const char *file, int line);
__device__ int cudasim_space(const void *p, const char *file, int line);
__device__ void cudasim_before_load(const volatile void *p, size_t bytes, const char *file,
                                    int line);
__device__ void cudasim_copy_async(void *to, const void *from, size_t bytes, size_t zeros,
                                   const char *file, int line);
__device__ void cudasim_trap(const char *file, int line);
__device__ void cudasim_beyond_bounds(unsigned most);
__device__ void cudasim_called_plainly(const char *kernel, const void *caller);
}

#include "cuda_runtime.h"

/* The function that <<< >>> calls. */
extern "C" int cudaConfigureCall(dim3 grid, dim3 block, size_t shared = 0, cudaStream_t stream = 0);
extern "C" unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared = 0,
                                                void *stream = 0);
/** @endcond */

#endif
