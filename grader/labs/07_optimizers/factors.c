#include "grader/labs/07_optimizers/factors.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "grader/labs/07_optimizers/agree.h"
#include "grader/labs/07_optimizers/factor_step.h"
#include "grader/labs/07_optimizers/gradient.h"

/* ---- drawing --------------------------------------------------------------------------------- */

static void add_tensor(Factors *f, int rows, int cols, bool matrix) {
    int k = f->tensors++;
    f->rows[k] = rows;
    f->cols[k] = cols;
    f->flags[k] = (matrix ? FLAG_MATRIX : 0) | (k % 3 != 2 ? FLAG_DECAYS : 0);
    f->all += factors_size(f, k);
    f->all_rows += factors_rows(f, k);
    f->all_cols += (size_t)cols;
}

/* Places in the list. */
enum { TALL = 2, WIDE = 6, SINGLE = 7, TWO_ROWS = 8 };

/* More rows, or columns, than a grid has blocks in y and z. */
enum { BEYOND = 65539 };

static void draw_shapes(Factors *f, FactorDraw draw) {
    Check *check = f->check;
    if (draw == FACTORS_LARGE) {
        add_tensor(f, 128, 512, true);
        return;
    }
    int rows = check_int(check, 20, 40), cols = check_int(check, 41, 90);
    add_tensor(f, rows, cols, true);
    add_tensor(f, 1, 1061, false); /* more numbers than a block has threads */
    add_tensor(f, 257, 3, true);
    add_tensor(f, 0, 0, false);
    add_tensor(f, 37, 1, true);
    add_tensor(f, 1, 40, true);
    add_tensor(f, 33, check_int(check, 257, 400), true);
    add_tensor(f, 1, 1, false);
    add_tensor(f, 2, 1100, true);
    add_tensor(f, 2, 3072, true);
    while (draw == FACTORS_TINY && f->tensors < FACTOR_TENSORS) {
        add_tensor(f, 1, 1, false);
    }
    if (draw == FACTORS_TWICE) {
        add_tensor(f, BEYOND, 1, true);
        add_tensor(f, 2, BEYOND, true);
        add_tensor(f, rows, cols, true);
    }
}

/* Rows and columns of different sizes; from step to step larger, then smaller. */
static void draw_gradients(Factors *f, FactorDraw draw) {
    static const double scale[FACTOR_STEPS] = {1, 30, 0.05, 4};
    float *g = f->grad;
    for (int step = 0; step < f->steps; step++) {
        for (int k = 0; k < f->tensors; k++) {
            for (int i = 0; i < f->rows[k]; i++) {
                double row = pow(10, check_int(f->check, -60, 60) / 100.0) * scale[step];
                for (int j = 0; j < f->cols[k]; j++, g++) {
                    *g *= (float)(row * (j % 7 + 1) / 4);
                    *g *= draw == FACTORS_TINY ? (k == 0 ? 0 : 1e-14f) : 1;
                }
            }
        }
    }
}

/* So late that beta2 is far above 0.999; R and C are much larger than the squares to come, which
   the rounding of 1 - beta2 would move. */
static void begin_late(Factors *f, float *row, float *col) {
    f->t = check_int(f->check, 400000, 600000);
    for (size_t i = 0; i < f->all_rows; i++) {
        row[i] = (float)check_int(f->check, 1000, 1200);
    }
    for (size_t j = 0; j < f->all_cols; j++) {
        col[j] = (float)check_int(f->check, 1000, 1200);
    }
}

/* In a tensor of the last step. */
static void plant_gradient(Factors *f, int tensor, int at, float value) {
    float *g = f->grad + (size_t)(f->steps - 1) * f->all;
    for (int k = 0; k < tensor; k++) {
        g += factors_size(f, k);
    }
    g[at] = value;
}

Factors *factors_new(Check *check, FactorDraw draw, int steps) {
    static Factors factors;
    Factors *f = &factors;
    memset(f, 0, sizeof *f);
    f->check = check;
    f->steps = steps;
    f->t = 1;
    /* Other numbers than the usual ones, which a program might have by heart. */
    f->numbers = (Adafactor){.learning_rate = (float)check_int(check, 3, 7) / 100,
                             .weight_decay = (float)check_int(check, 3, 6) / 10,
                             .epsilon = (float)check_int(check, 2, 9) * 1e-30f,
                             .clip = check_int(check, 0, 1) ? 0.85f : 1.15f,
                             .power = check_int(check, 0, 1) ? 0.7f : 0.9f};
    for (int step = 0; step < FACTOR_STEPS; step++) {
        f->rate[step] = f->numbers.learning_rate * (1 + 0.125f * (float)step);
    }
    draw_shapes(f, draw);
    float *weight = check_normal(check, f->all, 1, F32);
    float *row = check_normal(check, f->all_rows, 0, F32);
    float *col = check_normal(check, f->all_cols, 0, F32);
    f->start = (FactorState){weight, row, col};
    f->grad = check_normal(check, (size_t)steps * f->all, 1, F32);
    draw_gradients(f, draw);
    size_t n = factors_size(f, 0);
    if (draw == FACTORS_LARGE) {
        begin_late(f, row, col);
    }
    if (draw == FACTORS_TWICE) {
        memcpy(weight + f->all - n, weight, n * sizeof *weight);
        for (int step = 0; step < steps; step++) {
            float *g = f->grad + (size_t)step * f->all;
            memcpy(g + f->all - n, g, n * sizeof *g);
        }
        plant_gradient(f, TALL, 3 * check_int(check, 0, 256) + 1, NAN);
        plant_gradient(f, SINGLE, 0,
                       NAN); /* of a longer vector the clipping may make NaN, or may not */
        plant_gradient(f, WIDE, check_int(check, 0, 8000), 1e21f);
        plant_gradient(f, TWO_ROWS, check_int(check, 0, 2000), -INFINITY);
    }
    return f;
}

