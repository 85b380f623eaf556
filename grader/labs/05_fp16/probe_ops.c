/* Lab 05's two ops on the simulated GPU: a program of its own, without the ops of the CPU. */
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "grader/labs/05_fp16/protocol.h"
#include "grader/probe.h"
#include "grader/probe_launches.h"

static float *op_floats(const Wire *wire, const char *name) {
    return wire_get(wire, name, WIRE_F32, NULL);
}

typedef struct OpCall {
    const Wire *in;
    Wire *out;
    int i;
    OpCase c;
    Device *device;
    Memory *memory;
} OpCall;

static void *op_tensor(const OpCall *call, const void *values, size_t bytes) {
    void *data = memory_alloc(call->memory, MEMORY_ACTIVATIONS, "probe", -1, bytes);
    if (values != NULL) {
        device_upload(call->device, data, values, bytes);
    }
    return data;
}

static float *op_given(const OpCall *call) {
    char name[WIRE_NAME];
    return op_tensor(call, op_floats(call->in, op_name(name, "in", call->i)),
                     (size_t)call->c.n * sizeof(float));
}

/* The numbers that the cast has given, as floats again. */
static void op_call_back(const OpCall *call, const Real *from) {
    char name[WIRE_NAME];
    size_t n = (size_t)call->c.n;
    float *to = op_tensor(call, NULL, n * sizeof *to);
    call->device->ops[call->c.precision].cast_to_float(to, from, n);
    device_download(call->device, op_floats(call->out, op_name(name, "back", call->i)), to,
                    n * sizeof *to);
}

static void op_call_cast(const OpCall *call) {
    char name[WIRE_NAME];
    Precision precision = (Precision)call->c.precision;
    size_t n = (size_t)call->c.n, bytes = precision_bytes(precision);
    Real *to = op_tensor(call, NULL, n * bytes);
    call->device->ops[precision].cast_from_float(to, op_given(call), n);
    unsigned char *raw = malloc(n * bytes + 1);
    CHECK(raw != NULL, "no host memory for %zu numbers", n);
    device_download(call->device, raw, to, n * bytes);
    uint64_t *bits = wire_get(call->out, op_name(name, "bits", call->i), WIRE_U64, NULL);
    for (size_t i = 0; i < n; i++) {
        bits[i] = 0;
        memcpy(&bits[i], raw + i * bytes, bytes); /* as on any little-endian machine */
    }
    free(raw);
    if (call->c.back) {
        op_call_back(call, to);
    }
}

static void op_call_unscale(const OpCall *call) {
    char name[WIRE_NAME];
    size_t n = (size_t)call->c.n;
    float *grad = op_given(call), *found = op_tensor(call, &call->c.found_inf, sizeof(float));
    call->device->ops[F32].unscale(grad, n, call->c.inv_scale, found);
    device_download(call->device, op_floats(call->out, op_name(name, "out", call->i)), grad,
                    n * sizeof *grad);
    device_download(call->device, op_floats(call->out, "found_inf") + call->i, found,
                    sizeof *found);
}

static void op_cases_run(const Wire *in, Wire *out, void (*run)(const OpCall *call)) {
    size_t bytes;
    const OpCase *cases = wire_get(in, "cases", WIRE_BYTES, &bytes);
    Device *device = device_gpu_new(ops_gpu);
    CHECK(device != NULL, "there is no GPU");
    Memory *memory = memory_new(device, (MemoryOptions){.checked = !device->simulated});
    for (int i = 0; i < (int)(bytes / sizeof *cases); i++) {
        MemoryMark mark = memory_mark(memory);
        OpCall call = {in, out, i, cases[i], device, memory};
        run(&call);
        memory_release(memory, mark);
    }
    device_synchronize(device);
    memory_free(memory);
    device_free(device);
}

static size_t op_numbers(const LaunchCall *call) {
    return *(const uint64_t *)wire_get(call->in, "many", WIRE_U64, NULL);
}

static void launch_cast(const LaunchCall *call) {
    call->device->ops[F16].cast_from_float(launch_address(call), launch_address(call),
                                           op_numbers(call));
}

static void launch_unscale(const LaunchCall *call) {
    call->device->ops[F32].unscale(launch_address(call), op_numbers(call), 1, launch_address(call));
}

static void op_cast_launches(const Wire *in, Wire *out) {
    (void)out;
    launch_run(in, launch_cast);
}

static void op_unscale_launches(const Wire *in, Wire *out) {
    (void)out;
    launch_run(in, launch_unscale);
}

static void op_cast(const Wire *in, Wire *out) {
    op_cases_run(in, out, op_call_cast);
}

static void op_unscale(const Wire *in, Wire *out) {
    op_cases_run(in, out, op_call_unscale);
}

const ProbeCase probe_cases[] = {{"cast", op_cast},
                                 {"unscale", op_unscale},
                                 {"cast_launches", op_cast_launches},
                                 {"unscale_launches", op_unscale_launches},
                                 {NULL, NULL}};
