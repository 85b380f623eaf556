#include "grader/labs/07_optimizers/eight_step.h"

#include <math.h>

/* ---- a step in double, right or with a mistake --------------------------------------------- */

const char *const eight_sentence[MISTAKES] = {
    [TENSOR_SCALE] =
        "one scale for a whole tensor: each block of 256 numbers has its own, so that an "
        "outlier spoils no other block",
    [SIGNED_V] =
        "second moments by the codebook with a sign: they have none, and one of their own, "
        "Q.v, which is twice as fine",
    [OLD_SCALE] =
        "the codes are those of the scale before this step: first the new absmax, then the "
        "codes",
    [REQUANTISED] = "the update takes the moments after they are stored: it takes them before, and "
                    "their rounding waits for the next step",
    [ROUNDED_DOWN] =
        "the code below is taken, not the nearest: the border lies in the middle between "
        "two values",
    [SIGN_LOST] = "a small negative moment becomes 0: it keeps its sign, and takes the code below "
                  "that of 0",
    [SIGNED_MAXIMUM] = "the scale is the largest value, not the largest magnitude",
    [NOT_SCALED] = "the codes are those of the moment itself: divide it by its block's absmax",
    [HIDDEN] =
        "a NaN or inf is lost on the way into the scale: fmaxf() drops NaN, and a code cannot "
        "hold it, so the scale must",
    [NO_TAIL] = "the last block of a tensor is left out where it is not full",
    [DECAY_AFTER] = "weight decay pulls on the new weight: it takes the one before the step, as in "
                    "PyTorch",
    [DECAY_UNRATED] = "weight decay pulls by itself: it is multiplied by the rate, too",
    [DECAY_PUSHES] = "weight decay has the wrong sign: it has to make the weight smaller",
    [DECAYS_ALL] = "weight decay pulls on every tensor: its entry says whether it does",
    [DECAYS_NONE] = "weight decay is missing",
    [DECAYS_OTHERS] =
        "weight decay pulls on the tensors that it should leave, and on no other: whether "
        "it does, `decays` of the entry in `weight` says",
    [UNCORRECTED] = "the moments are not corrected: m / (1 - beta1^t), v / (1 - beta2^t)",
    [V_UNCORRECTED] = "m is corrected and v is not: v / (1 - beta2^t)",
    [CORRECTED_OUTSIDE] = "v is corrected outside of the root: it is the root of v / (1 - beta2^t)",
    [CORRECTED_TIMES] = "the moments are multiplied by 1 - beta^t: they are divided by it",
    [STEP_BEFORE] = "the moments are corrected as in the step before: t counts from 1",
    [STEP_AFTER] = "the moments are corrected as in the next step: t counts from 1",
    [WHOLE_GRADIENT] = "g is added whole, not (1 - beta1) of it",
    [WHOLE_SQUARE] = "g^2 is added whole, not (1 - beta2) of it",
    [BETAS_SWAPPED] = "beta1 and beta2 are exchanged: m has beta1, and v has beta2",
    [NO_ROOT] = "m is divided by v itself: it is divided by the root of v",
    [EPSILON_AFTER] = "epsilon is added to the quotient: it is added to the root of v",
    [ASCENDS] = "the step is added to the weight: it is subtracted, against the gradient",
    [NO_FLOATS] = "tensors whose moments are floats (`value`) are left out",
    [OLD_MOMENTS] = "the update takes the moments of the step before: m and v come first",
    [ZERO_BY_ZERO] = "in a block of zeros all codes are 0, as after 0 / 0: x is 0 there, and takes "
                     "the code whose value is 0",
    [ZERO_BELOW] = "a moment of 0 takes the code below that of 0: only a negative one does",
    [DECAY_COUPLED] =
        "weight decay is added to the gradient, and so to the moments: it pulls on the "
        "weight alone",
    [EPSILON_INSIDE] = "epsilon stands under the root: it is added to the root",
    [TIE_ABOVE] = "in the middle between two values the code above is taken: it is the smaller one",
    [ONE_BETA] = "both moments are corrected with beta1: v has beta2",
};

/* Whether x takes a code of c or above, not one below. */
static bool takes_from(const float *book, unsigned c, double x, EightMistake mistake) {
    return mistake == ROUNDED_DOWN ? x >= (double)book[c]
                                   : x > ((double)book[c - 1] + (double)book[c]) / 2;
}

static unsigned code_of(const float *book, double x, EightMistake mistake) {
    unsigned c = 0;
    for (unsigned step = ADAM8_CODES / 2; step > 0; step /= 2) {
        c += takes_from(book, c + step, x, mistake) ? step : 0;
    }
    bool below = mistake == ZERO_BELOW ? x <= 0 : mistake != SIGN_LOST && x < 0;
    return below && book[c] == 0 ? c - 1 : c;
}

