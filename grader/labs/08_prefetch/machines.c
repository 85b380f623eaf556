/* Machines, and times on them. The contract is in machines.h. */
#include "grader/labs/08_prefetch/machines.h"

#include <math.h>

static const Machine t4 = {.name = "NVIDIA T4",
                           .memory = 320e9,
                           .f32 = 8.1e12,
                           .tf32 = 8.1e12,
                           .f16 = 65e12,
                           .bf16 = 8.1e12,
                           .to_device = 16e9,
                           .from_device = 16e9,
                           .link = 16e9,
                           .network = 1.5625e9,
                           .launch = 3e-6,
                           .kernels = 128,
                           .copy_engines = 2,
                           .node = 4};
static const Machine a100 = {.name = "NVIDIA A100 80GB SXM",
                             .memory = 2039e9,
                             .f32 = 19.5e12,
                             .tf32 = 156e12,
                             .f16 = 312e12,
                             .bf16 = 312e12,
                             .to_device = 32e9,
                             .from_device = 32e9,
                             .link = 300e9,
                             .network = 25e9,
                             .launch = 3e-6,
                             .kernels = 128,
                             .copy_engines = 2,
                             .node = 8};
static const Machine laptop = {.name = "laptop with a GeForce RTX 4060",
                               .memory = 256e9,
                               .f32 = 14.6e12,
                               .tf32 = 14.6e12,
                               .f16 = 29.1e12,
                               .bf16 = 29.1e12,
                               .to_device = 15.75e9,
                               .from_device = 15.75e9,
                               .link = 15.75e9,
                               .network = 0.125e9,
                               .launch = 3e-6,
                               .kernels = 128,
                               .copy_engines = 2,
                               .node = 1};
const Machine *const machines_declared[MACHINES] = {&t4, &a100, &laptop};

double machines_bound(const FeedRun *run, const Machine *machine) {
    double copy = 8.0 * run->option[FEED_TOKENS] / machine->to_device;
    double work = 1024.0 * run->option[FEED_WORK] / machine->memory;
    int launches = 0;
    for (size_t i = 0; i < run->record.count; i++) {
        launches += run->record.entry[i].kind < CUDASIM_EVENT;
    }
    return 1.05 * (copy + TIMED_BATCHES * fmax(copy, work) + launches * machine->launch);
}

/* ---- a pipeline as a record ------------------------------------------------------------------ */

enum { MOST_PIPELINE = 32 };

/* Copy i is entry 2i + 1, the work on it is entry 2i + 2. */
double machines_pipeline(int batches, int slots, double copy, double work) {
    static const Machine unit = {.name = "unit",
                                 .memory = 1,
                                 .f32 = 1,
                                 .tf32 = 1,
                                 .f16 = 1,
                                 .bf16 = 1,
                                 .to_device = 1,
                                 .from_device = 1,
                                 .link = 1,
                                 .network = 1,
                                 .kernels = 1,
                                 .copy_engines = 2,
                                 .node = 1};
    CudasimEntry entry[2 * MOST_PIPELINE];
    uint64_t after[2 * MOST_PIPELINE][2];
    for (int i = 0; i < batches; i++) {
        CudasimEntry *c = &entry[2 * i], *w = &entry[2 * i + 1];
        uint64_t id = 2 * (uint64_t)i + 1;
        *c = (CudasimEntry){.id = id,
                            .kind = CUDASIM_COPY,
                            .name = "copy",
                            .stream = 1,
                            .number = (uint64_t)i + 1,
                            .bytes = copy,
                            .way = CUDASIM_TO_DEVICE,
                            .after = after[2 * i],
                            .read = -1,
                            .written = -1};
        *w = (CudasimEntry){.id = id + 1,
                            .kind = CUDASIM_LAUNCH,
                            .name = "work",
                            .op = "work",
                            .number = (uint64_t)i + 1,
                            .bytes = work,
                            .after = after[2 * i + 1],
                            .read = -1,
                            .written = -1};
        if (i >= slots) {
            after[2 * i][c->after_count++] = id + 1 - 2 * (uint64_t)slots;
        }
        if (i > 0) {
            after[2 * i][c->after_count++] = id - 2;
            after[2 * i + 1][w->after_count++] = id - 1;
        }
        after[2 * i + 1][w->after_count++] = id;
    }
    Makespan result;
    CudasimRecord record = {entry, 2 * (size_t)batches};
    CHECK(batches <= MOST_PIPELINE && makespan(&record, &unit, NULL, &result), "no makespan");
    return result.seconds;
}
