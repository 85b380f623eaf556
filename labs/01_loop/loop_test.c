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
    (void)loop;
    (void)norm;
    TODO("task 4: gradients of one batch, with a limit below their norm, above it, and with none "
         "(about 9 lines)");
}

bool test_zero(const LoopUnderTest *loop) {
    (void)loop;
    TODO("task 5: several steps from the same weights with the same batch (about 4 lines)");
}


bool test_mean(const LoopUnderTest *loop) {
    (void)loop;
    TODO("task 6: a batch of two rows, and each of its rows alone (about 9 lines, and a function "
         "for one row)");
}


bool test_rate(const LoopUnderTest *loop) {
    (void)loop;
    TODO("task 7: how far the weights move in each step of a warm-up, and how often the schedule "
         "ticks (about 12 lines, and a function for the distance)");
}

bool test_no_targets(const LoopUnderTest *loop) {
    (void)loop;
    (void)alike;
    (void)example;
    TODO("task 8: the same with targets and without (about 9 lines)");
}
