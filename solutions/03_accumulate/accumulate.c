/* Lab 03: one large batch as several small ones. Contracts: labs/03_accumulate/contract.h. */
#include "labs/03_accumulate/contract.h"

#include "common/lab.h"

/* The weight of each valid target in the gradient of a window, for the mean of all of them. */
static float share_of(size_t tokens) {
    float share = 0;
#ifndef STUB
    share = tokens > 0 ? 1.0f / (float)tokens : 0;
#else
    (void)tokens;
    TODO("task 1: the share of one of the window's valid targets (about 1 line)");
#endif
    return share;
}

/* Once for each window, when its gradients are complete. */
static void update(Trainer *trainer, StepReport *report) {
    if (trainer->update != NULL) { /* a technique has its own end of a window: lab 05 */
        trainer->update(trainer, report);
        return;
    }
#ifndef STUB
    report->grad_norm = optimizer_clip(trainer->model, trainer->max_grad_norm);
    report->learning_rate = schedule_rate(&trainer->schedule);
    optimizer_step(trainer->optimizer, report->learning_rate);
    model_zero_grad(trainer->model);
#else
    TODO("task 1: clip, update with the schedule's rate, gradients back to zero (about 4 lines)");
#endif
}

/* ---- level 1: by hand ------------------------------------------------------------------------ */

StepReport accumulate_window(Trainer *trainer, const Batch *batches, int count) {
    StepReport report = {0};
    CHECK(count >= 1, "a window of %d micro-batches", count);

    /* Count first: the share must be known before the first backward. */
#ifndef STUB
    for (int i = 0; i < count; i++) {
        report.tokens += (size_t)batches[i].valid;
    }
#else
    (void)batches;
    TODO("task 1: the valid targets of the whole window (about 3 lines)");
#endif

    /* Backward adds: after the last micro-batch, the gradient is the window's. */
    float share = share_of(report.tokens);
#ifndef STUB
    for (int i = 0; i < count; i++) {
        report.loss += trainer_forward(trainer, &batches[i]);
        trainer_backward(trainer, share);
    }
    report.loss *= (double)share;
#else
    (void)share;
    TODO("task 1: forward and backward of each micro-batch, the mean loss (about 5 lines)");
#endif

    update(trainer, &report);
    if (!report.skipped) {
        schedule_tick(&trainer->schedule);
    }
    return report;
}

/* ---- level 2: an object that keeps count ----------------------------------------------------- */

void accumulator_init(Accumulator *accumulator, Trainer *trainer, int micros) {
    CHECK(micros >= 1, "a window of %d micro-batches", micros);
    *accumulator = (Accumulator){.trainer = trainer, .micros = micros};
}

bool accumulator_open(Accumulator *accumulator, const Data *data) {
    CHECK(accumulator->window == 0, "the window before has not ended: accumulator_step() ends it");
    CHECK(!accumulator->sync_gradients && accumulator->micro == 0,
          "the window before is still marked complete: accumulator_step() leaves none open");
#ifndef STUB
    size_t left = data_batches_left(data);
    if (left == 0) {
        return false;
    }
    accumulator->window = left < (size_t)accumulator->micros ? (int)left : accumulator->micros;
    accumulator->tokens = data_window_tokens(data, accumulator->window);
    accumulator->micro = 0;
#else
    (void)data;
    TODO("task 2: how many micro-batches and valid targets will the window have? (about 7 lines)");
#endif
    return true;
}

void accumulator_micro(Accumulator *accumulator, const Batch *batch) {
    CHECK(accumulator->window > 0, "no window is open");
    CHECK(!accumulator->sync_gradients, "the window is complete: accumulator_step() comes next");
#ifndef STUB
    accumulator->loss += trainer_forward(accumulator->trainer, batch);
    trainer_backward(accumulator->trainer, share_of(accumulator->tokens));
    accumulator->micro++;
    accumulator->sync_gradients = accumulator->micro == accumulator->window;
#else
    (void)batch;
    TODO("task 2: forward, backward with the window's share, keep count (about 4 lines)");
#endif
}

StepReport accumulator_step(Accumulator *accumulator) {
    CHECK(accumulator->sync_gradients, "the window of %d micro-batches is not complete",
          accumulator->window);
    StepReport report = {.tokens = accumulator->tokens};
#ifndef STUB
    report.loss = accumulator->loss * (double)share_of(accumulator->tokens);
    update(accumulator->trainer, &report);
    accumulator_init(accumulator, accumulator->trainer, accumulator->micros);
#else
    (void)update;
    TODO("task 2: the window's mean loss, the update, and no window is open (about 3 lines)");
#endif
    return report;
}

/* ---- level 3: by arguments ------------------------------------------------------------------- */

void train_epoch(Trainer *trainer, Data *data, int micros,
                 bool (*report)(void *context, const StepReport *step), void *context) {
    Accumulator accumulator;
    accumulator_init(&accumulator, trainer, micros);
#ifndef STUB
    bool go_on = true;
    while (go_on && accumulator_open(&accumulator, data)) {
        Batch batch;
        while (!accumulator.sync_gradients && data_next(data, &batch)) {
            accumulator_micro(&accumulator, &batch);
        }
        StepReport step = accumulator_step(&accumulator);
        if (!step.skipped) {
            schedule_tick(&trainer->schedule);
        }
        go_on = report(context, &step);
    }
#else
    (void)data, (void)report, (void)context;
    TODO("task 3: a window at a time: open, micro-batches, step, tick, report (about 12 lines)");
#endif
}
