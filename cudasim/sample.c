#include "check.h"

/* Which warps of a launch the profile looks at: the first warp of the first block, or, with
   CUDASIM_SAMPLE, several that the number chooses, of those that touch device memory. */

enum {
    KERNELS = 512,
    LAUNCHES = 32, /* looked at per kernel, where nobody draws the warps */
};

static struct {
    const char *name;
    int launches;
} kernels[KERNELS];

/* A warp that is looked at. */
typedef struct Sample {
    size_t block; /* in the launch, in the order in which they run */
    int warp;
} Sample;

static Sample sample[SAMPLES];
static int sample_count;

/* The parts of a grid, in warps, and which warps have touched device memory so far. */
static struct {
    size_t all, of_block;
    size_t awake[SAMPLES];
    size_t block; /* to which `seen` belongs */
    bool seen[MAX_WARPS];
} parts;

static uint64_t draw(void) {
    static uint64_t state;
    state = state == 0 ? (uint64_t)sim_settings.sample + 1 : state;
    uint64_t x = state += 0x9E3779B97F4A7C15u;
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
    return x ^ x >> 31;
}

/* It takes the place of its part's sample with the chance 1 / (warps that have come so far), so
   that all have the same. A warp without work says nothing. */
int sample_consider(void) {
    const Worker *worker = sim_worker;
    size_t block = worker->block - sim_first_block();
    int warp = worker->fiber->thread / WARP;
    if (sim_settings.sample < 0) {
        return -1;
    }
    if (block != parts.block) {
        memset(parts.seen, 0, sizeof parts.seen);
        parts.block = block;
    }
    if (parts.seen[warp]) {
        return -1;
    }
    parts.seen[warp] = true;
    size_t s = (block * parts.of_block + (size_t)warp) * (size_t)sample_count / parts.all;
    if (draw() % ++parts.awake[s] != 0) {
        return -1;
    }
    sample[s] = (Sample){block, warp};
    return (int)s;
}

int sample_lane(int s) {
    const Worker *worker = sim_worker;
    if (s >= sample_count || worker->block - sim_first_block() != sample[s].block) {
        return -1;
    }
    int lane = worker->fiber->thread - WARP * sample[s].warp;
    return lane < WARP ? lane : -1;
}

/* Whether this launch of the kernel is one of its first. */
static bool wanted(const char *kernel) {
    int i = 0;
    while (i < KERNELS - 1 && kernels[i].name != NULL && strcmp(kernels[i].name, kernel) != 0) {
        i++;
    }
    kernels[i].name = kernel;
    return kernels[i].launches++ < LAUNCHES;
}

/* One warp of each of four parts of the grid, drawn as they come; no more than there are warps. */
static void begin_parts(const Launch *launch) {
    dim3 grid = launch->site.grid, block = launch->site.block;
    memset(&parts, 0, sizeof parts);
    parts.of_block = ((size_t)block.x * block.y * block.z + WARP - 1) / WARP;
    parts.all = parts.of_block * grid.x * grid.y * grid.z;
    parts.block = SIZE_MAX;
    sample_count = parts.all < SAMPLES ? (int)parts.all : SAMPLES;
    for (int s = 0; s < sample_count; s++) {
        sample[s] = (Sample){SIZE_MAX, 0};
    }
}

void sample_launch_begin(const Launch *launch) {
    sample_count = 0;
    if (sim_settings.sample >= 0) {
        begin_parts(launch);
    } else if (wanted(launch->site.name)) {
        sample[0] = (Sample){0, 0};
        sample_count = 1;
    }
}

void sample_launch_end(void) {
    sample_count = 0;
}
