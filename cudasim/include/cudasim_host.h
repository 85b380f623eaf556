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

/* ---- launches by a function ------------------------------------------------------------------ */

/* cu2cpp takes the cast to void * away, so that the kernel's parameters are known. */
template <class... P, size_t... I>
cudaError_t cudasim_launch_with(const cudasim_call<P...> &call, void **values,
                                std::index_sequence<I...>) {
    call(*(std::remove_reference_t<P> *)values[I]...);
    return cudaPeekAtLastError();
}
template <class... P>
cudaError_t cudasim_launch_kernel(const char *file, int line, bool cooperative, const char *name,
                                  void (*kernel)(P...), dim3 grid, dim3 block, void **values = NULL,
                                  size_t shared = 0, cudaStream_t stream = 0) {
    cudasim_call<P...> call = cudasim_launch(file, line, name, kernel, grid, block, shared, stream);
    call.site.cooperative = cooperative;
    return cudasim_launch_with(call, values, std::index_sequence_for<P...>{});
}
template <class T>
cudaError_t cudasim_launch_kernel(const char *, int, bool, const char *, T *, dim3, dim3,
                                  void ** = NULL, size_t = 0, cudaStream_t = 0) {
    static_assert(std::is_function<T>::value,
                  "cudasim: a launch by a function needs the kernel's name, not a void pointer");
    return cudaErrorInvalidDeviceFunction;
}
#define cudaLaunchKernel(kernel, ...)                                                              \
    cudasim_launch_kernel(CUDASIM_HERE, false, #kernel, kernel, __VA_ARGS__)
#define cudaLaunchCooperativeKernel(kernel, ...)                                                   \
    cudasim_launch_kernel(CUDASIM_HERE, true, #kernel, kernel, __VA_ARGS__)

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
