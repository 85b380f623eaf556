#include <math.h>
#include <stdio.h>

#include "grader/labs/09_fusion/compare.h"
#include "kernels/cost.h"

/* An update whose numbers lie in device memory: as it is, and as known mistakes make it. */
typedef enum ControlMistake {
    CONTROL_RIGHT,
    CONTROL_RATE_BY_VALUE,
    CONTROL_DECAYS_ALL,
    CONTROL_NOT_CLIPPED,
    CONTROL_EXCHANGED,
    CONTROL_GRADIENT_WRITTEN,
    CONTROL_FOUND_PASSES,
    CONTROL_MISTAKES
} ControlMistake;

static const char *control_sentence(ControlMistake mistake) {
    static const char *const own[CONTROL_MISTAKES] = {
        [CONTROL_RATE_BY_VALUE] = "the rate is that of `adamw`, which a capture freezes: it comes "
                                  "from the control block",
        [CONTROL_DECAYS_ALL] = "weight decay pulls on every tensor: its entry says whether it does",
        [CONTROL_EXCHANGED] = "correct1 is m's and correct2 is v's: they are exchanged",
        [CONTROL_GRADIENT_WRITTEN] = "the clipped gradient is written back: it stays as it is"};
    return mistake == CONTROL_NOT_CLIPPED    ? steps_sentence(STEPS_NOT_CLIPPED)
           : mistake == CONTROL_FOUND_PASSES ? steps_sentence(STEPS_NEVER_SKIPPED)
                                             : own[mistake];
}

/* Numbers of a tensor, more than the blocks of one GPU have threads for; the last is a tensor of
   its own, which does not decay. */
enum { NUMBERS = 112003 };

/* The numbers that are given: those of `adamw`, of the control block, and of the result. */
enum { BETA1, BETA2, EPSILON, DECAY, RATE, CORRECT1, CORRECT2, FACTOR, FOUND, CONTROL_NUMBERS };
static const double RATE_OF_ADAMW = 999;

enum { CONTROL_TENSORS = 4 };
static const char *const names[CONTROL_TENSORS] = {"weight", "m", "v", "grad"};

/* Number i of the four tensors, after the update. */
static void control_as(const float *given, ControlMistake mistake, bool last,
                       double x[CONTROL_TENSORS]) {
    bool exchanged = mistake == CONTROL_EXCHANGED;
    double beta1 = (double)given[BETA1], beta2 = (double)given[BETA2];
    double correct1 = (double)given[exchanged ? CORRECT2 : CORRECT1];
    double correct2 = (double)given[exchanged ? CORRECT1 : CORRECT2];
    double rate = mistake == CONTROL_RATE_BY_VALUE ? RATE_OF_ADAMW : (double)given[RATE];
    double decay = last && mistake != CONTROL_DECAYS_ALL ? 0 : (double)given[DECAY];
    double g = x[3] * (mistake == CONTROL_NOT_CLIPPED ? 1 : (double)given[FACTOR]);
    if (given[FOUND] > 0 && mistake != CONTROL_FOUND_PASSES) {
        return;
    }
    x[1] = beta1 * x[1] + (1 - beta1) * g;
    x[2] = beta2 * x[2] + (1 - beta2) * g * g;
    x[0] -=
        rate * (x[1] * correct1 / (sqrt(x[2] * correct2) + (double)given[EPSILON]) + decay * x[0]);
    x[3] = mistake == CONTROL_GRADIENT_WRITTEN ? g : x[3];
}

static double *control_tensor(Check *check, const float *given, float *const before[],
                              ControlMistake mistake, int tensor) {
    double *after = check_doubles(check, NUMBERS);
    for (int i = 0; i < NUMBERS; i++) {
        double x[CONTROL_TENSORS];
        for (int k = 0; k < CONTROL_TENSORS; k++) {
            x[k] = (double)before[k][i];
        }
        control_as(given, mistake, i == NUMBERS - 1, x);
        after[i] = x[tensor];
    }
    return after;
}