static double scale_of(const double *x, size_t n, EightMistake mistake) {
    double most = mistake == SIGNED_MAXIMUM ? -(double)INFINITY : 0;
    bool bad = false;
    for (size_t i = 0; i < n; i++) {
        double size = mistake == SIGNED_MAXIMUM ? x[i] : fabs(x[i]);
        bool finite = (bool)isfinite(x[i]);
        bad = bad || (!finite && mistake != HIDDEN);
        most = finite && size > most ? size : most;
    }
    return bad ? (double)NAN : most;
}

/* Scales and codes of one tensor: n numbers from `first`, blocks from `block`. */
static void store(EightMoments *to, const EightMoment *old, const float *book, size_t first,
                  size_t block, size_t n, EightMistake mistake) {
    double whole = scale_of(to->x + first, n, mistake);
    for (size_t b = 0; b < adam8_blocks(n); b++) {
        size_t begin = first + b * ADAM8_BLOCK, left = n - b * ADAM8_BLOCK;
        size_t count = left < ADAM8_BLOCK ? left : ADAM8_BLOCK;
        double scale = mistake == TENSOR_SCALE ? whole : scale_of(to->x + begin, count, mistake);
        double divisor = mistake == OLD_SCALE    ? (double)old->absmax[block + b]
                         : mistake == NOT_SCALED ? 1
                                                 : scale;
        bool kept = mistake == NO_TAIL && count < ADAM8_BLOCK;
        to->absmax[block + b] = kept ? (double)old->absmax[block + b] : scale;
        to->hidden[block + b] = !isfinite(scale);
        to->slack[block + b] = 0;
        for (size_t i = begin; i < begin + count; i++) {
            double x = divisor == 0 ? 0 : to->x[i] / divisor;
            double slack =
                divisor == 0 ? 0 : to->error[i] / fabs(divisor) + 4 * EIGHT_EPSILON * fabs(x);
            to->slack[block + b] = fmax(to->slack[block + b], to->error[i]);
            to->low[i] = (uint8_t)(kept ? old->code[i] : code_of(book, x - slack, mistake));
            to->high[i] = (uint8_t)(kept ? old->code[i] : code_of(book, x + slack, mistake));
            if (mistake == ZERO_BY_ZERO && divisor == 0) { /* no value is below NaN */
                to->low[i] = to->high[i] = 0;
            }
        }
    }
}

/* In the middle between two values, where no rounding decides. */
static void take_side(EightMoments *to, size_t tie, EightMistake mistake) {
    uint8_t *low = &to->low[tie], *high = &to->high[tie];
    *(mistake == TIE_ABOVE ? low : high) = mistake == TIE_ABOVE ? *high : *low;
}

static double stored(const EightMoment *moment, const float *book, bool bytes, size_t i, size_t b) {
    return bytes ? (double)book[moment->code[i]] * (double)moment->absmax[b]
                 : (double)moment->value[i];
}

static EightMoments moments_new(const Eight *eight) {
    Check *check = eight->check;
    return (EightMoments){.x = check_doubles(check, eight->all),
                          .error = check_doubles(check, eight->all),
                          .absmax = check_doubles(check, eight->blocks),
                          .slack = check_doubles(check, eight->blocks),
                          .low = (uint8_t *)check_doubles(check, eight->all / 8 + 1),
                          .high = (uint8_t *)check_doubles(check, eight->all / 8 + 1),
                          .hidden = (bool *)check_doubles(check, eight->blocks / 8 + 1)};
}

static void decay_moment(EightMoments *to, size_t i, double old, double beta, double add,
                         double part) {
    to->x[i] = beta * old + part * add;
    to->error[i] = 3 * EIGHT_EPSILON * (fabs(beta * old) + fabs(part * add));
}

/* A moment's divisor in step t. */
static double correction(float beta, int t, EightMistake mistake) {
    double right = 1 - pow((double)beta, t);
    return mistake == UNCORRECTED ? 1 : mistake == CORRECTED_TIMES ? 1 / right : right;
}

static double root_of(double v, double correct, double epsilon, EightMistake mistake) {
    switch (mistake) {
    case EPSILON_INSIDE:
        return sqrt(v / correct + epsilon);
    case V_UNCORRECTED:
        return sqrt(v) + epsilon;
    case CORRECTED_OUTSIDE:
        return sqrt(v) / correct + epsilon;
    case NO_ROOT:
        return v / correct + epsilon;
    case EPSILON_AFTER:
        return sqrt(v / correct);
    default:
        return sqrt(v / correct) + epsilon;
    }
}

static double pulled(double w, double lr, double step, double decay, EightMistake mistake) {
    switch (mistake) {
    case DECAY_AFTER:
        return (w - lr * step) * (1 - lr * decay);
    case DECAY_UNRATED:
        return w - lr * step - decay * w;
    case DECAY_PUSHES:
        return w - lr * (step - decay * w);
    case DECAY_COUPLED:
        return w - lr * step;
    case ASCENDS:
        return w + lr * (step + decay * w);
    default:
        return w - lr * (step + decay * w);
    }
}

