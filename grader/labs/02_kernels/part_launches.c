#include "grader/labs/02_kernels/part_launches.h"

#include "common/memory.h"
#include "grader/labs/02_kernels/protocol.h"

/* A call whose kernels do not run. */
typedef struct Launches {
    const KernelCase *c;
    Device *device;
    Memory *memory;
    const Ops *ops;
} Launches;

static void launches_run(const Wire *in, void (*run)(const Launches *call)) {
    Device *device = device_gpu_new(ops_gpu);
    CHECK(device != NULL, "there is no GPU");
    Launches call = {.c = wire_get(in, "launches", WIRE_BYTES, NULL),
                     .device = device,
                     .memory = memory_new(device, (MemoryOptions){0})};
    call.ops = &device->ops[call.c->precision];
    MemoryMark mark = memory_mark(call.memory);
    run(&call);
    memory_release(call.memory, mark);
    device_synchronize(device);
    memory_free(call.memory);
    device_free(device);
}

/* An address on the device. */
static void *address(const Launches *call) {
    return memory_alloc(call->memory, MEMORY_ACTIVATIONS, "probe", -1, 64);
}

static Workspace scratch(const Launches *call, size_t bytes) {
    return (Workspace){.data = address(call),
                       .bytes = bytes,
                       .threads = call->device->threads,
                       .blas = call->device->blas};
}

/* A list of one tensor. */
static TensorList list_of(const Launches *call) {
    size_t n = (size_t)call->c->N;
    return (TensorList){address(call), 1, n, tensor_indices(n)};
}

static void launch_sumsq(const Launches *call) {
    TensorList x = list_of(call);
    Workspace workspace = scratch(call, sumsq_scratch(x.length));
    call->ops->sumsq(address(call), x, &workspace);
}

static void launch_adamw(const Launches *call) {
    call->ops->adamw(list_of(call), list_of(call), list_of(call), list_of(call), call->c->adamw,
                     call->c->t);
}

static void launch_crossentropy(const Launches *call) {
    int N = call->c->N, V = call->c->C, stride = call->c->stride;
    Real *logits = address(call);
    float *lse = address(call);
    const int32_t *targets = address(call);
    call->ops->crossentropy_forward(address(call), lse, logits, targets, N, V, stride);
    call->ops->crossentropy_backward(logits, logits, lse, targets, call->c->dloss, N, V, stride);
}

static void launch_layernorm(const Launches *call) {
    int N = call->c->N, C = call->c->C;
    Workspace workspace = scratch(call, 2 * LAYERNORM_BLOCKS * (size_t)C * sizeof(float));
    call->ops->layernorm_backward(address(call), address(call), address(call), address(call),
                                  address(call), address(call), address(call), address(call), N, C,
                                  &workspace);
}

#define CASE(op)                                                                                   \
    void launches_##op(const Wire *in, Wire *out) {                                                \
        (void)out;                                                                                 \
        launches_run(in, launch_##op);                                                             \
    }
CASE(sumsq)
CASE(adamw)
CASE(crossentropy)
CASE(layernorm)
