#include <stdarg.h>

#include "block.h"
#include "cudasim_record.h"
#include "device.h"
#include "queue.h"

/* A launch is looked at when it is written, as CUDA does, and runs when its stream does. */

__thread Worker *sim_worker;
static unsigned blocks_run, first_block;

/* ---- may it run? ----------------------------------------------------------------------------- */

static Place place_of(const LaunchSite *site) {
    return (Place){site->file, site->line};
}

__attribute__((format(printf, 3, 4))) static cudaError_t
refuse(const LaunchSite *site, cudaError_t error, const char *format, ...) {
    char why[300];
    va_list values;
    va_start(values, format);
    vsnprintf(why, sizeof why, format, values);
    va_end(values);
    sim_event("refused %s", site->name);
    sim_report("launch failed", "%s at %s:%d did not run: %s", site->name, sim_file(place_of(site)),
               site->line, why);
    sim_detail("on a GPU this is silent until you call cudaGetLastError(): \"%s\"",
               cudaGetErrorString(error));
    return sim_error(error, site->name, place_of(site), true);
}

static cudaError_t refuse_stream(const LaunchSite *site, const Queue *stream) {
    cudaError_t error = refuse(site, cudaErrorInvalidResourceHandle,
                               "its stream is of device %d, and device %d is current",
                               stream->device, sim_device());
    sim_detail("the stream was created at %s:%d; cudaSetDevice(%d) comes first",
               sim_file(stream->made), stream->made.line, stream->device);
    return error;
}

/* Whether all blocks of a cooperative launch can be resident. */
static cudaError_t fits_at_once(const LaunchSite *site, size_t threads) {
    int blocks = 0, processors = 0;
    size_t wanted = (size_t)site->grid.x * site->grid.y * site->grid.z;
    cudasim_active_blocks(&blocks, site->kernel, (int)threads, site->shared);
    cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0);
    size_t room = (size_t)blocks * (size_t)processors;
    return wanted <= room ? cudaSuccess
                          : refuse(site, cudaErrorCooperativeLaunchTooLarge,
                                   "a cooperative launch of %zu blocks, of which the device holds "
                                   "%zu at once",
                                   wanted, room);
}

/* Whether this launch is the one that CUDASIM_REFUSE counts off. */
static bool is_counted_off(void) {
    static int launches;
    return __atomic_add_fetch(&launches, 1, __ATOMIC_RELAXED) == sim_settings.refuse;
}

