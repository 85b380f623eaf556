#include "grader/labs/02_kernels/part_many.h"

#include "grader/probe_launches.h"
#include "kernels/adamw.h"
#include "kernels/layernorm.h"

/* Numbers of a row. With LOGITS crossentropy's backward has more than 65535 blocks. */
enum { FEW_LOGITS = 8, LOGITS = 72, CHANNELS = 1 };

enum { PIECE = 1 << 20, PIECES = 256 };

static size_t many(const LaunchCall *call) {
    return *(const uint64_t *)wire_get(call->in, "many", WIRE_U64, NULL);
}

static const Ops *float_ops(const LaunchCall *call) {
    return &call->device->ops[F32];
}

static void *unset_numbers(const LaunchCall *call, size_t numbers) {
    return memory_alloc(call->memory, MEMORY_ACTIVATIONS, "probe", -1, numbers * sizeof(float));
}

/* A list of tensors of PIECE numbers, which are the same ones in all: a list takes no more memory
   than one tensor. */
static TensorList list_of_many(const LaunchCall *call) {
    TensorEntry entry[PIECES];
    int count = (int)(many(call) / PIECE);
    CHECK(count <= PIECES, "%d tensors", count);
    float *data = unset_numbers(call, PIECE);
    for (int i = 0; i < count; i++) {
        entry[i] = (TensorEntry){.data = data, .n = PIECE, .decays = true};
    }
    size_t length = tensors_index(entry, count);
    TensorEntry *table = unset_numbers(call, PIECES * sizeof *table / sizeof(float));
    device_upload(call->device, table, entry, (size_t)count * sizeof *table);
    return (TensorList){table, count, many(call), length};
}

static Workspace workspace_of(const LaunchCall *call, size_t bytes) {
    Workspace workspace = launch_workspace(call, bytes);
    workspace.data = unset_numbers(call, bytes / sizeof(float));
    return workspace;
}

static void run_many_sumsq(const LaunchCall *call) {
    TensorList x = list_of_many(call);
    Workspace workspace = workspace_of(call, sumsq_scratch(x.length));
    float_ops(call)->sumsq(unset_numbers(call, 1), x, &workspace);
}

static void run_many_adamw(const LaunchCall *call) {
    TensorList x = list_of_many(call);
    float_ops(call)->adamw(x, x, x, x, (AdamW){.learning_rate = 0.1f, .epsilon = 1e-8f}, 1);
}

/* Token 0 for each row. */
static const int32_t *targets_of(const LaunchCall *call) {
    return memory_alloc_zero(call->memory, MEMORY_ACTIVATIONS, "probe", -1,
                             many(call) * sizeof(int32_t));
}

static void run_many_crossentropy_forward(const LaunchCall *call) {
    size_t N = many(call);
    float_ops(call)->crossentropy_forward(unset_numbers(call, N), unset_numbers(call, N),
                                          unset_numbers(call, N * FEW_LOGITS), targets_of(call),
                                          (int)N, FEW_LOGITS, FEW_LOGITS);
}

static void run_many_crossentropy_backward(const LaunchCall *call) {
    size_t N = many(call);
    Real *logits = unset_numbers(call, N * LOGITS);
    float_ops(call)->crossentropy_backward(logits, logits, unset_numbers(call, N), targets_of(call),
                                           1, (int)N, LOGITS, LOGITS);
}

static void run_many_layernorm(const LaunchCall *call) {
    size_t N = many(call), n = N * CHANNELS;
    Workspace workspace =
        workspace_of(call, 2 * LAYERNORM_BLOCKS * (size_t)CHANNELS * sizeof(float));
    float_ops(call)->layernorm_backward(
        unset_numbers(call, n), unset_numbers(call, CHANNELS), unset_numbers(call, CHANNELS),
        unset_numbers(call, n), unset_numbers(call, n), unset_numbers(call, N),
        unset_numbers(call, N), unset_numbers(call, CHANNELS), (int)N, CHANNELS, &workspace);
}

#define CASE(op)                                                                                   \
    void many_##op(const Wire *in, Wire *out) {                                                    \
        (void)out;                                                                                 \
        launch_run(in, run_many_##op);                                                             \
    }
CASE(sumsq)
CASE(adamw)
CASE(crossentropy_forward)
CASE(crossentropy_backward)
CASE(layernorm)
