/* Lab 01: tests that tell broken training loops from right ones. The contract is in
   labs/01_loop/contract.h. */
#include <math.h>

#include "common/lab.h"
#include "labs/01_loop/contract.h"

/* ---- to begin with: an experiment, and how to compare ---------------------------------------- */

/* One batch of two rows with 2 and 8 valid targets, the same in each step; a rate that does not
   change, no clipping. Change what you want to know about. */
static LoopExperiment example(int steps, float learning_rate) {
    LoopExperiment experiment = {
        .seed = 1,
        .schedule = {.decay = DECAY_CONSTANT, .learning_rate = learning_rate, .max_steps = 100},
        .steps = steps};
    for (int i = 0; i < steps; i++) {
        LoopBatch *batch = &experiment.batch[i];
        batch->B = 2;
        batch->T = 8;
        for (int k = 0; k < batch->B * batch->T; k++) {
            batch->tokens[k] = (7 * k + 3) % LOOP_VOCABULARY;
            batch->targets[k] = k >= 2 && k < 8 ? IGNORE_INDEX : (5 * k + 1) % LOOP_VOCABULARY;
        }
    }
    return experiment;
}

static float norm(const float *values) {
    float sum = 0;
    for (int i = 0; i < LOOP_PARAMS; i++) {
        sum += values[i] * values[i];
    }
    return sqrtf(sum);
}

/* Whether a = factor * b, up to rounding. A NaN is like nothing. */
static bool alike(const float *a, const float *b, float factor) {
    float largest = 0;
    for (int i = 0; i < LOOP_PARAMS; i++) {
        largest = fmaxf(largest, fabsf(factor * b[i]));
    }
    for (int i = 0; i < LOOP_PARAMS; i++) {
        if (!(fabsf(a[i] - factor * b[i]) <= 0.01f * largest)) {
            return false;
        }
    }
    return true;
}

/* ---- the tests ------------------------------------------------------------------------------- */

bool test_clip(const LoopUnderTest *loop) {
#ifndef STUB
    LoopExperiment experiment = example(1, 0);
    LoopReply free = loop_try(loop, &experiment);
    float n = norm(free.step[0].gradient);
    experiment.max_grad_norm = 0.1f * n;
    LoopReply above = loop_try(loop, &experiment);
    experiment.max_grad_norm = 2 * n;
    LoopReply below = loop_try(loop, &experiment);
    return alike(above.step[0].gradient, free.step[0].gradient, 0.1f) &&
           alike(below.step[0].gradient, free.step[0].gradient, 1);
#else
    (void)loop;
    (void)norm;
    TODO("task 4: gradients of one batch, with a limit below their norm, above it, and with none "
         "(about 9 lines)");
#endif
}

bool test_zero(const LoopUnderTest *loop) {
#ifndef STUB
    /* With a rate of 0 the weights stay, so each step must have the gradients of the first. */
    LoopExperiment experiment = example(3, 0);
    LoopReply reply = loop_try(loop, &experiment);
    return alike(reply.step[1].gradient, reply.step[0].gradient, 1) &&
           alike(reply.step[2].gradient, reply.step[0].gradient, 1);
#else
    (void)loop;
    TODO("task 5: several steps from the same weights with the same batch (about 4 lines)");
#endif
}

#ifndef STUB
/* The gradients of one row of the example's batch, alone. */
static LoopReply one_row(const LoopUnderTest *loop, int row) {
    LoopExperiment experiment = example(1, 0);
    LoopBatch *batch = &experiment.batch[0];
    for (int t = 0; t < batch->T; t++) {
        batch->tokens[t] = batch->tokens[row * batch->T + t];
        batch->targets[t] = batch->targets[row * batch->T + t];
    }
    batch->B = 1;
    return loop_try(loop, &experiment);
}
#endif

bool test_mean(const LoopUnderTest *loop) {
#ifndef STUB
    /* Of 10 valid targets 2 are in the first row and 8 in the second. */
    LoopExperiment experiment = example(1, 0);
    LoopReply both = loop_try(loop, &experiment);
    LoopReply first = one_row(loop, 0), second = one_row(loop, 1);
    float sum[LOOP_PARAMS];
    for (int i = 0; i < LOOP_PARAMS; i++) {
        sum[i] = 0.2f * first.step[0].gradient[i] + 0.8f * second.step[0].gradient[i];
    }
    return alike(both.step[0].gradient, sum, 1);
#else
    (void)loop;
    TODO("task 6: a batch of two rows, and each of its rows alone (about 9 lines, and a function "
         "for one row)");
#endif
}

#ifndef STUB
/* The largest change of a weight: that of a fresh AdamW is the rate. */
static float moved(const float *before, const float *after) {
    float largest = 0;
    for (int i = 0; i < LOOP_PARAMS; i++) {
        largest = fmaxf(largest, fabsf(after[i] - before[i]));
    }
    return largest;
}
#endif

bool test_rate(const LoopUnderTest *loop) {
#ifndef STUB
    LoopExperiment experiment = example(3, 4e-4f);
    experiment.schedule.warmup_steps = 4;
    LoopReply reply = loop_try(loop, &experiment);
    const float *before = reply.weight;
    for (int i = 0; i < experiment.steps; i++) {
        float rate = 1e-4f * (float)(i + 1), taken = moved(before, reply.step[i].weight);
        before = reply.step[i].weight;
        if (reply.step[i].ticks != 1 || !(fabsf(taken - rate) <= 0.12f * rate)) {
            return false;
        }
    }
    return true;
#else
    (void)loop;
    TODO("task 7: how far the weights move in each step of a warm-up, and how often the schedule "
         "ticks (about 12 lines, and a function for the distance)");
#endif
}

bool test_no_targets(const LoopUnderTest *loop) {
#ifndef STUB
    /* Beside the same loop with targets: what it does then is not for this test. */
    LoopExperiment experiment = example(1, 1e-4f);
    LoopReply with = loop_try(loop, &experiment);
    for (int k = 0; k < experiment.batch[0].B * experiment.batch[0].T; k++) {
        experiment.batch[0].targets[k] = IGNORE_INDEX;
    }
    LoopReply without = loop_try(loop, &experiment);
    const LoopSeen *seen = &without.step[0];
    return seen->report.loss == 0 && norm(seen->gradient) == 0 && seen->updates == 1 &&
           seen->ticks == with.step[0].ticks;
#else
    (void)loop;
    (void)alike;
    (void)example;
    TODO("task 8: the same with targets and without (about 9 lines)");
#endif
}
