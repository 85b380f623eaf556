/* Lab 03: one large batch as several small ones. Contracts: labs/03_accumulate/contract.h. */
#include "labs/03_accumulate/contract.h"

#include "common/lab.h"

/* The weight of each valid target in the gradient of a window, for the mean of all of them. */
static float share_of(size_t tokens) {
    float share = 0;
    (void)tokens;
    TODO("task 1: the share of one of the window's valid targets (about 1 line)");
    return share;
}

/* Once for each window, when its gradients are complete. */
static void update(Trainer *trainer, StepReport *report) {
    if (trainer->update != NULL) { /* a technique has its own end of a window: lab 05 */
        trainer->update(trainer, report);
        return;
    }
    TODO("task 1: clip, update with the schedule's rate, gradients back to zero (about 4 lines)");
}

/* ---- level 1: by hand ------------------------------------------------------------------------ */

StepReport accumulate_window(Trainer *trainer, const Batch *batches, int count) {
    StepReport report = {0};
    CHECK(count >= 1, "a window of %d micro-batches", count);

    /* Count first: the share must be known before the first backward. */
    (void)batches;
    TODO("task 1: the valid targets of the whole window (about 3 lines)");

    /* Backward adds: after the last micro-batch, the gradient is the window's. */
    float share = share_of(report.tokens);
    (void)share;
    TODO("task 1: forward and backward of each micro-batch, the mean loss (about 5 lines)");

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
    (void)data;
    TODO("task 2: how many micro-batches and valid targets will the window have? (about 7 lines)");
    return true;
}

void accumulator_micro(Accumulator *accumulator, const Batch *batch) {
    CHECK(accumulator->window > 0, "no window is open");
    CHECK(!accumulator->sync_gradients, "the window is complete: accumulator_step() comes next");
    (void)batch;
    TODO("task 2: forward, backward with the window's share, keep count (about 4 lines)");
}

StepReport accumulator_step(Accumulator *accumulator) {
    CHECK(accumulator->sync_gradients, "the window of %d micro-batches is not complete",
          accumulator->window);
    StepReport report = {.tokens = accumulator->tokens};
    (void)update;
    TODO("task 2: the window's mean loss, the update, and no window is open (about 3 lines)");
    return report;
}

/* ---- level 3: by arguments ------------------------------------------------------------------- */

void train_epoch(Trainer *trainer, Data *data, int micros,
                 bool (*report)(void *context, const StepReport *step), void *context) {
    Accumulator accumulator;
    accumulator_init(&accumulator, trainer, micros);
    (void)data, (void)report, (void)context;
    TODO("task 3: a window at a time: open, micro-batches, step, tick, report (about 12 lines)");
}
