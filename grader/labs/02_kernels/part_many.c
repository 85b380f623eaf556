#include "grader/labs/02_kernels/part_many.h"

#include "grader/probe_launches.h"
#include "kernels/adamw.h"
#include "kernels/layernorm.h"

/* Numbers of a row: in crossentropy so many that backward has more blocks than 65535. */
enum { FEW_LOGITS = 8, LOGITS = 72, CHANNELS = 1 };

enum { PIECE = 1 << 20, PIECES = 256 };

static size_t many(const LaunchCall *call) {
    return *(const uint64_t *)wire_get(call->in, "many", WIRE_U64, NULL);
}

static const Ops *ops_of(const LaunchCall *call) {
    return &call->device->ops[F32];
}

static void *not_set(const LaunchCall *call, size_t numbers) {
    return memory_alloc(call->memory, MEMORY_ACTIVATIONS, "probe", -1, numbers * sizeof(float));
}

/* A list of tensors of PIECE numbers, which are the same ones in all: a list takes no more memory
   than one tensor. */
static TensorList list_of_many(const LaunchCall *call) {
    TensorEntry entry[PIECES];
    int count = (int)(many(call) / PIECE);
    CHECK(count <= PIECES, "%d tensors", count);
    float *data = not_set(call, PIECE);
    for (int i = 0; i < count; i++) {
        entry[i] = (TensorEntry){.data = data, .n = PIECE, .decays = true};
    }
    size_t length = tensors_index(entry, count);
    TensorEntry *table = not_set(call, PIECES * sizeof *table / sizeof(float));
    device_upload(call->device, table, entry, (size_t)count * sizeof *table);
    return (TensorList){table, count, many(call), length};
}

static Workspace workspace_of(const LaunchCall *call, size_t bytes) {
    Workspace workspace = launch_workspace(call, bytes);
    workspace.data = not_set(call, bytes / sizeof(float));
    return workspace;
}

static void run_sumsq(const LaunchCall *call) {
    TensorList x = list_of_many(call);
    Workspace workspace = workspace_of(call, sumsq_scratch(x.length));
    ops_of(call)->sumsq(not_set(call, 1), x, &workspace);
}

static void run_adamw(const LaunchCall *call) {
    TensorList x = list_of_many(call);
    ops_of(call)->adamw(x, x, x, x, (AdamW){.learning_rate = 0.1f, .epsilon = 1e-8f}, 1);
}

/* Token 0 for each row. */
static const int32_t *targets_of(const LaunchCall *call) {
    return memory_alloc_zero(call->memory, MEMORY_ACTIVATIONS, "probe", -1,
                             many(call) * sizeof(int32_t));
}

static void run_crossentropy_forward(const LaunchCall *call) {
    size_t N = many(call);
    ops_of(call)->crossentropy_forward(not_set(call, N), not_set(call, N),
                                       not_set(call, N * FEW_LOGITS), targets_of(call), (int)N,
                                       FEW_LOGITS, FEW_LOGITS);
}

static void run_crossentropy_backward(const LaunchCall *call) {
    size_t N = many(call);
    Real *logits = not_set(call, N * LOGITS);
    ops_of(call)->crossentropy_backward(logits, logits, not_set(call, N), targets_of(call), 1,
                                        (int)N, LOGITS, LOGITS);
}

static void run_layernorm(const LaunchCall *call) {
    size_t N = many(call), n = N * CHANNELS;
    Workspace workspace =
        workspace_of(call, 2 * LAYERNORM_BLOCKS * (size_t)CHANNELS * sizeof(float));
    ops_of(call)->layernorm_backward(not_set(call, n), not_set(call, CHANNELS),
                                     not_set(call, CHANNELS), not_set(call, n), not_set(call, n),
                                     not_set(call, N), not_set(call, N), not_set(call, CHANNELS),
                                     (int)N, CHANNELS, &workspace);
}

#define CASE(op)                                                                                   \
    void many_##op(const Wire *in, Wire *out) {                                                    \
        (void)out;                                                                                 \
        launch_run(in, run_##op);                                                                  \
    }
CASE(sumsq)
CASE(adamw)
CASE(crossentropy_forward)
CASE(crossentropy_backward)
CASE(layernorm)
