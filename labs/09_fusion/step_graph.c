/* Lab 09: a training step as one CUDA graph. The contract is in labs/09_fusion/contract.h, what is
   given in common/graphed.h. */
#include <cuda_runtime.h>
#include <math.h>

#include "common/graphed.h"
#include "common/lab.h"
#include "labs/03_accumulate/contract.h"
#include "labs/05_fp16/contract.h"
#include "labs/09_fusion/contract.h"

#define EXPECT(call)                                                                               \
    do {                                                                                           \
        cudaError_t error_ = (call);                                                               \
        CHECK(error_ == cudaSuccess, "graph: %s", cudaGetErrorString(error_));                     \
    } while (0)

/* ---- what is captured ------------------------------------------------------------------------ */

/* Called by the head of each pass: its losses, (B, T) of graphed->losses for each micro-batch. */
static void take_losses(void *context, const Pass *pass) {
    Graphed *graphed = context;
    size_t N = (size_t)pass->B * (size_t)pass->T;
    (void)graphed, (void)N;
    TODO("task 5: this micro-batch's losses, to their place (about 2 lines)");
}

/* An op has no context, and this is one for as long as a capture lasts. */
static const Graphed *capturing;

/* adamw() of a captured step: rate and t are not known yet. */
static void captured_adamw(TensorList weight, TensorList m, TensorList v, TensorList grad,
                           AdamW adamw, int t) {
    (void)t;
    control_adamw(weight, m, v, grad, adamw, capturing->device_control, capturing->device_result);
}

/* The micro-batches: `ids` on the device is the place for each one's in turn. */
static void capture_window(Graphed *graphed, int32_t *ids) {
    const GraphedKey *key = &graphed->key;
    size_t N = (size_t)key->B * (size_t)key->T;
    Batch batch = {.B = key->B, .T = key->T, .tokens = ids, .targets = ids + N, .on_device = true};
    (void)batch;
    TODO("task 5: for each, its ids from graphed->ids, forward, backward (about 6 lines)");
}

/* The end of the window, as labs 03 and 05 have it, and nothing of it decided on the host. */
static void capture_update(Graphed *graphed) {
    const Trainer *trainer = graphed->trainer;
    Model *model = trainer->model;
    Optimizer *optimizer = trainer->optimizer;
    StepResult *result = graphed->device_result;
    device_fill(model->device, result, 0, sizeof *result);
    (void)optimizer;
    TODO("task 6: unscale, norm, clip, step, weights, zero: all of it launched (about 12 lines)");
}

/* The graph of a step with the present key. */
static cudaGraph_t capture(Graphed *graphed) {
    Model *model = graphed->trainer->model;
    size_t ids_bytes = 2 * (size_t)graphed->key.B * (size_t)graphed->key.T * sizeof(int32_t);
    cudaGraph_t graph = NULL;
    capturing = graphed;
    graphed_begin(graphed, captured_adamw, take_losses);
    MemoryMark mark = memory_mark(model->memory);
    int32_t *ids = memory_alloc(model->memory, MEMORY_DATA, "ids", -1, ids_bytes);
    (void)ids, (void)capture_window, (void)capture_update;
    TODO("task 5: capture the masks' base, the two copies, window and update (about 10 lines)");
    memory_release(model->memory, mark);
    graphed_end(graphed);
    return graph;
}

/* ---- a window -------------------------------------------------------------------------------- */

/* Before a launch: the control block of this step. */
static void fill_control(const Graphed *graphed) {
    const Trainer *trainer = graphed->trainer;
    StepControl *control = graphed->control;
    (void)trainer, (void)control;
    TODO("task 6: stream, rate and corrections of this step (about 6 lines)");
}

/* After a launch: what the host would know after an eager step, and what it would have changed. */
static void finish(const Graphed *graphed, StepReport *report) {
    Trainer *trainer = graphed->trainer;
    const StepResult *result = graphed->result;
    const StepControl *control = graphed->control;
    trainer->model->block_forwards += graphed->forwards;
    (void)result, (void)control, (void)report;
    TODO("task 6: the report; stream, scaler, t and schedule move on (about 11 lines)");
}

StepReport step_graph_run(Graphed *graphed, const Batch *batches, int count) {
    CHECK(count >= 1, "a window of %d micro-batches", count);
    GraphedKey key = graphed_key(graphed->trainer, batches, count);
    if (key.B == 0) {
        return accumulate_window(graphed->trainer, batches, count);
    }
    if (!graphed_knows(graphed, key)) {
        graphed_watch(graphed);
        StepReport report = accumulate_window(graphed->trainer, batches, count);
        graphed_watched(graphed, key);
        return report;
    }
    (void)capture, (void)fill_control;
    TODO("task 5: capture where that is needed; ids, control block, launch, wait (about 9 lines)");
    StepReport report = graphed_report(graphed, batches);
    finish(graphed, &report);
    return report;
}