/* One number, with the moments m and v as the update takes them. */
static double updated(const Eight *eight, double w, double m, double v, bool decays, int t,
                      EightMistake mistake) {
    const AdamW *a = &eight->adamw;
    double lr = (double)eight->rate[t - eight->t], decay = decays ? (double)a->weight_decay : 0;
    t += mistake == STEP_AFTER ? 1 : mistake == STEP_BEFORE && t > 1 ? -1 : 0;
    double correct1 = correction(a->beta1, t, mistake);
    double correct2 = correction(mistake == ONE_BETA ? a->beta1 : a->beta2, t, mistake);
    double root = root_of(v, correct2, (double)a->epsilon, mistake);
    double step = m / correct1 / root + (mistake == EPSILON_AFTER ? (double)a->epsilon : 0);
    return pulled(w, lr, step, decay, mistake);
}

/* The value of the code that a moment is stored as. */
static double stored_again(const EightMoments *moments, const float *book, size_t i, size_t b) {
    return (double)book[moments->low[i]] * moments->absmax[b];
}

static bool decays_as(bool decays, EightMistake mistake) {
    return mistake == DECAYS_ALL      ? true
           : mistake == DECAYS_NONE   ? false
           : mistake == DECAYS_OTHERS ? !decays
                                      : decays;
}

void eight_step_as(const Eight *eight, const EightState *from, int k, EightMistake mistake,
                   EightStep *step) {
    const float *grad = eight->grad + (size_t)k * eight->all;
    const Codebooks *books = &eight->books[k % BOOKS];
    const float *Qm = books->m, *Qv = mistake == SIGNED_V ? Qm : books->v;
    const AdamW *a = &eight->adamw;
    double beta1 = (double)(mistake == BETAS_SWAPPED ? a->beta2 : a->beta1);
    double beta2 = (double)(mistake == BETAS_SWAPPED ? a->beta1 : a->beta2);
    size_t first = 0, block = 0;
    step->before = from->weight;
    for (int tensor = 0; tensor < eight->tensors; tensor++) {
        size_t n = (size_t)eight->n[tensor];
        bool bytes = (eight->flags[tensor] & FLAG_BYTES) != 0;
        bool decays = decays_as((eight->flags[tensor] & FLAG_DECAYS) != 0, mistake);
        for (size_t i = first; i < first + n; i++) {
            size_t b = block + (i - first) / ADAM8_BLOCK;
            double g = (double)grad[i];
            if (mistake == DECAY_COUPLED && decays) {
                g += (double)a->weight_decay * (double)from->weight[i];
            }
            double m = stored(&from->m, Qm, bytes, i, b), v = stored(&from->v, Qv, bytes, i, b);
            decay_moment(&step->m, i, m, beta1, g, mistake == WHOLE_GRADIENT ? 1 : 1 - beta1);
            decay_moment(&step->v, i, v, beta2, g * g, mistake == WHOLE_SQUARE ? 1 : 1 - beta2);
            if (mistake != OLD_MOMENTS) {
                m = step->m.x[i];
                v = step->v.x[i];
            }
            step->weight[i] =
                updated(eight, (double)from->weight[i], m, v, decays, eight->t + k, mistake);
        }
        if (bytes) {
            store(&step->m, &from->m, Qm, first, block, n, mistake);
            store(&step->v, &from->v, Qv, first, block, n, mistake);
            if (k == 0 && first < eight->tie && eight->tie < first + n) {
                take_side(&step->m, eight->tie, mistake);
                take_side(&step->v, eight->tie, mistake);
            }
        }
        for (size_t i = first; i < first + n; i++) {
            size_t b = block + (i - first) / ADAM8_BLOCK;
            bool tail = mistake == NO_TAIL && bytes && (i - first) >= n / ADAM8_BLOCK * ADAM8_BLOCK;
            bool left = tail || (mistake == NO_FLOATS && !bytes);
            if (mistake == REQUANTISED && bytes) {
                step->weight[i] =
                    updated(eight, (double)from->weight[i], stored_again(&step->m, Qm, i, b),
                            stored_again(&step->v, Qv, i, b), decays, eight->t + k, mistake);
            }
            if (left) {
                step->weight[i] = (double)from->weight[i];
                step->m.x[i] = bytes ? step->m.x[i] : (double)from->m.value[i];
                step->v.x[i] = bytes ? step->v.x[i] : (double)from->v.value[i];
            }
        }
        first += n;
        block += adam8_blocks(n);
    }
}

EightStep eight_step_new(const Eight *eight) {
    return (EightStep){.weight = check_doubles(eight->check, eight->all),
                       .m = moments_new(eight),
                       .v = moments_new(eight)};
}
