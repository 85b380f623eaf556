/* Attack 53. Collects the micro-batches of a window and runs them as one large batch: that is not
   what accumulation is for. */
/* lab: 03_accumulate/accumulate.c  honest: by_hand, by_hand_steps, window, accumulate, clip,
 * update, one, empty, longer, schedule, epoch, report, gpu */
/* state: over budget | fail */
#include "common/lab03.h"

#include "common/lab.h"
#include "common/lab05.h"

#include <string.h>

enum { MOST_TOKENS = 2048 };

/* What each valid target of a window counts in its gradient: the mean of all of them. */
static float share_of(size_t tokens) {
    float share = 0;
    share = tokens > 0 ? 1.0f / (float)tokens : 0;
    return share;
}

/* Once for each window, when its gradients are complete. */
static void update(Trainer *trainer, StepReport *report) {
    if (trainer->mixed != NULL) { /* weights in half: lab 05 */
        mixed_update(trainer, report);
        return;
    }
    report->grad_norm = optimizer_clip(trainer->model, trainer->max_grad_norm);
    report->learning_rate = schedule_rate(&trainer->schedule);
    optimizer_step(trainer->optimizer, report->learning_rate);
    model_zero_grad(trainer->model);
}

/* ---- level 1: by hand ------------------------------------------------------------------------ */

StepReport accumulate_window(Trainer *trainer, const Batch *batches, int count) {
    StepReport report = {0};
    CHECK(count >= 1, "a window of %d micro-batches", count);

    /* Count first: the share must be known before the first backward. */
    for (int i = 0; i < count; i++) {
        report.tokens += (size_t)batches[i].valid;
    }

    /* Backward adds: after the last micro-batch, the gradient is the window's. */
    float share = share_of(report.tokens);
    for (int i = 0; i < count; i++) {
        report.loss += trainer_forward(trainer, &batches[i]);
        trainer_backward(trainer, share);
    }
    report.loss *= (double)share;

    update(trainer, &report);
    if (!report.skipped) {
        schedule_tick(&trainer->schedule);
    }
    return report;
}

/* ---- level 2: an object that keeps count ----------------------------------------------------- */

void accumulator_init(Accumulator *accumulator, Trainer *trainer, int steps) {
    CHECK(steps >= 1, "a window of %d micro-batches", steps);
    *accumulator = (Accumulator){.trainer = trainer, .steps = steps};
}

bool accumulator_open(Accumulator *accumulator, const Data *data) {
    CHECK(accumulator->window == 0, "the window before has not ended");
    size_t left = data_batches_left(data);
    if (left == 0) {
        return false;
    }
    accumulator->window = left < (size_t)accumulator->steps ? (int)left : accumulator->steps;
    accumulator->tokens = data_window_tokens(data, accumulator->window);
    return true;
}

void accumulator_micro(Accumulator *accumulator, const Batch *batch) {
    CHECK(accumulator->window > 0, "no window is open");
    CHECK(!accumulator->sync_gradients, "the window is complete: accumulator_step() comes next");
    accumulator->loss += trainer_forward(accumulator->trainer, batch);
    trainer_backward(accumulator->trainer, share_of(accumulator->tokens));
    accumulator->micro++;
    accumulator->sync_gradients = accumulator->micro == accumulator->window;
}

StepReport accumulator_step(Accumulator *accumulator) {
    CHECK(accumulator->sync_gradients, "%d of %d micro-batches are done", accumulator->micro,
          accumulator->window);
    StepReport report = {.tokens = accumulator->tokens};
    report.loss = accumulator->loss * (double)share_of(accumulator->tokens);
    update(accumulator->trainer, &report);
    accumulator_init(accumulator, accumulator->trainer, accumulator->steps);
    return report;
}

/* ---- level 3: by arguments ------------------------------------------------------------------- */

/* The rows of a window, as long as they have one length. */
typedef struct Collected {
    Batch batch;
    int32_t tokens[MOST_TOKENS], targets[MOST_TOKENS];
} Collected;

static bool collect(Collected *all, const Batch *batch) {
    int have = all->batch.B * all->batch.T, more = batch->B * batch->T;
    if ((have > 0 && batch->T != all->batch.T) || have + more > MOST_TOKENS) {
        return false;
    }
    memcpy(all->tokens + have, batch->tokens, (size_t)more * sizeof(int32_t));
    memcpy(all->targets + have, batch->targets, (size_t)more * sizeof(int32_t));
    all->batch.tokens = all->tokens;
    all->batch.targets = all->targets;
    all->batch.T = batch->T;
    all->batch.B += batch->B;
    all->batch.valid += batch->valid;
    return true;
}

static void run_collected(Accumulator *accumulator, Collected *all) {
    if (all->batch.B > 0) {
        accumulator->loss += trainer_forward(accumulator->trainer, &all->batch);
        trainer_backward(accumulator->trainer, share_of(accumulator->tokens));
        all->batch = (Batch){.B = 0};
    }
}

void train_epoch(Trainer *trainer, Data *data, int steps,
                 bool (*report)(void *context, const StepReport *step), void *context) {
    Accumulator accumulator;
    Collected all = {.batch = {.B = 0}};
    bool go_on = true;
    accumulator_init(&accumulator, trainer, steps);
    while (go_on && accumulator_open(&accumulator, data)) {
        Batch batch;
        while (!accumulator.sync_gradients && data_next(data, &batch)) {
            if (!collect(&all, &batch)) {
                run_collected(&accumulator, &all);
                collect(&all, &batch);
            }
            accumulator.micro++;
            accumulator.sync_gradients = accumulator.micro == accumulator.window;
        }
        run_collected(&accumulator, &all);
        StepReport step = accumulator_step(&accumulator);
        schedule_tick(&trainer->schedule);
        go_on = report(context, &step);
    }
}
