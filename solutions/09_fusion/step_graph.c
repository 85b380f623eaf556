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
#ifndef STUB
    EXPECT(cudaMemcpyAsync(graphed->losses + (size_t)graphed->micro * N, pass->head.losses,
                           N * sizeof(float), cudaMemcpyDeviceToHost, CAPTURE_STREAM));
#else
    (void)graphed, (void)N;
    TODO("task 5: this micro-batch's losses, to their place (about 2 lines)");
#endif
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
#ifndef STUB
    for (graphed->micro = 0; graphed->micro < key->count; graphed->micro++) {
        EXPECT(cudaMemcpyAsync(ids, graphed->ids + (size_t)graphed->micro * 2 * N,
                               2 * N * sizeof *ids, cudaMemcpyHostToDevice, CAPTURE_STREAM));
        trainer_forward(graphed->trainer, &batch);
        trainer_backward(graphed->trainer, key->share);
    }
#else
    (void)batch;
    TODO("task 5: for each, its ids from graphed->ids, forward, backward (about 6 lines)");
#endif
}

/* The end of the window, as labs 03 and 05 have it, and nothing of it decided on the host. */
static void capture_update(Graphed *graphed) {
    const Trainer *trainer = graphed->trainer;
    Model *model = trainer->model;
    Optimizer *optimizer = trainer->optimizer;
    StepResult *result = graphed->device_result;
    device_fill(model->device, result, 0, sizeof *result);
#ifndef STUB
    for (int i = 0; trainer->mixed != NULL && i < model->param_count; i++) {
        const Param *param = &model->params[i];
        model->ops->unscale(param->grad, param->count, 1 / graphed->key.scale, &result->found);
    }
    model->ops->sumsq(&result->sum, model->grads, &model->workspace);
    control_clip(result, trainer->max_grad_norm);
    optimizer_step(optimizer, 0); /* the rate is in the control block */
    for (int i = 0; optimizer->master != NULL && i < model->param_count; i++) {
        const Param *param = &model->params[i];
        model->ops->cast_from_float(param->weight, optimizer->master[i], param->count);
    }
    model_zero_grad(model);
#else
    (void)optimizer;
    TODO("task 6: unscale, norm, clip, step, weights, zero: all of it launched (about 12 lines)");
#endif
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
#ifndef STUB
    StepControl *control = graphed->device_control;
    model->dropout_base = &control->dropout_offset;
    EXPECT(cudaStreamBeginCapture(CAPTURE_STREAM, cudaStreamCaptureModeGlobal));
    EXPECT(cudaMemcpyAsync(control, graphed->control, sizeof *control, cudaMemcpyHostToDevice,
                           CAPTURE_STREAM));
    capture_window(graphed, ids);
    capture_update(graphed);
    EXPECT(cudaMemcpyAsync(graphed->result, graphed->device_result, sizeof(StepResult),
                           cudaMemcpyDeviceToHost, CAPTURE_STREAM));
    EXPECT(cudaStreamEndCapture(CAPTURE_STREAM, &graph));
#else
    (void)ids, (void)capture_window, (void)capture_update;
    TODO("task 5: capture the masks' base, the two copies, window and update (about 10 lines)");
#endif
    memory_release(model->memory, mark);
    graphed_end(graphed);
    return graph;
}

/* ---- a window -------------------------------------------------------------------------------- */

/* Before a launch: the control block of this step. */
static void fill_control(const Graphed *graphed) {
    const Trainer *trainer = graphed->trainer;
    StepControl *control = graphed->control;
#ifndef STUB
    const AdamW *adamw = &trainer->optimizer->adamw;
    int t = trainer->optimizer->t + 1;
    control->dropout_offset = trainer->model->rng.offset;
    control->learning_rate = schedule_rate(&trainer->schedule);
    control->correct1 = (float)(1 / (1 - pow((double)adamw->beta1, t)));
    control->correct2 = (float)(1 / (1 - pow((double)adamw->beta2, t)));
#else
    (void)trainer, (void)control;
    TODO("task 6: stream, rate and corrections of this step (about 6 lines)");
#endif
}

/* After a launch: what the host would know after an eager step, and what it would have changed. */
static void finish(const Graphed *graphed, StepReport *report) {
    Trainer *trainer = graphed->trainer;
    const StepResult *result = graphed->result;
    const StepControl *control = graphed->control;
    trainer->model->block_forwards += graphed->forwards;
#ifndef STUB
    report->grad_norm = result->norm;
    report->learning_rate = control->learning_rate;
    report->skipped = result->found != 0;
    trainer->model->rng.offset += graphed->counters;
    if (trainer->mixed != NULL && trainer->mixed->dynamic) {
        scaler_update(&trainer->mixed->scaler, report->skipped);
    }
    if (!report->skipped) {
        trainer->optimizer->t++;
        schedule_tick(&trainer->schedule);
    }
#else
    (void)result, (void)control, (void)report;
    TODO("task 6: the report; stream, scaler, t and schedule move on (about 11 lines)");
#endif
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
#ifndef STUB
    bool stale = key.share != graphed->key.share || key.scale != graphed->key.scale;
    if (graphed->exec == NULL || stale) {
        graphed->key = key;
        graphed_take(graphed, capture(graphed));
    }
    graphed_give_ids(graphed, batches);
    fill_control(graphed);
    EXPECT(cudaGraphLaunch(graphed->exec, CAPTURE_STREAM));
    EXPECT(cudaStreamSynchronize(CAPTURE_STREAM));
#else
    (void)capture, (void)fill_control;
    TODO("task 5: capture where that is needed; ids, control block, launch, wait (about 9 lines)");
#endif
    StepReport report = graphed_report(graphed, batches);
    finish(graphed, &report);
    return report;
}
