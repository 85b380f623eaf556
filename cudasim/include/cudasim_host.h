/**
 * @file cudasim_host.h
 * @brief Host functions of the runtime that only C++ has: those that take a kernel or a variable.
 * @ingroup cudasim
 */
#ifndef CUDASIM_HOST_H
#define CUDASIM_HOST_H

/** @cond */
template <class K> cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attributes, K *kernel) {
    return cudasim_func_get_attributes(attributes, (const void *)kernel);
}

template <class T> cudaError_t cudaGetSymbolAddress(void **address, const T &symbol) {
    *address = (void *)&symbol;
    return cudaSuccess;
}

template <class T> cudaError_t cudaGetSymbolSize(size_t *bytes, const T &) {
    *bytes = sizeof(T);
    return cudaSuccess;
}

/* ---- occupancy ------------------------------------------------------------------------------- */

template <class K>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, K *kernel, int threads,
                                                          size_t shared) {
    return cudasim_active_blocks(blocks, (const void *)kernel, threads, shared);
}

/* The largest block of which most threads are active at once. */
template <class K, class F>
cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMem(int *grid, int *block, K *kernel,
                                                           F shared_of, int limit = 0) {
    int most = 0;
    cudaDeviceProp device;
    cudaGetDeviceProperties(&device, 0);
    for (int threads = limit > 0 && limit < 1024 ? limit / 32 * 32 : 1024; threads >= 32;
         threads -= 32) {
        int blocks = 0;
        cudaError_t error = cudasim_active_blocks(&blocks, (const void *)kernel, threads,
                                                  (size_t)shared_of(threads));
        if (error != cudaSuccess) {
            return error;
        }
        if (blocks * threads > most) {
            most = blocks * threads;
            *block = threads;
            *grid = blocks * device.multiProcessorCount;
        }
    }
    return most > 0 ? cudaSuccess : cudaErrorInvalidValue;
}

template <class K>
cudaError_t cudaOccupancyMaxPotentialBlockSize(int *grid, int *block, K *kernel, size_t shared = 0,
                                               int limit = 0) {
    return cudaOccupancyMaxPotentialBlockSizeVariableSMem(
        grid, block, kernel, [shared](int) { return shared; }, limit);
}
/** @endcond */

#endif