/* ---- giving ---------------------------------------------------------------------------------- */

static void factors_want_step(Factors *f, int step) {
    char name[WIRE_NAME];
    if (step < STEP_AGAIN) {
        check_want(f->check, step_name(name, "grad", step), WIRE_F32, f->all);
    }
    check_want(f->check, step_name(name, "weight", step), WIRE_F32, f->all);
    check_want(f->check, step_name(name, "row", step), WIRE_F32, f->all_rows);
    check_want(f->check, step_name(name, "col", step), WIRE_F32, f->all_cols);
}

void factors_plan(Factors *f, int until, int resume) {
    Check *check = f->check;
    int32_t head[HEAD_NUMBERS] = {[HEAD_TENSORS] = f->tensors,
                                  [HEAD_STEPS] = f->steps,
                                  [HEAD_T] = f->t,
                                  [HEAD_RESUME] = resume,
                                  [HEAD_UNTIL] = until};
    size_t count = (size_t)f->tensors;
    check_memory(check, 0);
    check_give(check, "head", WIRE_I32, head, HEAD_NUMBERS);
    check_give(check, "flags", WIRE_I32, f->flags, count);
    check_give(check, "rows", WIRE_I32, f->rows, count);
    check_give(check, "cols", WIRE_I32, f->cols, count);
    check_give(check, "numbers", WIRE_F32, &f->numbers, sizeof(Adafactor) / sizeof(float));
    check_give(check, "rates", WIRE_F32, f->rate, FACTOR_STEPS);
    check_give(check, "weight", WIRE_F32, f->start.weight, f->all);
    check_give(check, "row", WIRE_F32, f->start.row, f->all_rows);
    check_give(check, "col", WIRE_F32, f->start.col, f->all_cols);
    check_give(check, "grad", WIRE_F32, f->grad, (size_t)f->steps * f->all);
    for (int step = 0; step < f->steps; step++) {
        factors_want_step(f, step);
    }
    if (resume > 0) {
        factors_want_step(f, f->steps - 1 + STEP_AGAIN);
    }
}

double factors_bytes(const Factors *f, bool weights) {
    return f->steps *
           ((weights ? 12.0 : 4.0) * (double)f->all + 8.0 * (double)(f->all_rows + f->all_cols));
}

size_t factors_fetched(const Factors *f, bool again) {
    size_t states = f->all + f->all_rows + f->all_cols, steps = (size_t)f->steps;
    return (states * (steps + again) + f->all * steps) * sizeof(float);
}

static FactorState factors_state(const Check *check, int step) {
    char name[WIRE_NAME];
    FactorState state;
    state.weight = check_got(check, step_name(name, "weight", step), WIRE_F32);
    state.row = check_got(check, step_name(name, "row", step), WIRE_F32);
    state.col = check_got(check, step_name(name, "col", step), WIRE_F32);
    return state;
}

/* ---- comparing ------------------------------------------------------------------------------- */

/* R, C, weights. */
enum { KINDS_OF_STEP = 3 };

static bool kind_agrees(const Factors *f, const FactorState *got, const FactorStep *want,
                        const FactorState *before, int kind, Agreement *a) {
    static const char *const names[] = {"R", "C", "weight"};
    const float *const from[] = {got->row, got->col, got->weight};
    const float *const first[] = {NULL, NULL, before->weight};
    const double *const to[] = {want->row, want->col, want->weight};
    size_t at = 0;
    for (int k = 0; k < f->tensors; k++) {
        size_t sizes[] = {factors_rows(f, k), (size_t)f->cols[k], factors_size(f, k)};
        int terms = f->rows[k] > f->cols[k] ? f->rows[k] : f->cols[k];
        Tolerance tolerance = tolerance_of_op(F32, terms);
        tolerance.relative *= 4;
        tolerance.scaled *= 4;
        if (!tensor_agrees(a, from[kind] + at, to[kind] + at,
                           first[kind] != NULL ? first[kind] + at : NULL, sizes[kind], tolerance,
                           names[kind], k)) {
            return false;
        }
        at += sizes[kind];
    }
    return true;
}

