#include "grader/labs/02_kernels/part_launches.h"

#include "grader/labs/02_kernels/protocol.h"
#include "grader/probe_launches.h"

static const KernelCase *case_of(const LaunchCall *call) {
    return wire_get(call->in, "launches", WIRE_BYTES, NULL);
}

static const Ops *ops_of(const LaunchCall *call) {
    return &call->device->ops[case_of(call)->precision];
}

static TensorList list_of(const LaunchCall *call) {
    return launch_list(call, (size_t)case_of(call)->N);
}

static void launch_sumsq(const LaunchCall *call) {
    TensorList x = list_of(call);
    Workspace workspace = launch_workspace(call, sumsq_scratch(x.length));
    ops_of(call)->sumsq(launch_address(call), x, &workspace);
}

static void launch_adamw(const LaunchCall *call) {
    const KernelCase *c = case_of(call);
    ops_of(call)->adamw(list_of(call), list_of(call), list_of(call), list_of(call), c->adamw, c->t);
}

static void launch_crossentropy(const LaunchCall *call) {
    const KernelCase *c = case_of(call);
    Real *logits = launch_address(call);
    float *lse = launch_address(call);
    const int32_t *targets = launch_address(call);
    ops_of(call)->crossentropy_forward(launch_address(call), lse, logits, targets, c->N, c->C,
                                       c->stride);
    ops_of(call)->crossentropy_backward(logits, logits, lse, targets, c->dloss, c->N, c->C,
                                        c->stride);
}

static void launch_layernorm(const LaunchCall *call) {
    int N = case_of(call)->N, C = case_of(call)->C;
    Workspace workspace = launch_workspace(call, 2 * LAYERNORM_BLOCKS * (size_t)C * sizeof(float));
    ops_of(call)->layernorm_backward(launch_address(call), launch_address(call),
                                     launch_address(call), launch_address(call),
                                     launch_address(call), launch_address(call),
                                     launch_address(call), launch_address(call), N, C, &workspace);
}

#define CASE(op)                                                                                   \
    void launches_##op(const Wire *in, Wire *out) {                                                \
        (void)out;                                                                                 \
        launch_run(in, launch_##op);                                                               \
    }
CASE(sumsq)
CASE(adamw)
CASE(crossentropy)
CASE(layernorm)
