#include <stdarg.h>

#include "block.h"

/* A launch is looked at when it is written, as CUDA does, and runs when its stream does. */

__thread Worker *sim_worker;
static unsigned blocks_run, first_block;

/* ---- kernels that asked for more shared memory ----------------------------------------------- */

enum { KERNELS = 256 };
static struct {
    const void *kernel;
    size_t shared;
} asked[KERNELS];

/* NULL is a kernel of unknown address, since its name stands for several: it gets the most. */
size_t sim_shared_limit(const void *kernel) {
    size_t limit = STATIC_SHARED;
    for (int i = 0; i < KERNELS && asked[i].kernel != NULL; i++) {
        if ((asked[i].kernel == kernel || kernel == NULL) && asked[i].shared > limit) {
            limit = asked[i].shared;
        }
    }
    return limit;
}

cudaError_t cudasim_func_set_attribute(const char *file, int line, const void *kernel,
                                       cudaFuncAttribute attribute, int value) {
    sim_begin();
    if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize) {
        return sim_device_error();
    }
    int i = 0;
    while (i < KERNELS - 1 && asked[i].kernel != NULL && asked[i].kernel != kernel) {
        i++;
    }
    if (value < 0 || value > DYNAMIC_SHARED) {
        return sim_error(cudaErrorInvalidValue, "cudaFuncSetAttribute", (Place){file, line}, false);
    }
    asked[i].kernel = kernel;
    asked[i].shared = value > STATIC_SHARED ? (size_t)value : STATIC_SHARED;
    return sim_device_error();
}

cudaError_t cudasim_func_get_attributes(cudaFuncAttributes *attributes, const void *kernel) {
    sim_begin();
    *attributes = (cudaFuncAttributes){.maxThreadsPerBlock = MAX_THREADS,
                                       .numRegs = 32,
                                       .ptxVersion = 80,
                                       .binaryVersion = 80,
                                       .maxDynamicSharedSizeBytes = (int)sim_shared_limit(kernel),
                                       .preferredShmemCarveout = -1};
    return sim_device_error();
}

/* ---- may it run? ----------------------------------------------------------------------------- */

static Place place_of(const LaunchSite *site) {
    return (Place){site->file, site->line};
}

__attribute__((format(printf, 3, 4))) static bool refuse(const LaunchSite *site, cudaError_t error,
                                                         const char *format, ...) {
    char why[300];
    va_list values;
    va_start(values, format);
    vsnprintf(why, sizeof why, format, values);
    va_end(values);
    sim_report("launch failed", "%s at %s:%d did not run: %s", site->name, sim_file(place_of(site)),
               site->line, why);
    sim_detail("on a GPU this is silent until you call cudaGetLastError(): \"%s\"",
               cudaGetErrorString(error));
    sim_error(error, site->name, place_of(site), true);
    return false;
}

/* Whether all blocks of a cooperative launch can be resident. */
static bool fits_at_once(const LaunchSite *site, size_t threads) {
    int blocks = 0, processors = 0;
    size_t wanted = (size_t)site->grid.x * site->grid.y * site->grid.z;
    cudasim_active_blocks(&blocks, site->kernel, (int)threads, site->shared);
    cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0);
    size_t room = (size_t)blocks * (size_t)processors;
    return wanted <= room || refuse(site, cudaErrorCooperativeLaunchTooLarge,
                                    "a cooperative launch of %zu blocks, of which the device holds "
                                    "%zu at once",
                                    wanted, room);
}

static bool possible(const LaunchSite *site) {
    dim3 grid = site->grid, block = site->block;
    size_t threads = (size_t)block.x * block.y * block.z;
    size_t limit = sim_shared_limit(site->kernel);
    if (threads == 0 || grid.x == 0 || grid.y == 0 || grid.z == 0) {
        return refuse(site, cudaErrorInvalidConfiguration,
                      "grid (%u,%u,%u) of blocks (%u,%u,%u) has no threads", grid.x, grid.y, grid.z,
                      block.x, block.y, block.z);
    }
    if (block.x > MAX_THREADS || block.y > MAX_THREADS || threads > MAX_THREADS) {
        return refuse(site, cudaErrorInvalidConfiguration,
                      "the block has %zu threads, the limit is %d", threads, MAX_THREADS);
    }
    if (block.z > 64) {
        return refuse(site, cudaErrorInvalidConfiguration, "blockDim.z is %u, the limit is 64",
                      block.z);
    }
    if (grid.x > INT_MAX || grid.y > 65535 || grid.z > 65535) {
        return refuse(site, cudaErrorInvalidConfiguration,
                      "grid (%u,%u,%u) is beyond (2147483647,65535,65535); a negative count?",
                      grid.x, grid.y, grid.z);
    }
    if (site->shared > limit) {
        return refuse(site, cudaErrorInvalidValue,
                      "%zu bytes of dynamic shared memory, the limit is %zu%s", site->shared, limit,
                      site->shared <= DYNAMIC_SHARED ? " unless cudaFuncSetAttribute(kernel, "
                                                       "cudaFuncAttributeMaxDynamicSharedMemorySize"
                                                       ", bytes) asks for more"
                                                     : "");
    }
    return !site->cooperative || fits_at_once(site, threads);
}