/* Late in training a constant beta2 looks like one that goes no further. */
static const char *sentence_of(const Factors *f, FactorMistake mistake) {
    return mistake == BETA_CONSTANT && f->t > 1
               ? "beta2 does not depend on the step, or goes up to 0.999 alone: it is 1 - t^-power"
               : factor_sentence[mistake];
}

static bool factors_judge_step(Factors *f, const FactorState *from, int step, bool weights,
                               FactorStep *as) {
    FactorState got = factors_state(f->check, step);
    bool right = true;
    for (FactorMistake mistake = NO_MISTAKE; mistake < FACTOR_MISTAKES; mistake++) {
        factor_step_as(f, from, step, mistake, &as[mistake]);
    }
    for (int kind = 0; kind < (weights ? KINDS_OF_STEP : KINDS_OF_STEP - 1); kind++) {
        Agreement a = {.seen = ""}, other = a;
        bool good = kind_agrees(f, &got, &as[NO_MISTAKE], from, kind, &a);
        check_compared(f->check, good, "step %d: %s", f->t + step, a.seen);
        check_near(f->check, a.nearest);
        for (FactorMistake mistake = NO_MISTAKE + 1; mistake < FACTOR_MISTAKES; mistake++) {
            check_suspect(f->check, sentence_of(f, mistake),
                          kind_agrees(f, &got, &as[mistake], from, kind, &other));
        }
        right = right && good;
    }
    return right;
}

static FactorStep factor_step_new(const Factors *f) {
    return (FactorStep){check_doubles(f->check, f->all), check_doubles(f->check, f->all_rows),
                        check_doubles(f->check, f->all_cols)};
}

/* Whether the first kinds are right in all steps; each is judged from the states before it. */
static bool factors_agree(const Factors *f, int kinds, Agreement *a) {
    FactorStep want = factor_step_new(f);
    FactorState from = f->start;
    for (int step = 0; step < f->steps; step++) {
        FactorState got = factors_state(f->check, step);
        factor_step_as(f, &from, step, NO_MISTAKE, &want);
        for (int kind = 0; kind < kinds; kind++) {
            if (!kind_agrees(f, &got, &want, &from, kind, a)) {
                return false;
            }
        }
        from = got;
    }
    return true;
}

bool factors_means_are_right(const void *factors) {
    return factors_agree(factors, KINDS_OF_STEP - 1, &(Agreement){.seen = ""});
}

/* All steps, also after one that is wrong: a mistake is named only if it explains each of them. To
   work them all out takes thirty times as long as the right step: only where something is wrong. */
bool factors_judge(Factors *f, bool weights) {
    Agreement a = {.seen = ""};
    if (factors_agree(f, weights ? KINDS_OF_STEP : KINDS_OF_STEP - 1, &a)) {
        check_near(f->check, a.nearest);
        return check_compared(f->check, true, "%s", a.seen);
    }
    FactorStep as[FACTOR_MISTAKES];
    for (int i = 0; i < FACTOR_MISTAKES; i++) {
        as[i] = factor_step_new(f);
    }
    FactorState from = f->start;
    bool right = true;
    for (int step = 0; step < f->steps; step++) {
        right = factors_judge_step(f, &from, step, weights, as) && right;
        from = factors_state(f->check, step);
    }
    return right;
}

bool factors_judge_gradient(Factors *f) {
    return gradient_expect_kept(f->check, f->grad, f->all, 0, f->t);
}

bool factors_judge_twice(Factors *f) {
    FactorState got = factors_state(f->check, f->steps - 1);
    size_t n = factors_size(f, 0), I = factors_rows(f, 0), J = (size_t)f->cols[0];
    return check_compared(
        f->check,
        memcmp(got.weight, got.weight + f->all - n, n * sizeof(float)) == 0 &&
            memcmp(got.row, got.row + f->all_rows - I, I * sizeof(float)) == 0 &&
            memcmp(got.col, got.col + f->all_cols - J, J * sizeof(float)) == 0,
        "the same tensor stands in the list twice, and comes out with other bits: "
        "does one tensor see what was worked out for another?");
}

bool factors_judge_again(Factors *f) {
    FactorState a = factors_state(f->check, f->steps - 1);
    FactorState b = factors_state(f->check, f->steps - 1 + STEP_AGAIN);
    return check_compared(f->check,
                          memcmp(a.weight, b.weight, f->all * sizeof(float)) == 0 &&
                              memcmp(a.row, b.row, f->all_rows * sizeof(float)) == 0 &&
                              memcmp(a.col, b.col, f->all_cols * sizeof(float)) == 0,
                          "adafactor, from the states of a checkpoint: other bits than without a "
                          "stop. Does the op keep something that is not in its states?");
}
