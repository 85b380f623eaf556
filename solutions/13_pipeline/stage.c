/* Lab 13: the work of one stage. The contracts are in labs/13_pipeline/contract.h. */
#include <stdio.h>
#include <stdlib.h>

#include "common/lab.h"
#include "labs/13_pipeline/contract.h"

static bool is_first(const Pipe *pipe) {
    return pipe->stage == 0;
}

static bool is_last(const Pipe *pipe) {
    return pipe->stage == pipe->stages - 1;
}

/* ---- one micro-batch ------------------------------------------------------------------------- */

/* The stage's part of the batch, and a place for its input. */
static void begin(const Pipe *pipe, Pass *pass, const Batch *batch, bool train) {
    Batch here = *batch;
    here.tokens = is_first(pipe) ? batch->tokens : NULL;
    here.targets = is_last(pipe) ? batch->targets : NULL;
    pass_begin(pass, &here, train);
    if (!is_first(pipe)) {
        int first = pipe->model->part.first;
        pass->x[first] = pass_boundary(pass, first - 1);
    }
}

/* @return on the last stage the loss, else 0 */
static double forward(const Pipe *pipe, Pass *pass) {
    ModelPart part = pipe->model->part;
    double loss = 0;
#ifndef STUB
    /* one mask is the embedding's, each block has two */
    pass_skip_masks(pass, is_first(pipe) ? 0 : 1 + 2 * part.first);
    Real *in = is_first(pipe) ? pass_embed(pass) : pass->x[part.first];
    Real *out = model_forward_blocks(pass, part.first, part.last, in);
    pass->x[part.last] = out;
    pass_skip_masks(pass, 2 * (pipe->model->config.L - part.last));
    loss = is_last(pipe) ? pass_head_forward(pass, out) : 0;
#else
    (void)pass, (void)part;
    TODO("task 3: embedding or input, blocks, head; the masks of other stages (about 6 lines)");
#endif
    return loss;
}

static void backward(const Pipe *pipe, Pass *pass, float share) {
    ModelPart part = pipe->model->part;
#ifndef STUB
    if (is_last(pipe)) {
        pass_head_backward(pass, pass->x[part.last], share);
    }
    model_backward_blocks(pass, part.first, part.last, pass->dx);
    if (is_first(pipe)) {
        pass_embed_backward(pass);
    }
#else
    (void)pass, (void)share, (void)part;
    TODO("task 3: the same, backward (about 7 lines)");
#endif
}

/* ---- a window -------------------------------------------------------------------------------- */

/* The gradient of a pass that is over is still on its way when the next pass begins: one lane more
   than micro-batches in flight. */
static void open_lanes(PipeWindow *window, const PipePlan *plan) {
    Model *model = window->pipe->model;
    window->lanes = pipe_in_flight(plan) + 1;
    window->passes = calloc((size_t)window->lanes, sizeof *window->passes);
    CHECK(window->passes != NULL, "no memory for %d passes", window->lanes);
    for (int i = 0; i < window->lanes; i++) {
        char name[32];
        snprintf(name, sizeof name, "micro-batch %d", i);
        window->passes[i] = pass_new(model, memory_lane(model->memory, name), NULL);
    }
}

static void close_lanes(PipeWindow *window) {
    for (int i = 0; i < window->lanes; i++) {
        pass_free(&window->passes[i]);
    }
    free(window->passes);
}

static void run(PipeWindow *window, PipeWork work) {
    Pass *pass = pipe_pass(window, work);
    if (work.backward) {
        backward(window->pipe, pass, window->share);
    } else {
        window->loss += forward(window->pipe, pass);
    }
}

/* The messages of the work before are through: so is the pass, if that was its backward. */
static void finish(const PipeWindow *window, PipeWork work) {
    if (work.backward) {
        pass_end(pipe_pass(window, work));
    }
}

double pipe_window(Pipe *pipe, const Batch *batches, int count, float share) {
    PipePlan plan = {pipe->order, pipe->stages, pipe->stage, count};
    PipeWindow window = {.pipe = pipe, .batches = batches, .share = share};
    PipeWork *work = calloc(2 * (size_t)count, sizeof *work);
    CHECK(work != NULL, "no memory for %d micro-batches", count);
    pipe_order(&plan, work);
    open_lanes(&window, &plan);
    for (int i = 0; i <= 2 * count; i++) {
        const PipeWork *done = i > 0 ? &work[i - 1] : NULL;
        const PipeWork *next = i < 2 * count ? &work[i] : NULL;
#ifndef STUB
        if (next != NULL && !next->backward) {
            begin(pipe, pipe_pass(&window, *next), &batches[next->micro], true);
        }
        pipe_exchange(&window, done, next);
        if (done != NULL) {
            finish(&window, *done);
        }
        if (next != NULL) {
            run(&window, *next);
        }
#else
        (void)begin, (void)finish, (void)run, (void)done, (void)next;
        TODO("task 3: begin the pass of a forward, exchange, finish, run: in which order? (9 "
             "lines)");
#endif
    }
    close_lanes(&window);
    free(work);
    return window.loss;
}

double pipe_evaluate(Pipe *pipe, const Batch *batch) {
    Pass pass = pass_new(pipe->model, pipe->model->memory, NULL);
    PipeWindow window = {.pipe = pipe, .batches = batch, .lanes = 1, .passes = &pass};
    const PipeWork only = {0};
    begin(pipe, &pass, batch, false);
    double loss = 0;
#ifndef STUB
    pipe_exchange(&window, NULL, &only);
    loss = forward(pipe, &pass);
    pipe_exchange(&window, &only, NULL);
#else
    (void)window, (void)only;
    TODO("task 4: input, forward, output (3 lines)");
#endif
    pass_end(&pass);
    pass_free(&pass);
    return loss;
}