/* A pointer that a kernel cannot use is found here, not only when it is used. */
int cudasim_pointer_argument(const LaunchSite *site, int number, const volatile void *p) {
    sim_begin();
    if (p == NULL) {
        return 1;
    }
    Allocation *a = sim_allocation(p);
    Place place = place_of(site);
    if (sim_registered(p)) {
        return 1;
    }
    if (!sim_on_device(p) && (a == NULL || !a->pinned)) {
        sim_report("host pointer passed to a kernel",
                   "argument %d of %s at %s:%d is %p, a HOST "
                   "pointer",
                   number, site->name, sim_file(place), site->line, (void *)(uintptr_t)p);
        sim_detail("give it memory from cudaMalloc, filled with cudaMemcpy(..., "
                   "cudaMemcpyHostToDevice)");
    } else {
        int slot = sim_stream_slot(site->stream, site->name, place);
        char what[200];
        snprintf(what, sizeof what, "argument %d of %s", number, site->name);
        if (slot >= 0 && (a == NULL || sim_use(a, slot, what, place))) {
            return 1;
        }
    }
    sim_fail_device(cudaErrorIllegalAddress);
    return 0;
}

/* ---- the grid -------------------------------------------------------------------------------- */

unsigned sim_first_block(void) {
    return first_block;
}

unsigned sim_new_blocks(unsigned count) {
    first_block = blocks_run + 1;
    blocks_run += count;
    return first_block;
}

unsigned sim_new_operation(void) {
    return sim_new_blocks(1);
}

static size_t common_divisor(size_t a, size_t b) {
    while (b != 0) {
        size_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Which block is the k-th to run. */
static size_t block_in_turn(size_t k, size_t blocks) {
    if (sim_settings.schedule == FORWARD) {
        return k;
    }
    if (sim_settings.schedule == REVERSE) {
        return blocks - 1 - k;
    }
    /* Steps that share no divisor with the number of blocks reach each of them once. */
    size_t step = 0x9E3779B1u % blocks | 1;
    while (common_divisor(step, blocks) != 1) {
        step++;
    }
    return (k * step + sim_settings.seed) % blocks;
}

/* Whether all blocks could be finished. */
static bool run_blocks(const Launch *launch) {
    dim3 grid = launch->site.grid;
    size_t blocks = (size_t)grid.x * grid.y * grid.z;
    bool failed = false;
    sim_watch(true);
    if (launch->site.cooperative) {
        failed = !sim_run_cooperative(launch);
        sim_watch(false);
        return !failed;
    }
#pragma omp parallel num_threads(sim_settings.threads) if (sim_settings.threads > 1 && blocks > 1)
    {
        Worker *worker = sim_get_worker();
        blockDim = launch->site.block;
        gridDim = grid;
#pragma omp for schedule(dynamic, 1)
        for (size_t k = 0; k < blocks; k++) {
            if (!failed) {
                size_t b = block_in_turn(k, blocks);
                dim3 index = {(unsigned)(b % grid.x), (unsigned)(b / grid.x % grid.y),
                              (unsigned)(b / grid.x / grid.y)};
                sim_run_block(worker, launch, index,
                              __atomic_add_fetch(&blocks_run, 1, __ATOMIC_RELAXED));
                failed = failed || worker->aborted;
            }
        }
    }
    sim_watch(false);
    return !failed;
}

static void run_grid(void *context) {
    const Launch *launch = context;
    first_block = blocks_run + 1;
    sim_event("launch %s", launch->site.name);
    check_launch_begins(launch);
    bool finished = run_blocks(launch);
    if (check_launch_again(launch)) {
        run_blocks(launch);
    }
    check_launch_ends(launch);
    if (!finished) {
        sim_fail_device(cudaErrorLaunchFailure);
    }
}

static void release_launch(void *context) {
    Launch *launch = context;
    launch->release(launch->arguments);
    free(launch);
}

void cudasim_submit_launch(const LaunchSite *site, void (*thread)(void *), void *arguments,
                           void (*release)(void *)) {
    sim_begin();
    if (sim_worker != NULL && sim_worker->in_kernel) {
        sim_report("unsupported", "%s at %s:%d is launched by a kernel; let the host do that",
                   site->name, sim_file(place_of(site)), site->line);
        sim_detail_thread();
        sim_abort_block();
    }
    if (sim_device_error() != cudaSuccess || !possible(site)) {
        release(arguments);
        return;
    }
    Launch *launch = sim_realloc(NULL, sizeof *launch);
    *launch = (Launch){*site, thread, arguments, release};
    sim_guard_shared(sim_submit_owned(site->stream, site->name, place_of(site), run_grid, launch,
                                      release_launch));
}
