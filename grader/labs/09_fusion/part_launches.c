#include "grader/labs/09_fusion/part_launches.h"

#include "common/memory.h"
#include "kernels/tensors.h"
#include "labs/09_fusion/contract.h"

/* A call whose kernels do not run. */
typedef struct FusionCall {
    Device *device;
    Memory *memory;
    int N, C;
} FusionCall;

static void *call_address(const FusionCall *call) {
    return memory_alloc(call->memory, MEMORY_ACTIVATIONS, "probe", -1, 64);
}

/* A list of one tensor. */
static TensorList call_list(const FusionCall *call) {
    size_t n = (size_t)call->N * (size_t)call->C;
    return (TensorList){call_address(call), 1, n, tensor_indices(n)};
}

static void launch_forward(const FusionCall *call) {
    call->device->ops[F32].residual_norm_forward(
        call_address(call), call_address(call), call_address(call), call_address(call),
        call_address(call), call_address(call), call_address(call), call_address(call), call->N,
        call->C, (Dropout){0});
}

static void launch_backward(const FusionCall *call) {
    size_t bytes = 2 * LAYERNORM_BLOCKS * (size_t)call->C * sizeof(float);
    Workspace workspace = {call_address(call), bytes, call->device->threads, call->device->blas};
    call->device->ops[F32].residual_norm_backward(
        call_address(call), call_address(call), call_address(call), call_address(call),
        call_address(call), call_address(call), call_address(call), call_address(call),
        call_address(call), call->N, call->C, (Dropout){0}, &workspace);
}

static void launch_clip(const FusionCall *call) {
    control_clip(call_address(call), 1);
}

static void launch_control(const FusionCall *call) {
    control_adamw(call_list(call), call_list(call), call_list(call), call_list(call), (AdamW){0},
                  call_address(call), call_address(call));
}

static void call_run(const Wire *in, void (*run)(const FusionCall *call)) {
    const int32_t *many = wire_get(in, "many", WIRE_I32, NULL);
    Device *device = probe_device(true, 0);
    FusionCall call = {.device = device,
                       .memory = memory_new(device, (MemoryOptions){0}),
                       .N = many[0],
                       .C = many[1]};
    MemoryMark mark = memory_mark(call.memory);
    run(&call);
    memory_release(call.memory, mark);
    device_synchronize(device);
    memory_free(call.memory);
    device_free(device);
}

#define CASE(op)                                                                                   \
    void launches_##op(const Wire *in, Wire *out) {                                                \
        (void)out;                                                                                 \
        call_run(in, launch_##op);                                                                 \
    }
CASE(forward)
CASE(backward)
CASE(clip)
CASE(control)
