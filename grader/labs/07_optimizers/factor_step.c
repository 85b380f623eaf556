#include "grader/labs/07_optimizers/factor_step.h"

#include <float.h>
#include <math.h>

/* ---- a step in double, right or with a mistake --------------------------------------------- */

const char *const factor_sentence[FACTOR_MISTAKES] = {
    [SUMS] = "R and C take sums of the squares: they take means, over a row and over a column",
    [BETA_CONSTANT] = "beta2 does not depend on the step: it is 1 - t^-power, 0 in the first step",
    [BETA_LATE] = "beta2 is that of the step before: steps count from 1, and t^-power is 1 then",
    [BETA_NEXT] = "beta2 is that of the next step: t counts from 1, and t^-power is 1 in the first",
    [NOT_SQUARED] = "R and C take magnitudes of the gradient: they take squares",
    [NO_EPSILON] = "epsilon is not added to the squares",
    [EPSILON_OUTSIDE] = "epsilon is added to R and C: it is added to each square, before the mean "
                        "and the moving average",
    [PARTS_EXCHANGED] = "beta2 and 1 - beta2 are exchanged: what was there is multiplied by beta2",
    [NOT_DECAYED] = "the mean is added whole, not (1 - beta2) of it",
    [NO_MEAN] = "R is not divided by its mean",
    [SUM_OF_R] = "R is divided by its sum: its mean is meant",
    [PRODUCT] = "one root of R * C: with small gradients their product is 0 in a float; take two "
                "roots",
    [NO_CLIP] = "the update is not clipped: it is divided by max(1, rms(U) / clip)",
    [CLIP_INVERTED] =
        "the update is divided by min(1, rms(U) / clip), which makes small ones larger: "
        "it is the maximum",
    [CLIP_ALWAYS] = "the update is divided by rms(U) / clip also where that is below 1: only "
                    "max(1, rms(U) / clip) divides it",
    [CLIP_OUTSIDE] = "the limit stands outside of the maximum: it is max(1, rms(U) / clip), not "
                     "max(1, rms(U)) / clip",
    [CLIP_TIMES] = "rms(U) is multiplied by clip: it is divided by it",
    [NO_RMS_ROOT] = "rms(U) is the mean of the squares of U: its root is missing",
    [CLIP_ALL] = "rms(U) is taken over all tensors: each has its own",
    [RATE_LEAKS] =
        "the rate stays as the tensor before has left it: what clips one tensor must not "
        "slow the next",
    [OLD_FACTORS] = "the update takes R and C of the step before: they come first",
    [DECAY_NEW] = "weight decay pulls on the new weight: it takes the one before the step",
    [DECAY_EVERY] = "weight decay pulls on every tensor: its entry says whether it does",
    [DECAY_OTHERS] =
        "weight decay pulls on the tensors that it should leave, and on no other: whether "
        "it does, `decays` of the entry in `weight` says",
    [DECAY_PUSHES_AWAY] = "weight decay has the wrong sign: it has to make the weight smaller",
    [DECAY_CLIPPED] = "weight decay is clipped with the update: only U is divided",
    [NO_DECAY] = "weight decay is missing",
    [NAN_HIDDEN] =
        "a NaN in a gradient is taken for 0: its weight becomes NaN, and in a matrix all "
        "of them do",
    [NOT_FINITE_HIDDEN] =
        "a NaN or inf in a gradient is taken for 0: its weight becomes NaN, and in a "
        "matrix all of them do",
    [INF_HIDDEN] = "a square that is infinite in a float is left out: R and C become infinite, and "
                   "in a matrix no weight stays finite",
};

/* A number of a gradient. */
static double taken(float g, FactorMistake mistake) {
    bool hidden = (mistake == NAN_HIDDEN && isnan(g)) ||
                  (mistake == NOT_FINITE_HIDDEN && !isfinite(g)) ||
                  (mistake == INF_HIDDEN && isinf((float)((double)g * (double)g)));
    return hidden ? 0 : (double)g;
}

static double square_of(double g, double epsilon, FactorMistake mistake) {
    return (mistake == NOT_SQUARED ? fabs(g) : g * g) + epsilon;
}

static double beta_of(const Factors *f, int t, FactorMistake mistake) {
    double power = -(double)f->numbers.power;
    return mistake == BETA_CONSTANT ? 0.999
           : mistake == BETA_LATE   ? 1 - pow(t > 1 ? t - 1 : 1, power)
           : mistake == BETA_NEXT   ? 1 - pow(t + 1, power)
                                    : 1 - pow(t, power);
}

