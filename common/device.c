/* The CPU as a device: an arena of aligned pages, and the CPU's table of ops. The contract is in
   device.h; device_gpu.c is the other device.

   The arena has a height, and above it everything is free. Releasing the newest tensor lowers it;
   one that is released below others leaves a hole, and the lowest hole that is large enough is
   filled first. A single stack leaves none. */
#include "common/device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "common/params.h"
#include "kernels/blas.h"
#include "kernels/threads.h"

/* Free bytes below the height: places in the arena. */
typedef struct Hole {
    size_t begin, end;
} Hole;

typedef struct Arena {
    char *base;
    size_t capacity;
    size_t height;
    Hole *holes; /* by address; no two touch, and none touches the height */
    size_t hole_count, hole_room;
    char note[160];
    char warning[256];
} Arena;

static size_t padded(size_t bytes) {
    return (bytes + DEVICE_ALIGNMENT - 1) / DEVICE_ALIGNMENT * DEVICE_ALIGNMENT;
}

/* The lowest hole of that size becomes smaller, or goes. SIZE_MAX where there is none. */
static size_t fill_hole(Arena *arena, size_t size) {
    for (size_t i = 0; i < arena->hole_count; i++) {
        Hole *hole = &arena->holes[i];
        if (size <= hole->end - hole->begin) {
            size_t place = hole->begin;
            hole->begin += size;
            if (hole->begin == hole->end) {
                memmove(hole, hole + 1, (--arena->hole_count - i) * sizeof *hole);
            }
            return place;
        }
    }
    return SIZE_MAX;
}

static void *cpu_alloc(Device *device, size_t bytes) {
    Arena *arena = device->state;
    size_t size = padded(bytes);
    if (bytes > arena->capacity) { /* then padded() may have wrapped around */
        return NULL;
    }
    size_t place = fill_hole(arena, size);
    if (place != SIZE_MAX) {
        return arena->base + place;
    }
    if (size > arena->capacity - arena->height) {
        return NULL;
    }
    arena->height += size;
    return arena->base + arena->height - size;
}

static void insert_hole(Arena *arena, size_t at, Hole hole) {
    if (arena->hole_count == arena->hole_room) {
        arena->hole_room = arena->hole_room == 0 ? 64 : 2 * arena->hole_room;
        arena->holes = realloc(arena->holes, arena->hole_room * sizeof *arena->holes);
        CHECK(arena->holes != NULL, "no host memory for %zu holes", arena->hole_room);
    }
    memmove(arena->holes + at + 1, arena->holes + at,
            (arena->hole_count++ - at) * sizeof *arena->holes);
    arena->holes[at] = hole;
}

/* A hole that grows together with its neighbours. */
static void open_hole(Arena *arena, Hole hole) {
    size_t above = 0; /* the first hole above the new one */
    while (above < arena->hole_count && arena->holes[above].begin < hole.begin) {
        above++;
    }
    Hole *next = above < arena->hole_count ? &arena->holes[above] : NULL;
    Hole *last = above > 0 ? &arena->holes[above - 1] : NULL;
    CHECK((next == NULL || hole.end <= next->begin) && (last == NULL || last->end <= hole.begin),
          "a tensor is released that is not there");
    if (last != NULL && last->end == hole.begin) {
        last->end = hole.end;
        if (next != NULL && next->begin == last->end) {
            last->end = next->end;
            memmove(next, next + 1, (--arena->hole_count - above) * sizeof *next);
        }
    } else if (next != NULL && next->begin == hole.end) {
        next->begin = hole.begin;
    } else {
        insert_hole(arena, above, hole);
    }
}

static void cpu_release(Device *device, void *data, size_t bytes) {
    Arena *arena = device->state;
    size_t begin = (size_t)((char *)data - arena->base), end = begin + padded(bytes);
    CHECK(begin <= end && end <= arena->height, "a tensor is released that is not there");
    if (end < arena->height) {
        if (begin < end) {
            open_hole(arena, (Hole){begin, end});
        }
        return;
    }
    const Hole *last = arena->hole_count > 0 ? &arena->holes[arena->hole_count - 1] : NULL;
    CHECK(last == NULL || last->end <= begin, "a tensor is released that is not there");
    arena->height = begin;
    if (last != NULL && last->end == begin) {
        arena->height = last->begin;
        arena->hole_count--;
    }
}

/* memset() past the caches, for memory that is larger than they are: a common store has its line
   read before it is written. In docs/performance.md. */
static void fill_past_caches(char *data, int byte, size_t bytes) {
    size_t done = 0;
#ifdef __SSE2__
    enum { VECTOR = sizeof(__m128i) };
    size_t first = -(uintptr_t)data % VECTOR;
    __m128i value = _mm_set1_epi8((char)byte);
    if (bytes >= first + VECTOR) {
        memset(data, byte, first);
        for (done = first; done + VECTOR <= bytes; done += VECTOR) {
            _mm_stream_si128((__m128i *)(data + done), value);
        }
        _mm_sfence();
    }
#endif
    memset(data + done, byte, bytes - done);
}

static void cpu_fill(Device *device, void *data, int byte, size_t bytes) {
    (void)device;
    enum { RUN = 1 << 15, LARGE = 1 << 20 };
#pragma omp parallel for if (bytes > RUN)
    for (size_t first = 0; first < bytes; first += RUN) {
        char *run = (char *)data + first;
        size_t n = bytes - first < RUN ? bytes - first : RUN;
        if (bytes >= LARGE) {
            fill_past_caches(run, byte, n);
        } else {
            memset(run, byte, n);
        }
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
    free(arena->holes);
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

static size_t page_bytes(void) {
    return (size_t)sysconf(_SC_PAGESIZE);
}

void *device_cpu_range(const Device *device, size_t *bytes) {
    const Arena *arena = device->state;
    CHECK(device->destroy == cpu_destroy, "%s has no addresses of its own", device->name);
    *bytes = (arena->capacity + page_bytes() - 1) / page_bytes() * page_bytes();
    return arena->base;
}

/* The whole pages of a range. */
static void forget(const Arena *arena, size_t begin, size_t end) {
    size_t page = page_bytes(), first = (begin + page - 1) / page * page;
    if (first < end / page * page) {
        madvise(arena->base + first, end / page * page - first, MADV_DONTNEED);
    }
}

void device_cpu_forget(Device *device) {
    const Arena *arena = device->state;
    size_t bytes;
    device_cpu_range(device, &bytes);
    for (size_t i = 0; i < arena->hole_count; i++) {
        forget(arena, arena->holes[i].begin, arena->holes[i].end);
    }
    forget(arena, arena->height, bytes);
}

void device_free(Device *device) {
    if (device != NULL) {
        device->destroy(device);
    }
}

const char *device_lacks(const Device *device, Precision precision) {
    bool old = device->capability > 0 && device->capability < 80;
    return precision == BF16 && old ? "products of bf16, which begin with compute capability 8.0"
                                    : NULL;
}

size_t workspace_list_bytes(const ModelConfig *config) {
    return padded((size_t)params_count(config) * sizeof(TensorEntry));
}

size_t workspace_unread_bytes(const ModelConfig *config) {
    return config->adapter.rank > 0 ? padded(2 * (size_t)config->C * sizeof(float)) : 0;
}

size_t workspace_bytes(const ModelConfig *config, const Device *device) {
    return padded(device->workspace_bytes(device, config)) +
           WORKSPACE_LISTS * workspace_list_bytes(config) + WORKSPACE_RESULT_BYTES +
           workspace_unread_bytes(config);
}
