#include "grader/labs/07_optimizers/factors.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "grader/labs/07_optimizers/gradient.h"

/* ---- drawing --------------------------------------------------------------------------------- */

static size_t size_of(const Factors *f, int k) {
    return (size_t)f->rows[k] * (size_t)f->cols[k];
}

static bool is_matrix(const Factors *f, int k) {
    return (f->flags[k] & FLAG_MATRIX) != 0;
}

static size_t rows_of(const Factors *f, int k) {
    return is_matrix(f, k) ? (size_t)f->rows[k] : 0;
}

static void add_tensor(Factors *f, int rows, int cols, bool matrix) {
    int k = f->tensors++;
    f->rows[k] = rows;
    f->cols[k] = cols;
    f->flags[k] = matrix ? FLAG_MATRIX | FLAG_DECAYS : 0;
    f->all += size_of(f, k);
    f->all_rows += rows_of(f, k);
    f->all_cols += (size_t)cols;
}

/* Places in the list. */
enum { TALL = 2, SINGLE = 7 };

static void draw_shapes(Factors *f, FactorDraw draw) {
    Check *check = f->check;
    if (draw == FACTORS_LARGE) {
        add_tensor(f, 128, 512, true);
        return;
    }
    int rows = check_int(check, 20, 40), cols = check_int(check, 41, 90);
    add_tensor(f, rows, cols, true);
    add_tensor(f, 1, 257, false);
    add_tensor(f, 257, 3, true);
    add_tensor(f, 0, 0, false);
    add_tensor(f, 37, 1, true);
    add_tensor(f, 1, 40, true);
    add_tensor(f, 33, check_int(check, 257, 400), true);
    add_tensor(f, 1, 1, false);
    add_tensor(f, 2, 1100, true);
    add_tensor(f, 2, 3072, true);
    if (draw == FACTORS_TWICE) {
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

/* In a tensor of the last step. */
static void plant_nan(Factors *f, int tensor, int at) {
    float *g = f->grad + (size_t)(f->steps - 1) * f->all;
    for (int k = 0; k < tensor; k++) {
        g += size_of(f, k);
    }
    g[at] = NAN;
}

Factors *factors_new(Check *check, FactorDraw draw, int steps) {
    static Factors factors;
    Factors *f = &factors;
    memset(f, 0, sizeof *f);
    f->check = check;
    f->steps = steps;
    f->t = 1;
    f->numbers = (Adafactor){0.05f, 0.4f, 1e-30f, (float)check_int(check, 8, 12) / 10, 0.8f};
    draw_shapes(f, draw);
    float *weight = check_normal(check, f->all, 1, F32);
    f->start = (FactorState){weight, check_normal(check, f->all_rows, 0, F32),
                             check_normal(check, f->all_cols, 0, F32)};
    f->grad = check_normal(check, (size_t)steps * f->all, 1, F32);
    draw_gradients(f, draw);
    size_t n = size_of(f, 0);
    if (draw == FACTORS_TWICE) {
        memcpy(weight + f->all - n, weight, n * sizeof *weight);
        for (int step = 0; step < steps; step++) {
            float *g = f->grad + (size_t)step * f->all;
            memcpy(g + f->all - n, g, n * sizeof *g);
        }
        plant_nan(f, TALL, 3 * check_int(check, 0, 256) + 1);
        plant_nan(f, SINGLE, 0); /* of a longer vector the clipping may make NaN, or may not */
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

/* ---- a step in double, right or with a mistake --------------------------------------------- */

typedef enum FactorMistake {
    NO_MISTAKE,
    SUMS,
    BETA_CONSTANT,
    BETA_LATE,
    NOT_SQUARED,
    NO_EPSILON,
    NOT_DECAYED,
    NO_MEAN,
    PRODUCT,
    NO_CLIP,
    CLIP_INVERTED,
    CLIP_ALL,
    RATE_LEAKS,
    OLD_FACTORS,
    DECAY_NEW,
    DECAY_EVERY,
    DECAY_CLIPPED,
    NO_DECAY,
    NAN_HIDDEN,
    FACTOR_MISTAKES,
} FactorMistake;

static const char *const sentence[FACTOR_MISTAKES] = {
    [SUMS] = "R and C take sums of the squares: they take means, over a row and over a column",
    [BETA_CONSTANT] = "beta2 does not depend on the step: it is 1 - t^-0.8, 0 in the first step",
    [BETA_LATE] = "beta2 is that of the step before: steps count from 1, and t^-0.8 is 1 then",
    [NOT_SQUARED] = "R and C take magnitudes of the gradient: they take squares",
    [NO_EPSILON] = "epsilon is not added to the squares",
    [NOT_DECAYED] = "the mean is added whole, not (1 - beta2) of it",
    [NO_MEAN] = "R is not divided by its mean",
    [PRODUCT] = "one root of R * C: with small gradients their product is 0 in a float; take two "
                "roots",
    [NO_CLIP] = "the update is not clipped: it is divided by max(1, rms(U) / clip)",
    [CLIP_INVERTED] =
        "the update is divided by min(1, rms(U) / clip), which makes small ones larger: "
        "it is the maximum",
    [CLIP_ALL] = "rms(U) is taken over all tensors: each has its own",
    [RATE_LEAKS] =
        "the rate stays as the tensor before has left it: what clips one tensor must not "
        "slow the next",
    [OLD_FACTORS] = "the update takes R and C of the step before: they come first",
    [DECAY_NEW] = "weight decay pulls on the new weight: it takes the one before the step",
    [DECAY_EVERY] = "weight decay pulls on every tensor: its entry says whether it does",
    [DECAY_CLIPPED] = "weight decay is clipped with the update: only U is divided",
    [NO_DECAY] = "weight decay is missing",
    [NAN_HIDDEN] =
        "a NaN in a gradient is taken for 0: its weight becomes NaN, and in a matrix all "
        "of them do",
};

typedef struct Doubles {
    double *weight, *row, *col;
} Doubles;

/* A number of a gradient. */
static double taken(float g, FactorMistake mistake) {
    return mistake == NAN_HIDDEN && isnan(g) ? 0 : (double)g;
}

static double square_of(double g, double epsilon, FactorMistake mistake) {
    return (mistake == NOT_SQUARED ? fabs(g) : g * g) + (mistake == NO_EPSILON ? 0 : epsilon);
}

static double beta_of(const Factors *f, int t, FactorMistake mistake) {
    double power = -(double)f->numbers.power;
    return mistake == BETA_CONSTANT ? 0.999
           : mistake == BETA_LATE   ? 1 - pow(t > 1 ? t - 1 : 1, power)
                                    : 1 - pow(t, power);
}

/* R of one row, or C of one column: `count` squares, `stride` apart. */
static double moving(const Factors *f, double old, const float *g, int count, int stride, int t,
                     FactorMistake mistake) {
    double sum = 0, beta = beta_of(f, t, mistake);
    for (int i = 0; i < count; i++) {
        double x = taken(g[(size_t)i * (size_t)stride], mistake);
        sum += square_of(x, (double)f->numbers.epsilon, mistake);
    }
    double mean = mistake == SUMS ? sum : sum / count;
    return beta * old + (mistake == NOT_DECAYED ? 1 : 1 - beta) * mean;
}

typedef struct Factored {
    const Factors *f;
    int k, I, J;
    const float *g, *w;
    const double *R, *C; /* as the update takes them */
    double mean;
} Factored;

static double update_at(const Factored *x, int i, int j, FactorMistake mistake) {
    double g = taken(x->g[i * x->J + j], mistake), C = x->C[j];
    if (!is_matrix(x->f, x->k)) {
        return g / sqrt(C);
    }
    double mean = mistake == NO_MEAN ? 1 : x->mean;
    if (mistake == PRODUCT) {
        return g / sqrt((double)((float)x->R[i] * (float)C / (float)mean));
    }
    return g / (sqrt(x->R[i] / mean) * sqrt(C));
}

static double squares_of(const Factored *x, FactorMistake mistake) {
    double sum = 0;
    for (int i = 0; i < x->I; i++) {
        for (int j = 0; j < x->J; j++) {
            double U = update_at(x, i, j, mistake);
            sum += U * U;
        }
    }
    return sum;
}

static void update_weights(const Factored *x, double *to, double over, double rate,
                           FactorMistake mistake) {
    bool decays = (x->f->flags[x->k] & FLAG_DECAYS) != 0 || mistake == DECAY_EVERY;
    double decay = decays && mistake != NO_DECAY ? (double)x->f->numbers.weight_decay : 0;
    double divisor = mistake == NO_CLIP         ? 1
                     : mistake == CLIP_INVERTED ? fmin(1, over)
                                                : fmax(1, over);
    for (int i = 0; i < x->I; i++) {
        for (int j = 0; j < x->J; j++) {
            size_t at = (size_t)i * (size_t)x->J + (size_t)j;
            double w = (double)x->w[at], U = update_at(x, i, j, mistake) / divisor;
            double pull = mistake == DECAY_CLIPPED ? decay * w / divisor : decay * w;
            to[at] =
                mistake == DECAY_NEW ? (w - rate * U) * (1 - rate * decay) : w - rate * (U + pull);
        }
    }
}

/* R and C of all tensors after a step. */
static void step_factors(const Factors *f, const FactorState *from, int step, FactorMistake mistake,
                         Doubles *to) {
    const float *g = f->grad + (size_t)step * f->all;
    size_t row = 0, col = 0;
    for (int k = 0; k < f->tensors; g += size_of(f, k++)) {
        int I = f->rows[k], J = f->cols[k];
        for (size_t i = 0; i < rows_of(f, k); i++, row++) {
            to->row[row] =
                moving(f, (double)from->row[row], g + i * (size_t)J, J, 1, f->t + step, mistake);
        }
        for (int j = 0; j < J; j++, col++) {
            to->col[col] = moving(f, (double)from->col[col], g + j, I, J, f->t + step, mistake);
        }
    }
}

static double mean_of(const double *x, int n) {
    double sum = 0;
    for (int i = 0; i < n; i++) {
        sum += x[i];
    }
    return n > 0 ? sum / n : 1;
}

static void old_factors(const Factors *f, const FactorState *from, double *R, double *C) {
    for (size_t i = 0; i < f->all_rows; i++) {
        R[i] = (double)from->row[i];
    }
    for (size_t j = 0; j < f->all_cols; j++) {
        C[j] = (double)from->col[j];
    }
}

/* Weights of all tensors after a step, from R and C. */
static void step_weights(const Factors *f, const FactorState *from, int step, FactorMistake mistake,
                         const double *R, const double *C, double *to) {
    const float *g = f->grad + (size_t)step * f->all, *w = from->weight;
    Factored tensor[FACTOR_TENSORS];
    double squares[FACTOR_TENSORS], all = 0, rate = (double)f->numbers.learning_rate;
    for (int k = 0; k < f->tensors; k++) {
        int matrix_rows = (int)rows_of(f, k);
        tensor[k] = (Factored){f, k, f->rows[k], f->cols[k], g, w, R, C, mean_of(R, matrix_rows)};
        squares[k] = squares_of(&tensor[k], mistake);
        all += squares[k];
        g += size_of(f, k);
        w += size_of(f, k);
        R += rows_of(f, k);
        C += f->cols[k];
    }
    for (int k = 0; k < f->tensors; to += size_of(f, k++)) {
        double n = (double)(mistake == CLIP_ALL ? f->all : size_of(f, k));
        double over = sqrt((mistake == CLIP_ALL ? all : squares[k]) / n) / (double)f->numbers.clip;
        update_weights(&tensor[k], to, size_of(f, k) > 0 ? over : 1, rate, mistake);
        rate = mistake == RATE_LEAKS && over > 1 ? rate / over : rate;
    }
}

/* ---- comparing ------------------------------------------------------------------------------- */

enum { SEEN = 300 };

/* Whether a part of a tensor agrees; both may be inf or NaN. */
static bool agree(const float *got, const double *want, size_t n, int terms, const char *name,
                  int k, char *seen) {
    Tolerance tolerance = tolerance_of_op(F32, terms);
    double most = 0;
    for (size_t i = 0; i < n; i++) {
        most = isfinite(want[i]) && fabs(want[i]) > most ? fabs(want[i]) : most;
    }
    for (size_t i = 0; i < n; i++) {
        double limit = 4 * (tolerance.relative * fabs(want[i]) + tolerance.scaled * most);
        bool good = isfinite(want[i]) ? fabs((double)got[i] - want[i]) <= limit : !isfinite(got[i]);
        if (!good) {
            snprintf(seen, SEEN, "%s of tensor %d [%zu]: got %.9g, want %.9g, limit %.2g", name, k,
                     i, (double)got[i], want[i], limit);
            return false;
        }
    }
    return true;
}

/* R, C, weights. */
enum { KINDS_OF_STEP = 3 };

static bool kind_agrees(const Factors *f, const FactorState *got, const Doubles *want, int kind,
                        char *seen) {
    static const char *const names[] = {"R", "C", "weight"};
    const float *const from[] = {got->row, got->col, got->weight};
    const double *const to[] = {want->row, want->col, want->weight};
    size_t at = 0;
    for (int k = 0; k < f->tensors; k++) {
        size_t sizes[] = {rows_of(f, k), (size_t)f->cols[k], size_of(f, k)};
        int terms = f->rows[k] > f->cols[k] ? f->rows[k] : f->cols[k];
        if (!agree(from[kind] + at, to[kind] + at, sizes[kind], terms, names[kind], k, seen)) {
            return false;
        }
        at += sizes[kind];
    }
    return true;
}

/* A mistake in R and C shows in the weights too; one of the update does not show in R and C. */
static void step_as(Factors *f, const FactorState *from, int step, FactorMistake mistake,
                    Doubles *to) {
    step_factors(f, from, step, mistake, to);
    double *R = to->row, *C = to->col;
    if (mistake == OLD_FACTORS) {
        R = check_doubles(f->check, f->all_rows);
        C = check_doubles(f->check, f->all_cols);
        old_factors(f, from, R, C);
    }
    step_weights(f, from, step, mistake, R, C, to->weight);
}

static bool factors_judge_step(Factors *f, const FactorState *from, int step, bool weights,
                               Doubles *as) {
    FactorState got = factors_state(f->check, step);
    bool right = true;
    for (FactorMistake mistake = NO_MISTAKE; mistake < FACTOR_MISTAKES; mistake++) {
        step_as(f, from, step, mistake, &as[mistake]);
    }
    for (int kind = 0; kind < (weights ? KINDS_OF_STEP : KINDS_OF_STEP - 1); kind++) {
        char seen[SEEN] = "", other[SEEN];
        bool good = kind_agrees(f, &got, &as[NO_MISTAKE], kind, seen);
        check_compared(f->check, good, "step %d: %s", f->t + step, seen);
        for (FactorMistake mistake = NO_MISTAKE + 1; mistake < FACTOR_MISTAKES; mistake++) {
            check_suspect(f->check, sentence[mistake],
                          kind_agrees(f, &got, &as[mistake], kind, other));
        }
        right = right && good;
    }
    return right;
}

/* All steps, also after one that is wrong: a mistake is named only if it explains each of them. */
bool factors_judge(Factors *f, bool weights) {
    Doubles as[FACTOR_MISTAKES];
    for (int i = 0; i < FACTOR_MISTAKES; i++) {
        as[i] = (Doubles){check_doubles(f->check, f->all), check_doubles(f->check, f->all_rows),
                          check_doubles(f->check, f->all_cols)};
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
    size_t n = size_of(f, 0), I = rows_of(f, 0), J = (size_t)f->cols[0];
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
