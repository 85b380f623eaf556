/**
 * @file cudasim_host.h
 * @brief Host functions of the runtime that only C++ has: those that take a kernel or a variable.
 * @ingroup cudasim
 */
#ifndef CUDASIM_HOST_H
#define CUDASIM_HOST_H

/** @cond */
/* Not macros, to which the commas of a template's arguments would be their own. */
template <class Kernel>
cudaError_t cudasim_func_set_attribute(CUDASIM_PLACE, Kernel *kernel, cudaFuncAttribute attribute,
                                       int value) {
    return cudasim_func_set_attribute(file, line, (const void *)kernel, attribute, value);
}
template <class Kernel> cudaError_t cudaFuncSetCacheConfig(Kernel *, cudaFuncCache) {
    return cudaSuccess;
}
template <class Kernel> cudaError_t cudaFuncSetSharedMemConfig(Kernel *, cudaSharedMemConfig) {
    return cudaSuccess;
}

template <class Kernel>
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attributes, Kernel *kernel) {
    return cudasim_func_get_attributes(attributes, (const void *)kernel);
}

/* As the program writes it; on a GPU it is the linker's name. */
template <class... Parameters>
cudaError_t cudasim_kernel_name(const char **name, const char *text,
                                void (*kernel)(Parameters...)) {
    return cudasim_func_name(name, text, (const void *)kernel);
}
inline cudaError_t cudasim_kernel_name(const char **name, const char *, const void *kernel) {
    return cudasim_func_name(name, NULL, kernel);
}
#define cudaFuncGetName(name, ...) cudasim_kernel_name(name, #__VA_ARGS__, __VA_ARGS__)

