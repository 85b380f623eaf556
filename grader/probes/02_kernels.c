/* Lab 02: runs an op on the simulated GPU, once for each of the judge's cases. */
#include "grader/probes/02_kernels.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/lab.h"
#include "common/memory.h"
#include "grader/probe.h"
#include "kernels/half.h"

/* One call of an op. */
typedef struct Call {
    const Wire *in;
    Wire *out;
    int i;
    const KernelCase *c;
    Device *device;
    Memory *memory;
    const Ops *ops;
    Workspace workspace;
} Call;

/* ---- holes ----------------------------------------------------------------------------------- */

/* An op may have several holes, one after the other. What stands before a hole can be graded
   without it: a hole of `later_task` or a later one ends the call and not the program. This
   todo_reached() is linked instead of the kit's. */
static jmp_buf at_hole;
static int later_task;

void todo_reached(const char *file, int line, const char *task) {
    int number;
    if (later_task > 0 && sscanf(task, "task %d", &number) == 1 && number >= later_task) {
        longjmp(at_hole, 1);
    }
    fflush(stdout);
    fprintf(stderr, "%s:%d: TODO: %s\n", file, line, task);
    exit(EXIT_TODO);
}

/* Lives in the same object of the kit. */
void lab_missing(const char *lab, const char *file) {
    fprintf(stderr, "needs lab %s (%s is not here)\n", lab, file);
    exit(EXIT_USAGE);
}

/* ---- tensors --------------------------------------------------------------------------------- */

static const float *given(const Call *call, const char *tensor, size_t *n) {
    char name[WIRE_NAME];
    return wire_get(call->in, kernel_tensor(name, tensor, call->i, call->c), WIRE_F32, n);
}

static void *upload(const Call *call, const void *values, size_t bytes) {
    void *tensor = memory_alloc(call->memory, MEMORY_ACTIVATIONS, "probe", -1, bytes);
    if (values != NULL) {
        device_upload(call->device, tensor, values, bytes);
    }
    return tensor;
}

static float *float_in(const Call *call, const char *tensor) {
    size_t n;
    const float *values = given(call, tensor, &n);
    return upload(call, values, n * sizeof *values);
}

static int32_t *ids_in(const Call *call, const char *tensor) {
    char name[WIRE_NAME];
    size_t n;
    const int32_t *ids =
        wire_get(call->in, kernel_tensor(name, tensor, call->i, call->c), WIRE_I32, &n);
    return upload(call, ids, n * sizeof *ids);
}

static uint16_t *halves(size_t n) {
    uint16_t *bits = malloc(n > 0 ? n * sizeof *bits : 1);
    CHECK(bits != NULL, "no host memory for %zu numbers", n);
    return bits;
}

static Real *real_in(const Call *call, const char *tensor) {
    if (call->c->precision == F32) {
        return (Real *)float_in(call, tensor);
    }
    size_t n;
    const float *values = given(call, tensor, &n);
    uint16_t *bits = halves(n);
    for (size_t i = 0; i < n; i++) {
        bits[i] =
            call->c->precision == F16 ? half_from_float(values[i]) : bf16_from_float(values[i]);
    }
    Real *real = upload(call, bits, n * sizeof *bits);
    free(bits);
    return real;
}

/* Nobody has written these yet, and the simulator knows it. */
static float *float_new(const Call *call, size_t n) {
    return upload(call, NULL, n * sizeof(float));
}

static float *wanted(const Call *call, const char *tensor, size_t *n) {
    char name[WIRE_NAME];
    return wire_get(call->out, kernel_tensor(name, tensor, call->i, call->c), WIRE_F32, n);
}

static void float_out(const Call *call, const char *tensor, const float *from) {
    size_t n;
    float *to = wanted(call, tensor, &n);
    device_download(call->device, to, from, n * sizeof *to);
}

static void real_out(const Call *call, const char *tensor, const Real *from) {
    if (call->c->precision == F32) {
        float_out(call, tensor, (const float *)from);
        return;
    }
    size_t n;
    float *to = wanted(call, tensor, &n);
    uint16_t *bits = halves(n);
    device_download(call->device, bits, from, n * sizeof *bits);
    for (size_t i = 0; i < n; i++) {
        to[i] = call->c->precision == F16 ? half_to_float(bits[i]) : bf16_to_float(bits[i]);
    }
    free(bits);
}

static Workspace workspace(const Call *call, size_t floats) {
    return (Workspace){.data = float_new(call, floats),
                       .bytes = floats * sizeof(float),
                       .threads = call->device->threads,
                       .blas = call->device->blas};
}

/* ---- the ops --------------------------------------------------------------------------------- */

static void call_sumsq(const Call *call, int later) {
    Workspace scratch = workspace(call, KERNEL_PARTIALS);
    float *out = float_in(call, "out");
    const float *x = float_in(call, "x");
    later_task = later;
    if (setjmp(at_hole) == 0) {
        call->ops->sumsq(out, x, (size_t)call->c->N, &scratch);
    }
    if (later > 0) {
        float_out(call, "partial", scratch.data);
    } else {
        float_out(call, "out", out);
    }
}

static void run_sumsq_partials(const Call *call) {
    call_sumsq(call, 2);
}

static void run_sumsq(const Call *call) {
    call_sumsq(call, 0);
}

