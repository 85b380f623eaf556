/* Lab 02: runs an op on the simulated GPU, once for each of the judge's cases. */
#include "grader/labs/02_kernels/part_launches.h"
#include "grader/labs/02_kernels/part_many.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "grader/labs/02_kernels/protocol.h"
#include "grader/probe_holes.h"
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

/* ---- tensors --------------------------------------------------------------------------------- */

static const float *call_given(const Call *call, const char *tensor, size_t *n) {
    char name[WIRE_NAME];
    return wire_get(call->in, kernel_tensor(name, tensor, call->i, call->c), WIRE_F32, n);
}

static void *call_upload(const Call *call, const void *values, size_t bytes) {
    void *tensor = memory_alloc(call->memory, MEMORY_ACTIVATIONS, "probe", -1, bytes);
    if (values != NULL) {
        device_upload(call->device, tensor, values, bytes);
    }
    return tensor;
}

static float *call_float_in(const Call *call, const char *tensor) {
    size_t n;
    const float *values = call_given(call, tensor, &n);
    return call_upload(call, values, n * sizeof *values);
}

static int32_t *call_ids_in(const Call *call, const char *tensor) {
    char name[WIRE_NAME];
    size_t n;
    const int32_t *ids =
        wire_get(call->in, kernel_tensor(name, tensor, call->i, call->c), WIRE_I32, &n);
    return call_upload(call, ids, n * sizeof *ids);
}

static uint16_t *halves_new(size_t n) {
    uint16_t *bits = malloc(n > 0 ? n * sizeof *bits : 1);
    CHECK(bits != NULL, "no host memory for %zu numbers", n);
    return bits;
}

static Real *call_real_in(const Call *call, const char *tensor) {
    if (call->c->precision == F32) {
        return (Real *)call_float_in(call, tensor);
    }
    size_t n;
    const float *values = call_given(call, tensor, &n);
    uint16_t *bits = halves_new(n);
    for (size_t i = 0; i < n; i++) {
        bits[i] =
            call->c->precision == F16 ? half_from_float(values[i]) : bf16_from_float(values[i]);
    }
    Real *real = call_upload(call, bits, n * sizeof *bits);
    free(bits);
    return real;
}

/* (N, V), rows `stride` apart. Nobody has written what lies between two rows, and the simulator
   knows it; or, with `filled`, it is 0xFF, NaN in every precision. */
static Real *call_rows_in(const Call *call, const char *tensor, int stride, bool filled) {
    size_t n, V = (size_t)call->c->C, element = precision_bytes(call->c->precision);
    const float *values = call_given(call, tensor, &n);
    size_t all = (size_t)call->c->N * (size_t)stride * element;
    char *rows = call_upload(call, NULL, all);
    if (filled) {
        device_fill(call->device, rows, 0xFF, all);
    }
    uint16_t *bits = halves_new(n);
    for (size_t i = 0; i < n && call->c->precision != F32; i++) {
        bits[i] =
            call->c->precision == F16 ? half_from_float(values[i]) : bf16_from_float(values[i]);
    }
    const char *from = call->c->precision == F32 ? (const char *)values : (const char *)bits;
    if ((size_t)stride == V) {
        device_upload(call->device, rows, from, n * element);
    }
    for (size_t row = 0; row < (size_t)call->c->N && (size_t)stride > V; row++) {
        device_upload(call->device, rows + row * (size_t)stride * element, from + row * V * element,
                      V * element);
    }
    free(bits);
    return (Real *)rows;
}

/* Nobody has written these yet, and the simulator knows it. */
static float *call_float_new(const Call *call, size_t n) {
    return call_upload(call, NULL, n * sizeof(float));
}

static float *call_wanted(const Call *call, const char *tensor, size_t *n) {
    char name[WIRE_NAME];
    return wire_get(call->out, kernel_tensor(name, tensor, call->i, call->c), WIRE_F32, n);
}

static void call_float_out(const Call *call, const char *tensor, const float *from) {
    size_t n;
    float *to = call_wanted(call, tensor, &n);
    device_download(call->device, to, from, n * sizeof *to);
}

