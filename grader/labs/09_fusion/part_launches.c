#include "grader/labs/09_fusion/part_launches.h"

#include "grader/probe_launches.h"
#include "labs/09_fusion/contract.h"

/* Rows, and numbers of each. */
static const int32_t *call_sizes(const LaunchCall *call) {
    return wire_get(call->in, "many", WIRE_I32, NULL);
}

static void launch_forward(const LaunchCall *call) {
    call->device->ops[F32].residual_norm_forward(
        launch_address(call), launch_address(call), launch_address(call), launch_address(call),
        launch_address(call), launch_address(call), launch_address(call), launch_address(call),
        call_sizes(call)[0], call_sizes(call)[1], (Dropout){0});
}

static void launch_backward(const LaunchCall *call) {
    int N = call_sizes(call)[0], C = call_sizes(call)[1];
    Workspace workspace = launch_workspace(call, 2 * LAYERNORM_BLOCKS * (size_t)C * sizeof(float));
    call->device->ops[F32].residual_norm_backward(
        launch_address(call), launch_address(call), launch_address(call), launch_address(call),
        launch_address(call), launch_address(call), launch_address(call), launch_address(call),
        launch_address(call), N, C, (Dropout){0}, &workspace);
}

static void launch_clip(const LaunchCall *call) {
    control_clip(launch_address(call), 1);
}

static void launch_control(const LaunchCall *call) {
    size_t n = (size_t)call_sizes(call)[0] * (size_t)call_sizes(call)[1];
    control_adamw(launch_list(call, n), launch_list(call, n), launch_list(call, n),
                  launch_list(call, n), (AdamW){0}, launch_address(call), launch_address(call));
}

#define CASE(op)                                                                                   \
    void launches_##op(const Wire *in, Wire *out) {                                                \
        (void)out;                                                                                 \
        launch_run(in, launch_##op);                                                               \
    }
CASE(forward)
CASE(backward)
CASE(clip)
CASE(control)
