/**
 * @file cuda_profiler_api.h
 * @brief What tells a profiler when to look; there is none.
 * @ingroup cudasim
 */
#ifndef CUDASIM_CUDA_PROFILER_API_H
#define CUDASIM_CUDA_PROFILER_API_H

#include "cuda_runtime.h"

/** @cond */
static inline cudaError_t cudaProfilerStart(void) {
    return cudaSuccess;
}

static inline cudaError_t cudaProfilerStop(void) {
    return cudaSuccess;
}
/** @endcond */

#endif