static void call_real_out(const Call *call, const char *tensor, const Real *from) {
    if (call->c->precision == F32) {
        call_float_out(call, tensor, (const float *)from);
        return;
    }
    size_t n;
    float *to = call_wanted(call, tensor, &n);
    uint16_t *bits = halves_new(n);
    device_download(call->device, bits, from, n * sizeof *bits);
    for (size_t i = 0; i < n; i++) {
        to[i] = call->c->precision == F16 ? half_to_float(bits[i]) : bf16_to_float(bits[i]);
    }
    free(bits);
}

/* Counts the bytes between two rows of call_rows_in(), filled, that are no longer as they were. */
static void call_padding_out(const Call *call, const Real *from, int stride) {
    size_t element = precision_bytes(call->c->precision), row = (size_t)stride * element;
    unsigned char *bytes = (unsigned char *)halves_new((size_t)stride * 2);
    uint64_t *written = wire_get(call->out, "padding", WIRE_U64, NULL);
    written[call->i] = 0;
    for (int i = 0; i < call->c->N && stride > call->c->C; i++) {
        device_download(call->device, bytes, (const char *)from + (size_t)i * row, row);
        for (size_t k = (size_t)call->c->C * element; k < row; k++) {
            written[call->i] += bytes[k] != 0xFF;
        }
    }
    free(bytes);
}

static void call_rows_out(const Call *call, const char *tensor, const Real *from, int stride) {
    if (stride == call->c->C) {
        call_real_out(call, tensor, from);
        return;
    }
    size_t n, V = (size_t)call->c->C, element = precision_bytes(call->c->precision);
    float *to = call_wanted(call, tensor, &n);
    uint16_t *bits = halves_new(V);
    for (size_t row = 0; row < (size_t)call->c->N; row++, to += V) {
        const char *at = (const char *)from + row * (size_t)stride * element;
        if (call->c->precision == F32) {
            device_download(call->device, to, at, V * element);
            continue;
        }
        device_download(call->device, bits, at, V * element);
        for (size_t v = 0; v < V; v++) {
            to[v] = call->c->precision == F16 ? half_to_float(bits[v]) : bf16_to_float(bits[v]);
        }
    }
    free(bits);
}

static Workspace call_workspace(const Call *call, size_t floats) {
    return (Workspace){.data = call_float_new(call, floats),
                       .bytes = floats * sizeof(float),
                       .threads = call->device->threads,
                       .blas = call->device->blas};
}

/* ---- the ops --------------------------------------------------------------------------------- */

/* The case's numbers, cut into the tensors of a list. */
typedef struct KernelGiven {
    float *data[KERNEL_TENSORS];
    size_t n[KERNEL_TENSORS];
    TensorList list;
} KernelGiven;

static KernelGiven call_list_in(const Call *call, const char *tensor) {
    size_t n;
    const float *values = call_given(call, tensor, &n);
    TensorEntry entry[KERNEL_TENSORS];
    KernelGiven list;
    kernel_cut(call->c->N, list.n);
    for (int i = 0; i < KERNEL_TENSORS; values += list.n[i++]) {
        list.data[i] = call_upload(call, values, list.n[i] * sizeof *values);
        bool decays = kernel_decays(i) == (strcmp(tensor, "weight") == 0);
        entry[i] = (TensorEntry){.data = list.data[i], .n = list.n[i], .decays = decays};
    }
    size_t length = tensors_index(entry, KERNEL_TENSORS);
    list.list = (TensorList){call_upload(call, entry, sizeof entry), KERNEL_TENSORS, n, length};
    return list;
}

static void call_list_out(const Call *call, const char *tensor, const KernelGiven *from) {
    size_t n;
    float *to = call_wanted(call, tensor, &n);
    for (int i = 0; i < KERNEL_TENSORS; to += from->n[i++]) {
        device_download(call->device, to, from->data[i], from->n[i] * sizeof *to);
    }
}