template <class Type>
cudaError_t cudasim_symbol_address(CUDASIM_PLACE, const char *name, void **address,
                                   const Type &symbol) {
    *address = (void *)&symbol;
    return cudasim_symbol(file, line, "cudaGetSymbolAddress", name, (const void *)&symbol,
                          sizeof symbol);
}
#define cudaGetSymbolAddress(address, ...)                                                         \
    cudasim_symbol_address(CUDASIM_HERE, #__VA_ARGS__, address, __VA_ARGS__)

template <class Type> cudaError_t cudaGetSymbolSize(size_t *bytes, const Type &) {
    *bytes = sizeof(Type);
    return cudaSuccess;
}

/* cu2cpp puts it before a call whose status the program throws away. */
struct cudasim_ignored {
    unsigned failed = cudasim_failed(); /* calls before it */
};
inline cudaError_t operator,(cudasim_ignored before, cudaError_t error) {
    if (cudasim_failed() != before.failed) {
        cudasim_nobody_looked();
    }
    return error;
}

#ifdef CUDASIM_WHOLE_PROGRAM
#if defined __SANITIZE_THREAD__ && !defined __clang__
cudasim_marks_host; /* cu2cpp takes the word away */
#endif
/* The compiler knows how large an array is, and what malloc() or new has returned nearby. Of memory
   that it does not know, a device's for one, it says that there is room for anything. */
#if __has_builtin(__builtin_dynamic_object_size)
#define CUDASIM_ROOM(p) __builtin_dynamic_object_size(p, 0)
#else
#define CUDASIM_ROOM(p) __builtin_object_size(p, 0)
#endif

__attribute__((always_inline)) inline bool cudasim_fits(CUDASIM_PLACE, const char *call, void *to,
                                                        const void *from, size_t bytes) {
    size_t room = CUDASIM_ROOM(to), held = CUDASIM_ROOM(from);
    return (bytes <= room || cudasim_no_room(file, line, call, "destination", bytes, room)) &&
           (bytes <= held || cudasim_no_room(file, line, call, "source", bytes, held));
}
/* Most bytes between two members of a type: nothing writes them, and nothing need to. */
template <class Type, bool = __is_class(Type) || __is_union(Type), class = void>
struct cudasim_padding {
    static constexpr size_t most = 0;
};
template <class Type> struct cudasim_padding<Type, true, decltype((void)sizeof(Type))> {
    static constexpr size_t most =
        __has_unique_object_representations(Type) ? 0 : alignof(Type) - 1;
};
__attribute__((always_inline)) inline cudaError_t
cudasim_memcpy_fits(CUDASIM_PLACE, void *to, const void *from, size_t bytes, cudaMemcpyKind kind) {
    return cudasim_fits(file, line, "cudaMemcpy", to, from, bytes)
               ? cudasim_memcpy(file, line, to, from, bytes, kind)
               : cudaErrorInvalidValue;
}
__attribute__((always_inline)) inline cudaError_t
cudasim_memcpy_async_fits(CUDASIM_PLACE, void *to, const void *from, size_t bytes,
                          cudaMemcpyKind kind, cudaStream_t stream = 0) {
    return cudasim_fits(file, line, "cudaMemcpyAsync", to, from, bytes)
               ? cudasim_memcpy_async(file, line, to, from, bytes, kind, stream)
               : cudaErrorInvalidValue;
}
template <class From>
__attribute__((always_inline)) inline cudaError_t
cudasim_memcpy_fits(CUDASIM_PLACE, void *to, From *from, size_t bytes, cudaMemcpyKind kind) {
    cudasim_padded(cudasim_padding<From>::most);
    return cudasim_memcpy_fits(file, line, to, (const void *)from, bytes, kind);
}
template <class From>
__attribute__((always_inline)) inline cudaError_t
cudasim_memcpy_async_fits(CUDASIM_PLACE, void *to, From *from, size_t bytes, cudaMemcpyKind kind,
                          cudaStream_t stream = 0) {
    cudasim_padded(cudasim_padding<From>::most);
    return cudasim_memcpy_async_fits(file, line, to, (const void *)from, bytes, kind, stream);
}
/* From the first byte of the first row to the last byte of the last one. */
inline size_t cudasim_of_rows(size_t pitch, size_t width, size_t height) {
    return width == 0 || height == 0 ? 0 : (height - 1) * pitch + width;
}
__attribute__((always_inline)) inline bool cudasim_rows_fit(CUDASIM_PLACE, const char *call,
                                                            void *to, size_t to_pitch,
                                                            const void *from, size_t from_pitch,
                                                            size_t width, size_t height) {
    size_t written = cudasim_of_rows(to_pitch, width, height), room = CUDASIM_ROOM(to);
    size_t read = cudasim_of_rows(from_pitch, width, height), held = CUDASIM_ROOM(from);
    return (written <= room || cudasim_no_room(file, line, call, "destination", written, room)) &&
           (read <= held || cudasim_no_room(file, line, call, "source", read, held));
}
__attribute__((always_inline)) inline cudaError_t
cudasim_memcpy_2d_fits(CUDASIM_PLACE, void *to, size_t to_pitch, const void *from,
                       size_t from_pitch, size_t width, size_t height, cudaMemcpyKind kind) {
    return cudasim_rows_fit(file, line, "cudaMemcpy2D", to, to_pitch, from, from_pitch, width,
                            height)
               ? cudasim_memcpy_2d(file, line, to, to_pitch, from, from_pitch, width, height, kind)
               : cudaErrorInvalidValue;
}
__attribute__((always_inline)) inline cudaError_t
cudasim_memcpy_2d_async_fits(CUDASIM_PLACE, void *to, size_t to_pitch, const void *from,
                             size_t from_pitch, size_t width, size_t height, cudaMemcpyKind kind,
                             cudaStream_t stream = 0) {
    return cudasim_rows_fit(file, line, "cudaMemcpy2DAsync", to, to_pitch, from, from_pitch, width,
                            height)
               ? cudasim_memcpy_2d_async(file, line, to, to_pitch, from, from_pitch, width, height,
                                         kind, stream)
               : cudaErrorInvalidValue;
}
#undef cudaMemcpy
#undef cudaMemcpyAsync
#undef cudaMemcpy2D
#undef cudaMemcpy2DAsync
#define cudaMemcpy(...) cudasim_memcpy_fits(CUDASIM_HERE, __VA_ARGS__)
#define cudaMemcpyAsync(...) cudasim_memcpy_async_fits(CUDASIM_HERE, __VA_ARGS__)
#define cudaMemcpy2D(...) cudasim_memcpy_2d_fits(CUDASIM_HERE, __VA_ARGS__)
#define cudaMemcpy2DAsync(...) cudasim_memcpy_2d_async_fits(CUDASIM_HERE, __VA_ARGS__)
#define CUDASIM_HOST_FITS(...) cudasim_fits(__VA_ARGS__)
#else
#define CUDASIM_HOST_FITS(...) true
#endif

/* ---- copies of variables --------------------------------------------------------------------- */

/* __device__ and __constant__ variables are plain ones here. The host's end is looked at, as in
   cudaMemcpy(); the variable's size the call knows anyway. */
#define CUDASIM_COPIES_SYMBOL                                                                      \
    template <class Type> __attribute__((always_inline)) inline cudaError_t
CUDASIM_COPIES_SYMBOL cudasim_to_symbol(CUDASIM_PLACE, const char *name, Type &symbol,
                                        const void *from, size_t bytes, size_t offset = 0,
                                        cudaMemcpyKind kind = cudaMemcpyHostToDevice) {
    return CUDASIM_HOST_FITS(file, line, "cudaMemcpyToSymbol", NULL, from, bytes)
               ? cudasim_memcpy_symbol(file, line, "cudaMemcpyToSymbol", cudaMemcpyHostToDevice,
                                       (char *)&symbol + offset, from, bytes, sizeof symbol, offset,
                                       name, kind)
               : cudaErrorInvalidValue;
}
CUDASIM_COPIES_SYMBOL cudasim_from_symbol(CUDASIM_PLACE, const char *name, const Type &symbol,
                                          void *to, size_t bytes, size_t offset = 0,
                                          cudaMemcpyKind kind = cudaMemcpyDeviceToHost) {
    return CUDASIM_HOST_FITS(file, line, "cudaMemcpyFromSymbol", to, NULL, bytes)
               ? cudasim_memcpy_symbol(file, line, "cudaMemcpyFromSymbol", cudaMemcpyDeviceToHost,
                                       to, (const char *)&symbol + offset, bytes, sizeof symbol,
                                       offset, name, kind)
               : cudaErrorInvalidValue;
}
/* In a stream a copy of a variable is one by its address. */
CUDASIM_COPIES_SYMBOL cudasim_to_symbol_async(CUDASIM_PLACE, const char *name, Type &symbol,
                                              const void *from, size_t bytes, size_t offset = 0,
                                              cudaMemcpyKind kind = cudaMemcpyHostToDevice,
                                              cudaStream_t stream = 0) {
    const char *call = "cudaMemcpyToSymbolAsync";
    if (!CUDASIM_HOST_FITS(file, line, call, NULL, from, bytes)) {
        return cudaErrorInvalidValue;
    }
    cudaError_t error =
        cudasim_symbol(file, line, call, name, (const void *)&symbol, sizeof symbol);
    return error != cudaSuccess ? error
                                : cudasim_memcpy_async(file, line, (char *)&symbol + offset, from,
                                                       bytes, kind, stream);
}
CUDASIM_COPIES_SYMBOL cudasim_from_symbol_async(CUDASIM_PLACE, const char *name, void *to,
                                                const Type &symbol, size_t bytes, size_t offset = 0,
                                                cudaMemcpyKind kind = cudaMemcpyDeviceToHost,
                                                cudaStream_t stream = 0) {
    const char *call = "cudaMemcpyFromSymbolAsync";
    if (!CUDASIM_HOST_FITS(file, line, call, to, NULL, bytes)) {
        return cudaErrorInvalidValue;
    }
    cudaError_t error =
        cudasim_symbol(file, line, call, name, (const void *)&symbol, sizeof symbol);
    return error != cudaSuccess
               ? error
               : cudasim_memcpy_async(file, line, to, (const char *)&symbol + offset, bytes, kind,
                                      stream);
}
#define cudaMemcpyToSymbol(symbol, from, bytes, ...)                                               \
    cudasim_to_symbol(CUDASIM_HERE, #symbol, symbol, from, bytes, ##__VA_ARGS__)
#define cudaMemcpyFromSymbol(to, symbol, bytes, ...)                                               \
    cudasim_from_symbol(CUDASIM_HERE, #symbol, symbol, to, bytes, ##__VA_ARGS__)
#define cudaMemcpyToSymbolAsync(symbol, from, bytes, ...)                                          \
    cudasim_to_symbol_async(CUDASIM_HERE, #symbol, symbol, from, bytes, ##__VA_ARGS__)
#define cudaMemcpyFromSymbolAsync(to, symbol, bytes, ...)                                          \
    cudasim_from_symbol_async(CUDASIM_HERE, #symbol, to, symbol, bytes, ##__VA_ARGS__)

/* ---- launches by a function ------------------------------------------------------------------ */

/* "(const void *)blur" is the kernel blur: without the casts, and the &, before a name. */
inline const char *cudasim_bare_name(const char *text) {
    for (int depth = 0; *text == '(' || *text == '&' || *text == ' ' || depth > 0; text++) {
        depth += (*text == '(') - (*text == ')');
        if (*text == '\0') {
            break;
        }
    }
    return text;
}
/* By name a kernel's parameters are known; cu2cpp takes a cast to void * away. */
template <class... Parameters>
cudaError_t cudasim_launch_kernel(const char *file, int line, bool cooperative, const char *name,
                                  void (*kernel)(Parameters...), dim3 grid, dim3 block,
                                  void **values = NULL, size_t shared = 0,
                                  cudaStream_t stream = 0) {
    cudasim_call<Parameters...> call =
        cudasim_launch(file, line, cudasim_bare_name(name), kernel, grid, block, shared, stream);
    call.site.cooperative = cooperative;
    cudaError_t error = call.launch(&call.site, values);
    cudaPeekAtLastError(); /* who calls a function sees what it returns */
    return error;
}
inline cudaError_t cudasim_launch_kernel(const char *file, int line, bool cooperative, const char *,
                                         const void *kernel, dim3 grid, dim3 block,
                                         void **values = NULL, size_t shared = 0,
                                         cudaStream_t stream = 0) {
    return cudasim_launch_by_address(file, line, cooperative, kernel, grid, block, values, shared,
                                     stream);
}
#define cudaLaunchKernel(kernel, ...)                                                              \
    cudasim_launch_kernel(CUDASIM_HERE, false, #kernel, kernel, __VA_ARGS__)
#define cudaLaunchCooperativeKernel(kernel, ...)                                                   \
    cudasim_launch_kernel(CUDASIM_HERE, true, #kernel, kernel, __VA_ARGS__)

inline cudaError_t cudasim_launch_config(const char *file, int line,
                                         const cudaLaunchConfig_t *config, const void *kernel,
                                         void **values) {
    bool cooperative = false;
    for (unsigned i = 0; i < config->numAttrs; i++) {
        cooperative = cooperative || (config->attrs[i].id == cudaLaunchAttributeCooperative &&
                                      config->attrs[i].val.cooperative);
    }
    return cudasim_launch_by_address(file, line, cooperative, kernel, config->gridDim,
                                     config->blockDim, values, config->dynamicSmemBytes,
                                     config->stream);
}
template <class... Parameters>
cudaError_t cudasim_launch_config(const char *file, int line, const cudaLaunchConfig_t *config,
                                  void (*kernel)(Parameters...), void **values) {
    return cudasim_launch_config(file, line, config, cudasim_kernel_address("kernel", kernel),
                                 values);
}
template <class... Parameters> struct cudasim_launch_ex { /* its arguments convert as in a call */
    template <class... Arguments>
    static cudaError_t with(const char *file, int line, const cudaLaunchConfig_t *config,
                            const char *name, void (*kernel)(Parameters...), Parameters... values) {
        void *addresses[sizeof...(Parameters) + 1] = {(void *)&values...};
        return cudasim_launch_config(file, line, config, cudasim_kernel_address(name, kernel),
                                     addresses);
    }
};
template <class... Parameters, class... Arguments>
cudaError_t cudasim_launch_kernel_ex(const char *file, int line, const char *name,
                                     const cudaLaunchConfig_t *config,
                                     void (*kernel)(Parameters...), Arguments &&...values) {
    return cudasim_launch_ex<Parameters...>::with(file, line, config, name, kernel,
                                                  std::forward<Arguments>(values)...);
}
#define cudaLaunchKernelExC(config, kernel, values)                                                \
    cudasim_launch_config(CUDASIM_HERE, config, kernel, values)
#define cudaLaunchKernelEx(config, ...)                                                            \
    cudasim_launch_kernel_ex(CUDASIM_HERE, CUDASIM_FIRST_NAME(__VA_ARGS__, ), config, __VA_ARGS__)
#define CUDASIM_FIRST_NAME(first, ...) #first

/* ---- graphs: the forms of other versions ----------------------------------------------------- */

inline cudaError_t cudasim_graph_instantiate(CUDASIM_PLACE, cudaGraphExec_t *exec,
                                             cudaGraph_t graph, cudaGraphNode_t *wrong, char *log,
                                             size_t bytes) {
    if (wrong != NULL) {
        *wrong = NULL;
    }
    if (log != NULL && bytes > 0) {
        *log = 0;
    }
    return cudasim_graph_instantiate(file, line, exec, graph, 0ull);
}
inline cudaError_t cudasim_graph_exec_update(CUDASIM_PLACE, cudaGraphExec_t exec, cudaGraph_t graph,
                                             cudaGraphNode_t *wrong,
                                             cudaGraphExecUpdateResult *result) {
    cudaGraphExecUpdateResultInfo info;
    cudaError_t error = cudasim_graph_exec_update(file, line, exec, graph, &info);
    if (wrong != NULL) {
        *wrong = info.errorNode;
    }
    if (result != NULL) {
        *result = info.result;
    }
    return error;
}
inline cudaError_t cudasim_graph_change_edges(CUDASIM_PLACE, const char *what, int add,
                                              cudaGraph_t graph, const cudaGraphNode_t *from,
                                              const cudaGraphNode_t *to, const cudaGraphEdgeData *,
                                              size_t count) {
    return cudasim_graph_change_edges(file, line, what, add, graph, from, to, count);
}
inline cudaError_t cudasim_graph_edges(CUDASIM_PLACE, cudaGraph_t graph, cudaGraphNode_t *from,
                                       cudaGraphNode_t *to, cudaGraphEdgeData *, size_t *count) {
    return cudasim_graph_edges(file, line, graph, from, to, count);
}
inline cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t *nodes,
                                                cudaGraphEdgeData *, size_t *count) {
    return cudaGraphNodeGetDependencies(node, nodes, count);
}
inline cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t *nodes,
                                                  cudaGraphEdgeData *, size_t *count) {
    return cudaGraphNodeGetDependentNodes(node, nodes, count);
}
inline cudaError_t cudasim_capture_info(CUDASIM_PLACE, const char *what, cudaStream_t stream,
                                        cudaStreamCaptureStatus *status, unsigned long long *id,
                                        cudaGraph_t *graph, const cudaGraphNode_t **last,
                                        const cudaGraphEdgeData **, size_t *count) {
    return cudasim_capture_info(file, line, what, stream, status, id, graph, last, count);
}

/* ---- occupancy ------------------------------------------------------------------------------- */

template <class Kernel>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, Kernel *kernel, int threads,
                                                          size_t shared) {
    return cudasim_active_blocks(blocks, (const void *)kernel, threads, shared);
}

template <class Kernel>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, Kernel *kernel,
                                                                   int threads, size_t shared,
                                                                   unsigned) {
    return cudasim_active_blocks(blocks, (const void *)kernel, threads, shared);
}

template <class Kernel>
cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, Kernel *kernel, int blocks,
                                                      int threads) {
    return cudasim_shared_of_blocks(bytes, (const void *)kernel, blocks, threads);
}

/* The largest block of which most threads are active at once. */
template <class Kernel, class Function>
cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMem(int *grid, int *block, Kernel *kernel,
                                                           Function shared_of, int limit = 0) {
    int most = *grid = *block = 0;
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

template <class Kernel>
cudaError_t cudaOccupancyMaxPotentialBlockSize(int *grid, int *block, Kernel *kernel,
                                               size_t shared = 0, int limit = 0) {
    return cudaOccupancyMaxPotentialBlockSizeVariableSMem(
        grid, block, kernel, [shared](int) { return shared; }, limit);
}

/* The flags change nothing. */
template <class Kernel, class Shared>
cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(int *grid, int *block,
                                                                    Kernel *kernel,
                                                                    Shared shared_of, int limit = 0,
                                                                    unsigned = 0) {
    return cudaOccupancyMaxPotentialBlockSizeVariableSMem(grid, block, kernel, shared_of, limit);
}
template <class Kernel>
cudaError_t cudaOccupancyMaxPotentialBlockSizeWithFlags(int *grid, int *block, Kernel *kernel,
                                                        size_t shared = 0, int limit = 0,
                                                        unsigned = 0) {
    return cudaOccupancyMaxPotentialBlockSize(grid, block, kernel, shared, limit);
}
/** @endcond */

#endif
