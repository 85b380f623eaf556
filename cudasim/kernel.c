#include "block.h"

/* The kernels that have been launched, or whose address was taken: a launch by address must know
   the types of their parameters, which a pointer does not tell. */

typedef struct Kernel {
    const void *address;
    const char *name;
    const cudasim_kernel_type *type; /* NULL: not known */
    size_t shared;                   /* bytes of dynamic shared memory that it asked for */
} Kernel;

static Kernel *kernels;
static int count, room;

static Kernel *find(const void *address) {
    for (int i = 0; i < count; i++) {
        if (kernels[i].address == address) {
            return &kernels[i];
        }
    }
    return NULL;
}

static Kernel *find_or_add(const void *address) {
    Kernel *kernel = find(address);
    if (kernel != NULL) {
        return kernel;
    }
    if (count == room) {
        room = 2 * room + 64;
        kernels = sim_realloc(kernels, (size_t)room * sizeof *kernels);
    }
    kernels[count] = (Kernel){.address = address, .shared = STATIC_SHARED};
    return &kernels[count++];
}

void *cudasim_know_kernel(const char *name, const void *address, const cudasim_kernel_type *type) {
    Kernel *kernel = find_or_add(address);
    kernel->name = name;
    kernel->type = type;
    return (void *)(uintptr_t)address;
}

void sim_know_kernel(const LaunchSite *site) {
    static const void *last; /* loops launch the same one */
    if (site->kernel != last && site->kernel != NULL) {
        last = site->kernel;
        cudasim_know_kernel(site->name, site->kernel, site->type);
    }
}

cudaError_t cudasim_launch_by_address(const char *file, int line, int cooperative,
                                      const void *address, dim3 grid, dim3 block, void **values,
                                      size_t shared, cudaStream_t stream) {
    ENTER("cudaLaunchKernel", file, line);
    static const char what[] = "a launch by a kernel's address";
    Place place = {file, line};
    const Kernel *kernel = find(address);
    if (kernel == NULL || kernel->type == NULL) {
        sim_report("unsupported", "%s at %s:%d: which kernel it is is not known", what,
                   sim_file(place), line);
        sim_detail("write the kernel's name where its address is taken, as in (void *)kernel");
        return sim_error(cudaErrorInvalidDeviceFunction, what, place, false);
    }
    if (values == NULL && kernel->type->count > 0) {
        return sim_error(cudaErrorInvalidValue, what, place, false);
    }
    LaunchSite site = {file,  line,   kernel->name, address,          grid,
                       block, shared, stream,       cooperative != 0, kernel->type};
    cudaError_t error = kernel->type->launch(&site, values);
    cudaPeekAtLastError(); /* who calls a function sees what it returns */
    return error;
}

/* ---- how many threads a block may have ------------------------------------------------------- */

extern cudasim_bound __start_cudasim_bounds[] __attribute__((weak));
extern cudasim_bound __stop_cudasim_bounds[] __attribute__((weak));

/* Each kernel has a record that lies in it, so that the next one after its beginning is its own. */
unsigned sim_most_threads(const void *kernel) {
    const cudasim_bound *next = NULL;
    for (const cudasim_bound *b = __start_cudasim_bounds; b != __stop_cudasim_bounds; b++) {
        if (b->in >= (const char *)kernel && (next == NULL || b->in < next->in)) {
            next = b;
        }
    }
    bool bounded = kernel != NULL && next != NULL && next->most > 0 && next->most < MAX_THREADS;
    return bounded ? (unsigned)next->most : MAX_THREADS;
}

/* ---- attributes ------------------------------------------------------------------------------ */

/* NULL is a kernel of unknown address, since its name stands for several: it gets the most. */
size_t sim_shared_limit(const void *address) {
    size_t limit = STATIC_SHARED;
    for (int i = 0; i < count; i++) {
        if ((kernels[i].address == address || address == NULL) && kernels[i].shared > limit) {
            limit = kernels[i].shared;
        }
    }
    return limit;
}

cudaError_t cudasim_func_set_attribute(const char *file, int line, const void *kernel,
                                       cudaFuncAttribute attribute, int value) {
    ENTER("cudaFuncSetAttribute", file, line);
    if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize) {
        return sim_device_error();
    }
    if (value < 0 || value > DYNAMIC_SHARED) {
        return sim_error(cudaErrorInvalidValue, "cudaFuncSetAttribute", (Place){file, line}, false);
    }
    find_or_add(kernel)->shared = value > STATIC_SHARED ? (size_t)value : STATIC_SHARED;
    return sim_device_error();
}

cudaError_t cudasim_func_name(const char **name, const char *otherwise, const void *address) {
    ENTER("cudaFuncGetName", NULL, 0);
    const Kernel *kernel = find(address);
    if (name == NULL || address == NULL) {
        return cudaErrorInvalidValue;
    }
    *name = kernel != NULL && kernel->name != NULL ? kernel->name : otherwise;
    return *name != NULL ? sim_device_error() : cudaErrorInvalidDeviceFunction;
}

cudaError_t cudasim_func_get_attributes(cudaFuncAttributes *attributes, const void *kernel) {
    ENTER("cudaFuncGetAttributes", NULL, 0);
    *attributes = (cudaFuncAttributes){.maxThreadsPerBlock = (int)sim_most_threads(kernel),
                                       .numRegs = 32,
                                       .ptxVersion = 80,
                                       .binaryVersion = 80,
                                       .maxDynamicSharedSizeBytes = (int)sim_shared_limit(kernel),
                                       .preferredShmemCarveout = -1};
    return sim_device_error();
}
