/* Times every op of some steps and holds it against the machine's measured ceilings. The contract
   is in profile.h; the costs of ops come from kernels/cost.h. */
#include "train/profile.h"

#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/watch.h"

/* One op: all calls of it together. */
typedef struct Entry {
    const char *op;
    double seconds;
    Cost cost;
    long calls;
} Entry;

enum { OPS = sizeof(Ops) / sizeof(void *) };

static struct {
    const Ops *ops;
    Device *device;
    double began;
    Entry entries[OPS]; /* in the order of their first calls */
} profile;

static void before_call(void *context) {
    (void)context;
    profile.began = now();
}

static void after_call(void *context, const char *op, Cost cost) {
    (void)context;
    device_synchronize(profile.device);
    double seconds = now() - profile.began;
    Entry *entry = profile.entries;
    while (entry->op != NULL && strcmp(entry->op, op) != 0) {
        entry++;
    }
    entry->op = op;
    entry->seconds += seconds;
    cost_add(&entry->cost, 1, cost);
    entry->calls++;
}

void profile_begin(Model *model) {
    profile.ops = model->ops;
    profile.device = model->device;
    profile_reset();
    model->ops = ops_watch((Watch){.ops = model->ops,
                                   .precision = model->config.precision,
                                   .before = before_call,
                                   .after = after_call});
}

void profile_reset(void) {
    memset(profile.entries, 0, sizeof profile.entries);
}

static int by_seconds(const void *a, const void *b) {
    const Entry *x = a, *y = b;
    return (x->seconds < y->seconds) - (x->seconds > y->seconds);
}

/* A GPU would be done with a small product before its start is paid for. */
static int ceiling_side(const Device *device) {
    return device->host_memory || device->simulated ? 1024 : 4096;
}

/* The best rates of two ops that do little else than multiply and copy. */
static void measure_ceilings(Model *model, double *flops, double *bytes) {
    enum { REPEAT = 5 };
    int side = ceiling_side(model->device);
    size_t n = (size_t)side * side, count = 16 * n;
    *flops = *bytes = 0;
    /* The model's own workspace is for its own channels. */
    ModelConfig wide = model->config;
    wide.C = side;
    Workspace workspace = model->workspace;
    workspace.bytes = workspace_bytes(&wide, model->device);
    /* From the device and not from its memory's budget: this is not part of training. */
    Real *a = device_alloc(model->device, count * 4), *b = device_alloc(model->device, count * 4);
    workspace.data = device_alloc(model->device, workspace.bytes);
    CHECK(a != NULL && b != NULL && workspace.data != NULL, "no memory to measure a copy");
    device_fill(model->device, a, 0, count * 4);
    device_fill(model->device, b, 0, count * 4);
    for (int i = 0; i < REPEAT; i++) {
        double start = now();
        Real *c = (Real *)((char *)b + n * 4);
        profile.ops->matmul_forward(c, a, b, NULL, side, side, side, side, &workspace);
        device_synchronize(model->device);
        double rate = 2.0 * side * side * side / (now() - start);
        *flops = rate > *flops ? rate : *flops;
        start = now();
        model->device->ops[F32].cast_to_float((float *)a, b, count);
        device_synchronize(model->device);
        rate = 8 * (double)count / (now() - start);
        *bytes = rate > *bytes ? rate : *bytes;
    }
    device_release(model->device, workspace.data, workspace.bytes);
    device_release(model->device, b, count * 4);
    device_release(model->device, a, count * 4);
}

void profile_end(Model *model) {
    model->ops = profile.ops;
}

void profile_print(Model *model, double seconds, int steps, FILE *out) {
    double peak_flops, peak_bytes, sum = 0;
    int side = ceiling_side(model->device);
    measure_ceilings(model, &peak_flops, &peak_bytes);
    qsort(profile.entries, OPS, sizeof *profile.entries, by_seconds);
    fprintf(
        out,
        "\nWhere the time goes: %.2f ms a step over %d steps; ceilings measured here: a product "
        "of %d^3\nat %.0f GFLOP/s, a copy of %d MiB at %.1f GB/s (tensors that stay in a "
        "cache can exceed it)\n\n"
        "  op                      calls   ms/step  share    GFLOP/s      GB/s  of ceiling\n",
        1e3 * seconds / steps, steps, side, peak_flops * 1e-9, 64 * (side / 1024) * (side / 1024),
        peak_bytes * 1e-9);
    for (int i = 0; i < OPS && profile.entries[i].calls > 0; i++) {
        const Entry *entry = &profile.entries[i];
        double flops = entry->cost.flops / entry->seconds,
               bytes = entry->cost.bytes / entry->seconds;
        sum += entry->seconds;
        fprintf(out, "  %-22s %6ld %9.3f %5.1f %% ", entry->op, entry->calls / steps,
                1e3 * entry->seconds / steps, 100 * entry->seconds / seconds);
        if (entry->cost.flops > 0) {
            fprintf(out, "%10.1f %9s %9.0f %%\n", flops * 1e-9, "", 100 * flops / peak_flops);
        } else {
            fprintf(out, "%10s %9.1f %9.0f %%\n", "", bytes * 1e-9, 100 * bytes / peak_bytes);
        }
    }
    fprintf(out, "  %-22s %6s %9.3f %5.1f %%\n", "everything else", "",
            1e3 * (seconds - sum) / steps, 100 * (seconds - sum) / seconds);
}