/* R of one row, or C of one column: `count` squares, `stride` apart. */
static double moving(const Factors *f, double old, const float *g, int count, int stride, int t,
                     FactorMistake mistake) {
    double sum = 0, beta = beta_of(f, t, mistake), epsilon = (double)f->numbers.epsilon;
    bool each = mistake != NO_EPSILON && mistake != EPSILON_OUTSIDE;
    for (int i = 0; i < count; i++) {
        double x = taken(g[(size_t)i * (size_t)stride], mistake);
        sum += square_of(x, each ? epsilon : 0, mistake);
    }
    double mean = mistake == SUMS ? sum : sum / count;
    beta = mistake == PARTS_EXCHANGED ? 1 - beta : beta;
    double moved = beta * old + (mistake == NOT_DECAYED ? 1 : 1 - beta) * mean;
    moved += mistake == EPSILON_OUTSIDE ? epsilon : 0;
    return fabs(moved) > (double)FLT_MAX ? (double)INFINITY : moved; /* it is stored as a float */
}

typedef struct Factored {
    const Factors *f;
    int k, I, J;
    const float *g, *w;
    const double *R, *C; /* as the update takes them */
    double mean;
} Factored;

static double update_at(const Factored *x, int i, int j, FactorMistake mistake) {
    float given = x->g[i * x->J + j];
    double g = mistake == INF_HIDDEN ? (double)given : taken(given, mistake), C = x->C[j];
    if (!factors_is_matrix(x->f, x->k)) {
        return g / sqrt(C);
    }
    double mean = mistake == NO_MEAN ? 1 : mistake == SUM_OF_R ? x->mean * x->I : x->mean;
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

/* Of the update; `over` is rms(U) / clip. */
static double divisor_of(double over, double clip, FactorMistake mistake) {
    double rms = over * clip;
    switch (mistake) {
    case NO_CLIP:
        return 1;
    case CLIP_INVERTED:
        return fmin(1, over);
    case CLIP_ALWAYS:
        return over;
    case CLIP_OUTSIDE:
        return fmax(1, rms) / clip;
    case CLIP_TIMES:
        return fmax(1, rms * clip);
    case NO_RMS_ROOT:
        return fmax(1, rms * rms / clip);
    default:
        return fmax(1, over);
    }
}

static void update_weights(const Factored *x, double *to, double over, double rate,
                           FactorMistake mistake) {
    bool decays = (x->f->flags[x->k] & FLAG_DECAYS) != 0;
    decays = mistake == DECAY_EVERY || decays != (mistake == DECAY_OTHERS);
    double decay = decays && mistake != NO_DECAY ? (double)x->f->numbers.weight_decay : 0;
    double divisor = divisor_of(over, (double)x->f->numbers.clip, mistake);
    for (int i = 0; i < x->I; i++) {
        for (int j = 0; j < x->J; j++) {
            size_t at = (size_t)i * (size_t)x->J + (size_t)j;
            double w = (double)x->w[at], U = update_at(x, i, j, mistake) / divisor;
            double pull = mistake == DECAY_CLIPPED ? decay * w / divisor : decay * w;
            pull = mistake == DECAY_PUSHES_AWAY ? -pull : pull;
            to[at] =
                mistake == DECAY_NEW ? (w - rate * U) * (1 - rate * decay) : w - rate * (U + pull);
        }
    }
}

/* R and C of all tensors after a step. */
static void step_factors(const Factors *f, const FactorState *from, int step, FactorMistake mistake,
                         FactorStep *to) {
    const float *g = f->grad + (size_t)step * f->all;
    size_t row = 0, col = 0;
    for (int k = 0; k < f->tensors; g += factors_size(f, k++)) {
        int I = f->rows[k], J = f->cols[k];
        for (size_t i = 0; i < factors_rows(f, k); i++, row++) {
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
    double squares[FACTOR_TENSORS], all = 0, rate = (double)f->rate[step];
    for (int k = 0; k < f->tensors; k++) {
        int matrix_rows = (int)factors_rows(f, k);
        tensor[k] = (Factored){f, k, f->rows[k], f->cols[k], g, w, R, C, mean_of(R, matrix_rows)};
        squares[k] = squares_of(&tensor[k], mistake);
        all += squares[k];
        g += factors_size(f, k);
        w += factors_size(f, k);
        R += factors_rows(f, k);
        C += f->cols[k];
    }
    for (int k = 0; k < f->tensors; to += factors_size(f, k++)) {
        double n = (double)(mistake == CLIP_ALL ? f->all : factors_size(f, k));
        double over = sqrt((mistake == CLIP_ALL ? all : squares[k]) / n) / (double)f->numbers.clip;
        update_weights(&tensor[k], to, factors_size(f, k) > 0 ? over : 1, rate, mistake);
        rate = mistake == RATE_LEAKS && over > 1 ? rate / over : rate;
    }
}

/* A mistake in R and C shows in the weights too; one of the update does not show in R and C. */
void factor_step_as(const Factors *f, const FactorState *from, int step, FactorMistake mistake,
                    FactorStep *to) {
    step_factors(f, from, step, mistake, to);
    double *R = to->row, *C = to->col;
    if (mistake == OLD_FACTORS) {
        R = check_doubles(f->check, f->all_rows);
        C = check_doubles(f->check, f->all_cols);
        old_factors(f, from, R, C);
    }
    step_weights(f, from, step, mistake, R, C, to->weight);
}