/* As doubles, and rounded, as all other tensors come back. */
static void call_partials_out(const Call *call, const void *partial) {
    size_t blocks;
    char name[WIRE_NAME];
    float *to = call_wanted(call, "partial", &blocks);
    double *sums =
        wire_get(call->out, kernel_tensor(name, "double", call->i, call->c), WIRE_F64, NULL);
    device_download(call->device, sums, partial, blocks * sizeof *sums);
    for (size_t i = 0; i < blocks; i++) {
        to[i] = (float)sums[i];
    }
}

/* A call whose earlier holes are passed over: the judge gives what they should have left. */
static struct {
    const Call *call;
    void *partial; /* the workspace */
} given;

/* In place of the task that writes the partial sums; no other leaves what a later one needs. */
static void give_partials(int task) {
    char name[WIRE_NAME];
    size_t bytes;
    if (task == PARTIALS_OF_SUMSQ || task == PARTIALS_OF_LAYERNORM) {
        kernel_tensor(name, "left", given.call->i, given.call->c);
        const void *left = wire_get(given.call->in, name, WIRE_BYTES, &bytes);
        device_upload(given.call->device, given.partial, left, bytes);
    }
}

static void call_begin(const Call *call, int task, int later, void *partial) {
    later_task = later;
    graded_task = task;
    given.call = call;
    given.partial = partial;
    earlier_hole = give_partials;
}

static void sumsq_until(const Call *call, int task, int later) {
    KernelGiven x = call_list_in(call, "x");
    size_t bytes = sumsq_scratch(x.list.length);
    Workspace scratch = call_workspace(call, bytes / sizeof(float));
    float *out = call_float_in(call, "out");
    call_begin(call, task, later, scratch.data);
    if (setjmp(at_hole) == 0) {
        call->ops->sumsq(out, x.list, &scratch);
    }
    if (later > 0) {
        call_partials_out(call, scratch.data);
    } else {
        call_float_out(call, "out", out);
    }
}

static void run_sumsq_partials(const Call *call) {
    sumsq_until(call, 1, 2);
}

static void run_sumsq_out(const Call *call) {
    sumsq_until(call, 2, 0);
}

static void run_sumsq(const Call *call) {
    sumsq_until(call, 0, 0);
}

static void run_adamw(const Call *call) {
    KernelGiven weight = call_list_in(call, "weight"), m = call_list_in(call, "m"),
                v = call_list_in(call, "v");
    KernelGiven grad = call_list_in(call, "grad");
    call->ops->adamw(weight.list, m.list, v.list, grad.list, call->c->adamw, call->c->t);
    call_list_out(call, "weight", &weight);
    call_list_out(call, "m", &m);
    call_list_out(call, "v", &v);
    call_list_out(call, "grad", &grad);
}

static void run_crossentropy_forward(const Call *call) {
    int N = call->c->N, V = call->c->C, stride = call->c->stride;
    float *losses = call_float_new(call, (size_t)N), *lse = call_float_new(call, (size_t)N);
    call->ops->crossentropy_forward(losses, lse, call_rows_in(call, "logits", stride, true),
                                    call_ids_in(call, "targets"), N, V, stride);
    call_float_out(call, "losses", losses);
    call_float_out(call, "lse", lse);
}

static void run_crossentropy_backward(const Call *call) {
    int N = call->c->N, V = call->c->C, stride = call->c->stride;
    Real *logits = call_rows_in(call, "logits", stride, true);
    Real *dlogits = call->c->in_place ? logits : call_rows_in(call, "dlogits", stride, true);
    call->ops->crossentropy_backward(dlogits, logits, call_float_in(call, "lse"),
                                     call_ids_in(call, "targets"), call->c->dloss, N, V, stride);
    call_rows_out(call, "dlogits", dlogits, stride);
    call_padding_out(call, dlogits, stride);
    if (!call->c->in_place) {
        call_rows_out(call, "logits", logits, stride);
    }
}