static void run_adamw(const Call *call) {
    float *weight = float_in(call, "weight"), *m = float_in(call, "m"), *v = float_in(call, "v");
    call->ops->adamw(weight, m, v, float_in(call, "grad"), (size_t)call->c->N, call->c->adamw,
                     call->c->t);
    float_out(call, "weight", weight);
    float_out(call, "m", m);
    float_out(call, "v", v);
}

static void run_crossentropy_forward(const Call *call) {
    float *losses = float_new(call, (size_t)call->c->N), *lse = float_new(call, (size_t)call->c->N);
    call->ops->crossentropy_forward(losses, lse, real_in(call, "logits"), ids_in(call, "targets"),
                                    call->c->N, call->c->C);
    float_out(call, "losses", losses);
    float_out(call, "lse", lse);
}

static void run_crossentropy_backward(const Call *call) {
    Real *logits = real_in(call, "logits");
    Real *dlogits = call->c->in_place ? logits : real_in(call, "dlogits");
    call->ops->crossentropy_backward(dlogits, logits, float_in(call, "lse"),
                                     ids_in(call, "targets"), call->c->dloss, call->c->N,
                                     call->c->C);
    real_out(call, "dlogits", dlogits);
}

/* Forward, and backward with what comes out of it. */
static void run_crossentropy(const Call *call) {
    size_t N = (size_t)call->c->N;
    float *losses = float_new(call, N), *lse = float_new(call, N);
    Real *logits = real_in(call, "logits");
    Real *dlogits = call->c->in_place ? logits : real_in(call, "dlogits");
    const int32_t *targets = ids_in(call, "targets");
    call->ops->crossentropy_forward(losses, lse, logits, targets, call->c->N, call->c->C);
    call->ops->crossentropy_backward(dlogits, logits, lse, targets, call->c->dloss, call->c->N,
                                     call->c->C);
    float_out(call, "losses", losses);
    float_out(call, "lse", lse);
    real_out(call, "dlogits", dlogits);
}

/* What is handed back of layernorm_backward, by the bits. */
enum { DIN = 1, PARTIALS = 2, PARAMETERS = 4 };

static void call_layernorm(const Call *call, int later, int back) {
    Workspace scratch = workspace(call, 2 * LAYERNORM_BLOCKS * (size_t)call->c->C);
    Real *din = real_in(call, "din");
    float *dweight = float_in(call, "dweight"), *dbias = float_in(call, "dbias");
    const Real *dout = real_in(call, "dout"), *in = real_in(call, "in");
    const float *mean = float_in(call, "mean"), *rstd = float_in(call, "rstd");
    const Real *weight = real_in(call, "weight");
    later_task = later;
    if (setjmp(at_hole) == 0) {
        call->ops->layernorm_backward(din, dweight, dbias, dout, in, mean, rstd, weight, call->c->N,
                                      call->c->C, &scratch);
    }
    if (back & DIN) {
        real_out(call, "din", din);
    }
    if (back & PARTIALS) {
        float_out(call, "partial", scratch.data);
    }
    if (back & PARAMETERS) {
        float_out(call, "dweight", dweight);
        float_out(call, "dbias", dbias);
    }
}

static void run_layernorm_din(const Call *call) {
    call_layernorm(call, 7, DIN);
}

static void run_layernorm_partials(const Call *call) {
    call_layernorm(call, 8, PARTIALS);
}

static void run_layernorm_parameters(const Call *call) {
    call_layernorm(call, 0, PARAMETERS);
}

static void run_layernorm(const Call *call) {
    call_layernorm(call, 0, DIN | PARAMETERS);
}

/* ---- all cases, and what the simulator has seen ---------------------------------------------- */

static void each(const Wire *in, Wire *out, void (*run)(const Call *call)) {
    size_t bytes;
    const KernelCase *cases = wire_get(in, "cases", WIRE_BYTES, &bytes);
    Device *device = device_gpu_new();
    CHECK(device != NULL, "there is no GPU");
    Memory *memory = memory_new(device, (MemoryOptions){.checked = !device->simulated});
    for (int i = 0; i < (int)(bytes / sizeof *cases); i++) {
        MemoryMark mark = memory_mark(memory);
        Call call = {.in = in,
                     .out = out,
                     .i = i,
                     .c = &cases[i],
                     .device = device,
                     .memory = memory,
                     .ops = &device->ops[cases[i].precision]};
        run(&call);
        memory_release(memory, mark);
    }
    device_synchronize(device);
    memory_free(memory);
    device_free(device);
    hand_back_profile(out);
}

#define CASE(op)                                                                                   \
    static void op(const Wire *in, Wire *out) {                                                    \
        each(in, out, run_##op);                                                                   \
    }
CASE(sumsq_partials)
CASE(sumsq)
CASE(adamw)
CASE(crossentropy_forward)
CASE(crossentropy_backward)
CASE(crossentropy)
CASE(layernorm_din)
CASE(layernorm_partials)
CASE(layernorm_parameters)
CASE(layernorm)

const ProbeCase probe_cases[] = {
    {"sumsq_partials", sumsq_partials},
    {"sumsq", sumsq},
    {"adamw", adamw},
    {"crossentropy_forward", crossentropy_forward},
    {"crossentropy_backward", crossentropy_backward},
    {"crossentropy", crossentropy},
    {"layernorm_din", layernorm_din},
    {"layernorm_partials", layernorm_partials},
    {"layernorm_parameters", layernorm_parameters},
    {"layernorm", layernorm},
    {NULL, NULL},
};
