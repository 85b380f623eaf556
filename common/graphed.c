/* The host's side of a captured step. The contract is in graphed.h. */
#include "common/graphed.h"

#include <cuda_runtime.h>
#include <stdlib.h>
#include <string.h>

#define EXPECT(call)                                                                               \
    do {                                                                                           \
        cudaError_t error_ = (call);                                                               \
        CHECK(error_ == cudaSuccess, "graph: %s", cudaGetErrorString(error_));                     \
    } while (0)

static void *pinned(size_t bytes) {
    void *memory = NULL;
    EXPECT(cudaMallocHost(&memory, bytes));
    memset(memory, 0, bytes);
    return memory;
}

Graphed *graphed_new(Trainer *trainer) {
    Graphed *graphed = calloc(1, sizeof *graphed);
    CHECK(graphed != NULL, "no memory for a few bytes");
    graphed->trainer = trainer;
    graphed->room = capture_room_new(trainer->model->memory);
    graphed->control = pinned(GRAPHED_BYTES);
    graphed->result = pinned(GRAPHED_BYTES);
    /* in the room for single results, after that of a norm */
    _Static_assert(3 * GRAPHED_BYTES <= WORKSPACE_RESULT_BYTES, "no room after the result");
    graphed->device_control = (char *)trainer->model->result + GRAPHED_BYTES;
    graphed->device_result = (char *)trainer->model->result + 2 * GRAPHED_BYTES;
    return graphed;
}

static void drop_graph(Graphed *graphed) {
    if (graphed->exec != NULL) {
        EXPECT(cudaGraphExecDestroy(graphed->exec));
        graphed->exec = NULL;
    }
}

static void forget(Graphed *graphed) {
    drop_graph(graphed);
    EXPECT(cudaFreeHost(graphed->ids));
    EXPECT(cudaFreeHost(graphed->losses));
    graphed->ids = NULL;
    graphed->losses = NULL;
    graphed->key = (GraphedKey){0};
}

void graphed_free(Graphed *graphed) {
    if (graphed != NULL) {
        forget(graphed);
        cudaFreeHost(graphed->control);
        cudaFreeHost(graphed->result);
        capture_room_free(graphed->room);
        free(graphed);
    }
}

/* ---- windows --------------------------------------------------------------------------------- */

GraphedKey graphed_key(const Trainer *trainer, const Batch *batches, int count) {
    GraphedKey key = {.count = count, .B = batches[0].B, .T = batches[0].T, .scale = 1};
    size_t tokens = 0;
    for (int i = 0; i < count; i++) {
        bool same = batches[i].B == batches[0].B && batches[i].T == batches[0].T;
        key.B = same ? key.B : 0;
        tokens += (size_t)batches[i].valid;
    }
    key.share = tokens > 0 ? 1.0f / (float)tokens : 0;
    key.scale = trainer->mixed != NULL ? trainer->mixed->scaler.scale : 1;
    return key;
}

bool graphed_knows(const Graphed *graphed, GraphedKey key) {
    const GraphedKey *own = &graphed->key;
    return own->count == key.count && own->B == key.B && own->T == key.T;
}

static size_t rows_of(const GraphedKey *key) {
    return (size_t)key->B * (size_t)key->T;
}

void graphed_watch(Graphed *graphed) {
    forget(graphed);
    capture_room_watch(graphed->room);
}

void graphed_watched(Graphed *graphed, GraphedKey key) {
    size_t rows = (size_t)key.count * rows_of(&key);
    CHECK(rows > 0, "micro-batches of several shapes are not captured");
    capture_room_watched(graphed->room);
    graphed->key = key;
    graphed->ids = pinned(2 * rows * sizeof *graphed->ids);
    graphed->losses = pinned(rows * sizeof *graphed->losses);
}

void graphed_give_ids(Graphed *graphed, const Batch *batches) {
    size_t N = rows_of(&graphed->key);
    for (int i = 0; i < graphed->key.count; i++) {
        int32_t *ids = graphed->ids + (size_t)i * 2 * N;
        memcpy(ids, batches[i].tokens, N * sizeof *ids);
        memcpy(ids + N, batches[i].targets, N * sizeof *ids);
    }
}

StepReport graphed_report(const Graphed *graphed, const Batch *batches) {
    StepReport report = {0};
    size_t N = rows_of(&graphed->key);
    for (int i = 0; i < graphed->key.count; i++) {
        double sum = 0; /* as pass_losses() adds them up */
        for (size_t k = 0; k < N; k++) {
            sum += (double)graphed->losses[(size_t)i * N + k];
        }
        report.loss += sum;
        report.tokens += (size_t)batches[i].valid;
    }
    report.loss *= (double)graphed->key.share;
    return report;
}

/* ---- a capture ------------------------------------------------------------------------------- */

void graphed_begin(Graphed *graphed, adamw_fn *adamw,
                   void (*take)(void *context, const Pass *pass)) {
    Model *model = graphed->trainer->model;
    graphed->before = *model;
    graphed->t = graphed->trainer->optimizer->t;
    graphed->ops = *model->ops;
    graphed->ops.adamw = adamw;
    model->ops = &graphed->ops;
    model->rng.offset = 0;
    model->take_losses = take;
    model->losses_context = graphed;
    capture_room_open(graphed->room);
}

void graphed_end(Graphed *graphed) {
    Model *model = graphed->trainer->model;
    const Model *before = &graphed->before;
    capture_room_close(graphed->room);
    graphed->counters = model->rng.offset;
    graphed->forwards = model->block_forwards - before->block_forwards;
    model->ops = before->ops;
    model->rng = before->rng;
    model->take_losses = before->take_losses;
    model->losses_context = before->losses_context;
    model->dropout_base = before->dropout_base;
    model->block_forwards = before->block_forwards;
    graphed->trainer->optimizer->t = graphed->t;
}

void graphed_take(Graphed *graphed, void *graph) {
    cudaGraphExec_t exec;
    drop_graph(graphed);
    EXPECT(cudaGraphInstantiate(&exec, graph, 0));
    EXPECT(cudaGraphDestroy(graph));
    graphed->exec = exec;
    graphed->captures++;
}