static cudaError_t possible(const LaunchSite *site) {
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
    if (threads > sim_most_threads(site->kernel)) {
        return refuse(site, cudaErrorInvalidValue,
                      "the block has %zu threads, its __launch_bounds__ allow %u", threads,
                      sim_most_threads(site->kernel));
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
    if (is_counted_off()) {
        return refuse(site, cudaErrorLaunchOutOfResources,
                      "CUDASIM_REFUSE=%d has chosen it, as a device with too few registers would",
                      sim_settings.refuse);
    }
    if (site->shared > limit) {
        return refuse(site, cudaErrorInvalidValue,
                      "%zu bytes of dynamic shared memory, the limit is %zu%s", site->shared, limit,
                      site->shared <= DYNAMIC_SHARED ? " unless cudaFuncSetAttribute(kernel, "
                                                       "cudaFuncAttributeMaxDynamicSharedMemorySize"
                                                       ", bytes) asks for more"
                                                     : "");
    }
    return site->cooperative ? fits_at_once(site, threads) : cudaSuccess;
}

/* nvcc would not have compiled it. */
static void look_at_constants(const LaunchSite *site) {
    enum { MOST = 64 << 10 };
    size_t bytes = constant_bytes();
    if (bytes > MOST) {
        sim_report("launch failed",
                   "%s at %s:%d: __constant__ variables take %zu bytes, more than "
                   "%d",
                   site->name, sim_file(place_of(site)), site->line, bytes, MOST);
        sim_detail("nvcc does not compile this: keep large tables in memory from cudaMalloc");
        sim_stop();
    }
}

/* A launch in a stream of another device is refused for that. */
static bool may_use(Allocation *a, int slot, const char *what, Place place) {
    return sim_use(a, slot, what, place) &&
           (queue_of(slot)->device != sim_device() || sim_kernel_may_use(a, slot, what, place));
}

static void report_host_pointer(const LaunchSite *site, int number, const volatile void *p) {
    bool address = (uintptr_t)p >> 48 == 0; /* what processors with 64 bits give to a program */
    sim_report("host pointer passed to a kernel", "argument %d of %s at %s:%d is %p, %s", number,
               site->name, sim_file(place_of(site)), site->line, (void *)(uintptr_t)p,
               address ? "a HOST pointer" : "which is not an address");
    sim_detail(address ? "give it memory from cudaMalloc, filled with cudaMemcpy(..., "
                         "cudaMemcpyHostToDevice)"
                       : "the pointer was never set, or something wrote over it");
}

/* A pointer that a kernel cannot use is found here, not only when it is used. */
int cudasim_pointer_argument(const LaunchSite *site, int number, const volatile void *p) {
    ENTER(site->name, site->file, site->line);
    if (p == NULL) {
        return 1;
    }
    Allocation *a = sim_allocation(p);
    Place place = place_of(site);
    if (sim_registered(p)) {
        return 1;
    }
    if (!sim_on_device(p) && (a == NULL || !a->pinned) && variable_at(p) == NULL) {
        report_host_pointer(site, number, p);
    } else {
        if (a != NULL && a->pinned) {
            check_mapped();
        }
        int slot = sim_stream_slot(site->stream, site->name, place);
        char what[200];
        snprintf(what, sizeof what, "argument %d of %s", number, site->name);
        if (slot >= 0 && (a == NULL || may_use(a, slot, what, place))) {
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

unsigned sim_new_block(void) {
    return __atomic_add_fetch(&blocks_run, 1, __ATOMIC_RELAXED);
}

/* Whether all blocks could be finished. */
static bool run_blocks(const Launch *launch) {
    sim_watch(true);
    bool finished = launch->site.cooperative ? sim_run_cooperative(launch) : sim_run_grid(launch);
    sim_watch(false);
    return finished;
}

static void run_grid(void *context) {
    const Launch *launch = context;
    if (sim_settings.dry) {
        return;
    }
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

static void account(const void *context, CudasimEntry *entry) {
    const LaunchSite *site = &((const Launch *)context)->site;
    entry->kind = CUDASIM_LAUNCH;
    memcpy(entry->grid, (unsigned[]){site->grid.x, site->grid.y, site->grid.z}, sizeof entry->grid);
    memcpy(entry->block, (unsigned[]){site->block.x, site->block.y, site->block.z},
           sizeof entry->block);
}

/* Managed memory among its arguments is closed to the host. */
static void entered(void *context, const Operation *operation) {
    (void)context;
    sim_guard_shared(operation);
}

bool sim_launch_parameters(const Work *work, cudaKernelNodeParams *p) {
    enum { MOST = 4096 };
    static __thread void *values[MOST];
    const Launch *launch = work->context;
    if (work->run != run_grid || launch->site.kernel == NULL || launch->site.type->count > MOST) {
        return false;
    }
    launch->site.type->locate(launch->arguments, values);
    *p = (cudaKernelNodeParams){.func = (void *)(uintptr_t)launch->site.kernel,
                                .gridDim = launch->site.grid,
                                .blockDim = launch->site.block,
                                .sharedMemBytes = (unsigned)launch->site.shared,
                                .kernelParams = values};
    return true;
}

cudaError_t cudasim_submit_launch(const LaunchSite *site, void (*thread)(void *), void *arguments,
                                  size_t bytes, void (*release)(void *)) {
    ENTER(site->name, site->file, site->line);
    if (sim_left_out(site->name)) {
        release(arguments);
        return cudaSuccess;
    }
    int slot;
    cudaError_t error = sim_may_submit(site->stream, site->name, place_of(site), &slot);
    if (error == cudaSuccess && queue_of(slot)->device != sim_device()) {
        error = refuse_stream(site, queue_of(slot));
    }
    if (error == cudaSuccess) {
        look_at_constants(site);
        error = possible(site);
    }
    if (error != cudaSuccess) {
        release(arguments);
        return error;
    }
    sim_know_kernel(site);
    if (sim_settings.dry) {
        sim_event("accepted %s", site->name);
    }
    Launch *launch = sim_realloc(NULL, sizeof *launch);
    *launch = (Launch){*site, thread, arguments, bytes, release};
    sim_submit(site->stream, (Work){.what = site->name,
                                    .place = place_of(site),
                                    .run = run_grid,
                                    .release = release_launch,
                                    .context = launch,
                                    .entered = entered,
                                    .account = account});
    return cudaSuccess;
}
