/* The CPU as a device: an arena of aligned pages, and the CPU's table of ops. The contract is in
   device.h; device_gpu.c is the other device. */
#include "common/device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/params.h"
#include "kernels/blas.h"
#include "kernels/threads.h"

typedef struct Arena {
    char *base;
    size_t capacity;
    size_t used;
    char note[160];
    char warning[256];
} Arena;

static size_t padded(size_t bytes) {
    return (bytes + DEVICE_ALIGNMENT - 1) / DEVICE_ALIGNMENT * DEVICE_ALIGNMENT;
}

static void *cpu_alloc(Device *device, size_t bytes) {
    Arena *arena = device->state;
    if (bytes > arena->capacity - arena->used || padded(bytes) > arena->capacity - arena->used) {
        return NULL;
    }
    void *data = arena->base + arena->used;
    arena->used += padded(bytes);
    return data;
}

static void cpu_release(Device *device, void *data, size_t bytes) {
    Arena *arena = device->state;
    CHECK((char *)data + padded(bytes) == arena->base + arena->used,
          "only the newest tensor can be released");
    arena->used -= padded(bytes);
}

static void cpu_fill(Device *device, void *data, int byte, size_t bytes) {
    (void)device;
    enum { RUN = 1 << 18 };
#pragma omp parallel for
    for (size_t first = 0; first < bytes; first += RUN) {
        memset((char *)data + first, byte, bytes - first < RUN ? bytes - first : RUN);
    }
}

static void cpu_copy(Device *device, void *to, const void *from, size_t bytes) {
    (void)device;
    if (bytes > 0) {
        memcpy(to, from, bytes);
    }
}

static void cpu_synchronize(Device *device) {
    (void)device;
}

static size_t cpu_workspace_bytes(const Device *device, const ModelConfig *config) {
    return ops_workspace_cpu(config->precision, config->T, config->C, config->NH,
                             params_length(config), device->threads);
}

static size_t cpu_overhead(const Device *device) {
    (void)device;
    return 0;
}

static void cpu_destroy(Device *device) {
    Arena *arena = device->state;
    munmap(arena->base, arena->capacity);
    free(arena);
    free(device);
}

static void describe(Arena *arena, int threads) {
    BlasInfo blas = blas_info();
    snprintf(arena->note, sizeof arena->note, "%d thread%s, products by %s (%s)", threads,
             threads == 1 ? "" : "s", blas.name, blas.core);
    if (blas.older) {
        snprintf(
            arena->warning, sizeof arena->warning,
            "%s=%s pins matrix products to the %s kernels; unset it, and the library takes the "
            "fastest that this machine can run",
            blas.variable, getenv(blas.variable), blas.core);
    }
}

Device *device_cpu_new(size_t capacity) {
    if (capacity == 0) {
        capacity = (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
    }
    char *base = mmap(NULL, capacity, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED) {
        fprintf(stderr, "cannot reserve %zu bytes of memory\n", capacity);
        return NULL;
    }
#ifdef MADV_HUGEPAGE
    madvise(base, capacity, MADV_HUGEPAGE); /* worth 4 to 8 % of a step; only a wish */
#endif
    blas_init();
    Arena *arena = calloc(1, sizeof *arena);
    Device *device = calloc(1, sizeof *device);
    CHECK(arena != NULL && device != NULL, "no memory for a few bytes");
    *arena = (Arena){.base = base, .capacity = capacity};
    *device = (Device){
        .name = "cpu",
        .note = arena->note,
        .host_memory = true,
        .threads = thread_count(),
        .ops = ops_cpu,
        .state = arena,
        .alloc = cpu_alloc,
        .release = cpu_release,
        .fill = cpu_fill,
        .upload = cpu_copy,
        .download = cpu_copy,
        .synchronize = cpu_synchronize,
        .workspace_bytes = cpu_workspace_bytes,
        .overhead = cpu_overhead,
        .destroy = cpu_destroy,
    };
    describe(arena, device->threads);
    device->warning = arena->warning[0] != '\0' ? arena->warning : NULL;
    return device;
}

void device_free(Device *device) {
    if (device != NULL) {
        device->destroy(device);
    }
}

size_t workspace_list_bytes(const ModelConfig *config) {
    return padded((size_t)params_count(config) * sizeof(TensorEntry));
}

size_t workspace_bytes(const ModelConfig *config, const Device *device) {
    return padded(device->workspace_bytes(device, config)) +
           WORKSPACE_LISTS * workspace_list_bytes(config) + WORKSPACE_RESULT_BYTES;
}