/* Forward, and backward with what comes out of it. */
static void run_crossentropy(const Call *call) {
    int N = call->c->N, V = call->c->C, stride = call->c->stride;
    float *losses = call_float_new(call, (size_t)N), *lse = call_float_new(call, (size_t)N);
    Real *logits = call_rows_in(call, "logits", stride, false);
    Real *dlogits = call->c->in_place ? logits : call_rows_in(call, "dlogits", stride, false);
    const int32_t *targets = call_ids_in(call, "targets");
    call->ops->crossentropy_forward(losses, lse, logits, targets, N, V, stride);
    call->ops->crossentropy_backward(dlogits, logits, lse, targets, call->c->dloss, N, V, stride);
    call_float_out(call, "losses", losses);
    call_float_out(call, "lse", lse);
    call_rows_out(call, "dlogits", dlogits, stride);
}

/* The results of layernorm_backward to hand back, by bits. */
enum { DIN = 1, PARTIALS = 2, PARAMETERS = 4 };

static void layernorm_until(const Call *call, int task, int back) {
    Workspace scratch = call_workspace(call, 2 * LAYERNORM_BLOCKS * (size_t)call->c->C);
    Real *din = call_real_in(call, "din");
    float *dweight = call_float_in(call, "dweight"), *dbias = call_float_in(call, "dbias");
    const Real *dout = call_real_in(call, "dout"), *in = call_real_in(call, "in");
    const float *mean = call_float_in(call, "mean"), *rstd = call_float_in(call, "rstd");
    const Real *weight = call_real_in(call, "weight");
    call_begin(call, task, task == 6 || task == 7 ? task + 1 : 0, scratch.data);
    if (back & PARTIALS) {
        size_t floats = 2 * LAYERNORM_BLOCKS * (size_t)call->c->C;
        device_fill(call->device, scratch.data, PARTS_FILL, floats * sizeof(float));
    }
    if (setjmp(at_hole) == 0) {
        call->ops->layernorm_backward(din, dweight, dbias, dout, in, mean, rstd, weight, call->c->N,
                                      call->c->C, &scratch);
    }
    if (back & DIN) {
        call_real_out(call, "din", din);
    }
    if (back & PARTIALS) {
        call_float_out(call, "partial", scratch.data);
    }
    if (back & PARAMETERS) {
        call_float_out(call, "dweight", dweight);
        call_float_out(call, "dbias", dbias);
    }
}

static void run_layernorm_din(const Call *call) {
    layernorm_until(call, 6, DIN);
}

static void run_layernorm_partials(const Call *call) {
    layernorm_until(call, 7, PARTIALS);
}

static void run_layernorm_parameters(const Call *call) {
    layernorm_until(call, 8, PARAMETERS);
}

static void run_layernorm(const Call *call) {
    layernorm_until(call, 0, DIN | PARAMETERS);
}

/* ---- all cases, and what the simulator has seen ---------------------------------------------- */

static void kernel_cases_run(const Wire *in, Wire *out, void (*run)(const Call *call)) {
    size_t bytes;
    const KernelCase *cases = wire_get(in, "cases", WIRE_BYTES, &bytes);
    Device *device = device_gpu_new(ops_gpu);
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
}

#define CASE(op)                                                                                   \
    static void op(const Wire *in, Wire *out) {                                                    \
        kernel_cases_run(in, out, run_##op);                                                       \
    }
CASE(sumsq_partials)
CASE(sumsq_out)
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
    {"sumsq_out", sumsq_out},
    {"sumsq", sumsq},
    {"adamw", adamw},
    {"crossentropy_forward", crossentropy_forward},
    {"crossentropy_backward", crossentropy_backward},
    {"crossentropy", crossentropy},
    {"layernorm_din", layernorm_din},
    {"layernorm_partials", layernorm_partials},
    {"layernorm_parameters", layernorm_parameters},
    {"layernorm", layernorm},
    {"sumsq_launches", launches_sumsq},
    {"adamw_launches", launches_adamw},
    {"crossentropy_launches", launches_crossentropy},
    {"layernorm_launches", launches_layernorm},
    {"sumsq_many", many_sumsq},
    {"adamw_many", many_adamw},
    {"crossentropy_forward_many", many_crossentropy_forward},
    {"crossentropy_backward_many", many_crossentropy_backward},
    {"layernorm_many", many_layernorm},
    {NULL, NULL},
};