/* Mistakes that a run with this `found` shows. */
static int control_suspects(Check *check, const float *given, float *const before[], int tensor,
                            Suspect suspects[]) {
    int count = 0;
    for (ControlMistake mistake = CONTROL_RIGHT + 1; mistake < CONTROL_MISTAKES; mistake++) {
        if ((mistake == CONTROL_FOUND_PASSES) == (given[FOUND] > 0)) {
            suspects[count++] = (Suspect){control_sentence(mistake),
                                          control_tensor(check, given, before, mistake, tensor)};
        }
    }
    return count;
}

/* Of each seven numbers one has moments and a gradient that are tiny: epsilon counts. Where the
   update is not skipped, one gradient is NaN. */
static void control_vary(float *const before[], bool skipped) {
    static const float tiny = 1e-7f;
    for (int i = 3; i < NUMBERS - 1; i += 7) {
        before[1][i] *= tiny;
        before[2][i] *= tiny * tiny;
        before[3][i] *= tiny;
    }
    if (!skipped) {
        before[3][NUMBERS / 2] = NAN;
    }
}

/* The update of a single number, with a rate of 0. */
static bool control_expect_single(Check *check) {
    const float before[] = SINGLE_BEFORE;
    double rests[SINGLE_NUMBERS], want[SINGLE_NUMBERS];
    for (int i = 0; i < SINGLE_NUMBERS; i++) {
        want[i] = rests[i] = (double)before[i];
    }
    AdamW adamw = SINGLE_ADAMW;
    reference_adamw(&want[0], &want[1], &want[2], &want[3], 1, 0, (double)adamw.beta1,
                    (double)adamw.beta2, (double)adamw.epsilon, (double)adamw.weight_decay, 1);
    const Suspect suspect = {"with a rate of 0 nothing is done: the weights stay, and the moments "
                             "take the gradient even so",
                             rests};
    return check_close(check, "single after", want, SINGLE_NUMBERS - 1, tolerance_of_op(F32, 1),
                       &suspect, 1);
}

void control_grade(Check *check, float found) {
    float given[CONTROL_NUMBERS] = {0.85f, 0.95f, 1e-8f, 0.1f, 1e-2f, 2.5f, 7.5f, 0.3f, found};
    float *before[CONTROL_TENSORS] = {
        check_normal(check, NUMBERS, 1, F32), check_normal(check, NUMBERS, 0.1, F32),
        check_normal(check, NUMBERS, 0.1, F32), check_normal(check, NUMBERS, 1, F32)};
    char after[CONTROL_TENSORS][WIRE_NAME];
    for (int i = 0; i < NUMBERS; i++) {
        before[2][i] = fabsf(before[2][i]);
    }
    control_vary(before, found > 0);
    before[0][NUMBERS - 1] = 3; /* so large that decay shows */
    check_give(check, "control", WIRE_F32, given, CONTROL_NUMBERS);
    check_want(check, "single after", WIRE_F32, SINGLE_NUMBERS - 1);
    for (int k = 0; k < CONTROL_TENSORS; k++) {
        snprintf(after[k], WIRE_NAME, "%s after", names[k]);
        check_give(check, names[k], WIRE_F32, before[k], NUMBERS);
        check_want(check, after[k], WIRE_F32, NUMBERS);
    }
    profile_want(check);
    check_memory(check, 0);
    double updates = found > 0 ? 1 : 2; /* of the two that the probe runs */
    if (!check_run(check, "control", RUN_SECONDS) || !profile_expect_clean(check) ||
        !profile_expect_shared(check, updates * adamw_cost(NUMBERS).bytes, profile_good_kernel)) {
        return;
    }
    bool right = control_expect_single(check);
    for (int k = 0; k < CONTROL_TENSORS; k++) {
        Suspect suspects[CONTROL_MISTAKES];
        int count = control_suspects(check, given, before, k, suspects);
        right = check_close(check, after[k], control_tensor(check, given, before, CONTROL_RIGHT, k),
                            NUMBERS, tolerance_of_op(F32, 4), suspects, count) &&
                right;
    }
    if (right && found == 0) {
        launches_grade(check, "control_launches", 37500000, 8);
    }
}
