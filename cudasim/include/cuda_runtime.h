/**
 * @file cuda_runtime.h
 * @brief The CUDA runtime as cudasim offers it: host functions for C and C++, kernels for C++.
 * @ingroup cudasim
 *
 * It stands in for NVIDIA's header of the same name. What a program may use is declared here or in
 * cudasim_kernel.h; the meaning is CUDA's, so only what differs is said. The functions are macros
 * that add file and line, because a report names the line of the call.
 */
#ifndef CUDASIM_CUDA_RUNTIME_H
#define CUDASIM_CUDA_RUNTIME_H

#include <assert.h>
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "driver_types.h"
#include "vector_types.h"

#include "cuda_runtime_api.h"
#include "cudasim_unsupported.h"

#ifdef __cplusplus
#include "cudasim_kernel.h"
#endif

#endif
