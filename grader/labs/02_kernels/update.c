#include "grader/labs/02_kernels/update.h"

#include <math.h>

/* ---- sumsq ----------------------------------------------------------------------------------- */

/* Blocks of the flat index of the cut: partial sums of sumsq. */
static size_t sumsq_blocks(int N) {
    size_t n[KERNEL_TENSORS], blocks = 0;
    kernel_cut(N, n);
    for (int i = 0; i < KERNEL_TENSORS; i++) {
        blocks += tensor_indices(n[i]) / TENSOR_BLOCK;
    }
    return blocks;
}

/* Sums over a block: of squares, and what known mistakes leave. */
typedef struct BlockSums {
    double *squares, *sum, *without_tail, *of_first; /* of_first: of the list's first tensor */
    size_t count;
} BlockSums;

static BlockSums sumsq_block_sums(Calls *calls, const double *x, int N) {
    size_t n[KERNEL_TENSORS], block = 0;
    BlockSums of = {.count = sumsq_blocks(N)};
    of.squares = check_doubles(calls->check, of.count);
    of.sum = check_doubles(calls->check, of.count);
    of.without_tail = check_doubles(calls->check, of.count);
    of.of_first = check_doubles(calls->check, of.count);
    kernel_cut(N, n);
    for (int i = 0; i < KERNEL_TENSORS; block += tensor_indices(n[i++]) / TENSOR_BLOCK) {
        for (size_t k = 0; k < n[i]; k++, x++) {
            size_t to = block + k / TENSOR_BLOCK;
            of.squares[to] += *x * *x;
            of.sum[to] += *x;
            of.without_tail[to] += k < n[i] / 4 * 4 ? *x * *x : 0;
            of.of_first[to] += i == 0 ? *x * *x : 0;
        }
    }
    return of;
}

static double sumsq_total(const double *values, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        sum += values[i];
    }
    return sum;
}

static const char *const not_squares = "the numbers are added, not their squares";
static const char *const one_tensor =
    "only the first tensor of the list is seen: an index belongs to the tensor that tensor_find() "
    "gives";
static const char *const too_few_added =
    "a thread adds one partial sum, and there are more partial sums than threads";
static const char *const added_by_all = "each thread adds the sum to out: one of them does";
static const char *const no_tail = "the last n % PACK numbers of a tensor are left out";

/* The last n % PACK numbers of each tensor become at least `scale`: who leaves them out loses more
   than a tolerance of the sum, with every seed. */
static void sumsq_lift_tails(float *x, int N, float scale) {
    size_t n[KERNEL_TENSORS];
    kernel_cut(N, n);
    for (int i = 0; i < KERNEL_TENSORS; x += n[i++]) {
        for (size_t k = n[i] / 4 * 4; k < n[i]; k++) {
            x[k] = copysignf(fmaxf(fabsf(x[k]), scale), x[k]);
        }
    }
}

/* The same sums as doubles, which differ from those by nothing but the order of the additions. */
static void sumsq_want_doubles(Calls *calls, int i, Expected *e) {
    char *name = (char *)check_doubles(calls->check, WIRE_NAME / sizeof(double));
    e->doubles = kernel_tensor(name, "double", i, &calls->c[i]);
    check_want(calls->check, e->doubles, WIRE_F64, e->n);
}

/* The number in out after all threads have added the sum, each a float. */
static double sumsq_added_by(size_t threads, double out, double squares) {
    float sum = (float)out;
    for (size_t i = 0; i < threads; i++) {
        sum += (float)squares;
    }
    return (double)sum;
}

static void sumsq_expect(Calls *calls, int i, const double *x, bool partials) {
    int n = calls->c[i].N;
    calls->bytes += 4.0 * n;
    BlockSums of = sumsq_block_sums(calls, x, n);
    double squares = sumsq_total(of.squares, of.count);
    double *out = check_doubles(calls->check, 1), *want = check_doubles(calls->check, 1);
    double size = n > 0 && isfinite(squares) ? squares : 1;
    out[0] = (double)(float)(partials ? 0 : size * (0.5 + 0.1 * i));
    calls_give_doubles(calls, i, "out", out, 1);
    if (partials) {
        Expected *e = calls_expect(calls, i, "partial", of.squares, of.count, 0,
                                   tolerance_of_op(F32, TENSOR_BLOCK));
        e->element = sizeof(double);
        sumsq_want_doubles(calls, i, e);
        expected_suspect(calls, e, not_squares, of.sum);
        expected_suspect(calls, e, no_tail, of.without_tail);
        expected_suspect(calls, e, one_tensor, of.of_first);
        return;
    }
    if (strcmp(calls->op, "sumsq_out") == 0) { /* no other check passes over task 1 */
        calls_give_left(calls, i, of.squares, of.count * sizeof *of.squares);
    }
    want[0] = out[0] + squares;
    calls->nearly = "nearly right, wherever it is wrong. Is a square or a sum kept in float, or in "
                    "half? They are double, and rounded to float once";
    const Tolerance once = {.relative = 0x1p-23, .norm = 0x1p-23}; /* the sum, and then out */
    Expected *e = calls_expect(calls, i, "out", want, 1, 0, once);
    *expected_suspect(calls, e, not_squares, NULL) = out[0] + sumsq_total(of.sum, of.count);
    *expected_suspect(calls, e, no_tail, NULL) = out[0] + sumsq_total(of.without_tail, of.count);
    *expected_suspect(calls, e, one_tensor, NULL) = out[0] + sumsq_total(of.of_first, of.count);
    for (size_t threads = 32; threads <= 1024; threads *= 2) {
        *expected_suspect(calls, e, too_few_added, NULL) =
            out[0] + sumsq_total(of.squares, of.count < threads ? of.count : threads);
        *expected_suspect(calls, e, added_by_all, NULL) =
            sumsq_added_by(threads, out[0], n > 0 ? squares : 0);
    }
    *expected_suspect(calls, e, "= where += is meant: out may hold the sum of another list", NULL) =
        n > 0 ? squares : out[0]; /* an empty list launches nothing */
    *expected_suspect(calls, e, "the root is taken here; it belongs to the caller", NULL) =
        out[0] + sqrt(squares);
}

void sumsq_add(Calls *calls, int n, double scale, bool partials) {
    int i = calls_add(calls, F32, n, 1);
    float *values = check_normal(calls->check, (size_t)n, scale, F32);
    sumsq_lift_tails(values, n, (float)scale);
    calls_give(calls, i, "x", values, (size_t)n);
    sumsq_expect(calls, i, calls_doubles(calls, values, (size_t)n), partials);
}

void sumsq_add_infinite(Calls *calls, int n, float infinite, bool partials) {
    int i = calls_add(calls, F32, n, 1);
    float *values = check_normal(calls->check, (size_t)n, 1, F32);
    values[n / 2] = infinite;
    calls_give(calls, i, "x", values, (size_t)n);
    sumsq_expect(calls, i, calls_doubles(calls, values, (size_t)n), partials);
}

/* ---- adamw ----------------------------------------------------------------------------------- */

/* An update with a mistake; reference_adamw() is the right one. */
typedef enum Slip {
    EPSILON_INSIDE,
    NO_CORRECTION,
    CORRECTS_M_ONLY,
    LATE_T,
    COUPLED,
    DECAY_WITHOUT_RATE,
    NO_DECAY,
    ALL_DECAY,
    OTHERS_DECAY,
    DECAY_AFTER,
    DECAY_ADDED,
    EPSILON_EARLY,
    NO_ROOT,
    SLIPS,
} Slip;

static const char *const slip_sentence[SLIPS] = {
    [EPSILON_INSIDE] = "epsilon is inside of the root; it is added to the root",
    [NO_CORRECTION] = "the bias correction is missing: m and v are too small by 1 - beta^t",
    [CORRECTS_M_ONLY] = "m is corrected and v is not",
    [LATE_T] = "t is one too large: steps count from 1, and t is this one",
    [COUPLED] = "the weight decay goes into the gradient: that is Adam with L2, not AdamW",
    [DECAY_WITHOUT_RATE] = "the weight decay is not multiplied by the learning rate",
    [NO_DECAY] = "the weight decay is missing",
    [ALL_DECAY] = "weight decay pulls on all tensors; it should on those whose entry has `decays`",
    [OTHERS_DECAY] = "weight decay pulls on what has `decays` in m, v or grad: `weight` says it",
    [DECAY_AFTER] = "the decay is taken of the weight after its step, not of the one before",
    [DECAY_ADDED] = "the decay is added: it makes a weight smaller",
    [EPSILON_EARLY] =
        "epsilon is added to the root of v before its correction: it is added after it",
    [NO_ROOT] = "the root of v is missing",
};

static double adamw_slipped(Slip slip, double w, double m, double v, double g, AdamW a, bool decays,
                            int t) {
    double lr = (double)a.learning_rate, b1 = (double)a.beta1, b2 = (double)a.beta2;
    double epsilon = (double)a.epsilon;
    bool pulls = slip == ALL_DECAY || decays != (slip == OTHERS_DECAY);
    double decay = pulls ? (double)a.weight_decay : 0;
    g += slip == COUPLED ? decay * w : 0;
    m = b1 * m + (1 - b1) * g;
    v = b2 * v + (1 - b2) * g * g;
    t += slip == LATE_T;
    m /= slip == NO_CORRECTION ? 1 : 1 - pow(b1, t);
    v /= slip == NO_CORRECTION || slip == CORRECTS_M_ONLY ? 1 : 1 - pow(b2, t);
    double late = slip == EPSILON_EARLY ? epsilon / sqrt(1 - pow(b2, t)) : epsilon;
    double step = m / (slip == EPSILON_INSIDE ? sqrt(v + epsilon)
                       : slip == NO_ROOT      ? v + epsilon
                                              : sqrt(v) + late);
    double pulled = slip == DECAY_AFTER ? w - lr * step : w;
    double shrink = slip == COUPLED || slip == NO_DECAY ? 0 : decay * pulled;
    shrink = slip == DECAY_ADDED ? -shrink : shrink;
    return w - (slip == DECAY_WITHOUT_RATE ? lr * step + shrink : lr * (step + shrink));
}

/* An update may cancel most of the number that it starts from, and keeps that number's rounding. */
static void expected_allow_cancelling(Expected *expected, double norm_before) {
    double condition = fmax(1, norm_before / norm_of(expected->want, expected->n));
    expected->tolerance.scaled *= condition;
    expected->tolerance.norm *= condition;
}

/* Whether weight decay pulls on number k of N. */
static bool adamw_decays_at(int N, size_t k) {
    size_t n[KERNEL_TENSORS];
    int i = 0;
    for (kernel_cut(N, n); k >= n[i]; i++) {
        k -= n[i];
    }
    return kernel_decays(i);
}

static const char *const left_out =
    "numbers with a gradient of 0 are left out: their moments fade, and their weights move, too";

static const char *const stored_corrected =
    "m and v are stored corrected: they are kept as they are, and the step alone takes the "
    "corrected ones";

static const char *const too_few_indices =
    "the grid covers list.n indices: there are list.length, for each tensor begins with a block";

/* The place of number k in the flat index. */
static size_t adamw_index(int N, size_t k) {
    size_t n[KERNEL_TENSORS], first = 0;
    int i = 0;
    for (kernel_cut(N, n); k >= n[i]; i++) {
        k -= n[i];
        first += tensor_indices(n[i]);
    }
    return first + k;
}

/* Whether number k is left as it was where the grid covers N indices alone. Known for an N that is
   whole blocks of any size; elsewhere a block's size decides. */
static bool adamw_beyond_grid(int N, size_t k) {
    enum { ANY_BLOCK = 4096 };
    return N % ANY_BLOCK == 0 && adamw_index(N, k) >= (size_t)N;
}

/* Of each five gradients one is 0, and so are the moments of each second of these: embeddings of
   tokens that a batch does not have. */
static void adamw_quieten(float *values, size_t n, size_t every) {
    for (size_t k = 0; k < n; k += every) {
        values[k] = 0;
    }
}

/* Gives gradients, or first moments, some of which are 0. */
static double *adamw_give_quiet(Calls *calls, int i, const char *tensor, size_t n,
                                AdamwGradients numbers, size_t every) {
    float *values = check_normal(calls->check, n, numbers.scale, F32);
    adamw_quieten(values, n, every);
    if (numbers.middle != 0) {
        values[n / 2] = numbers.middle;
    }
    calls_give(calls, i, tensor, values, n);
    return calls_doubles(calls, values, n);
}

void adamw_add(Calls *calls, int n, AdamW a, int t, AdamwGradients gradients) {
    enum { QUIET = 5 };
    int i = calls_add(calls, F32, n, 1);
    size_t count = (size_t)n;
    calls->c[i].t = t;
    calls->nearly = "nearly right, wherever it is wrong: compare each step of the update with the "
                    "formula in kernels/adamw.h, in its order";
    calls->bytes += 28.0 * n; /* weight, m and v are read and written, grad is read */
    calls->c[i].adamw = a;
    double *weight = calls_give_normal(calls, i, "weight", count, 1, F32);
    double *grad = adamw_give_quiet(calls, i, "grad", count, gradients, QUIET);
    AdamwGradients halves = {.scale = gradients.scale / 2};
    double *m = adamw_give_quiet(calls, i, "m", count, halves, 2 * QUIET);
    float *squares = check_normal(calls->check, count, gradients.scale, F32);
    adamw_quieten(squares, count, 2 * QUIET);
    for (size_t k = 0; k < count; k++) {
        squares[k] *= squares[k];
    }
    calls_give(calls, i, "v", squares, count);
    double *v = calls_doubles(calls, squares, count);
    Expected *of_m = calls_expect(calls, i, "m", m, count, 0, tolerance_of_op(F32, 1));
    Expected *of_v = calls_expect(calls, i, "v", v, count, 0, tolerance_of_op(F32, 1));
    Expected *of_weight =
        calls_expect(calls, i, "weight", weight, count, 0, tolerance_of_op(F32, 1));
    Expected *of_grad = calls_expect(calls, i, "grad", grad, count, 0, tolerance_of_op(F32, 1));
    expected_suspect(calls, of_grad, "the gradients are set to 0 here: they are only read", NULL);
    double *whole = expected_suspect(calls, of_m, "g is added whole, not (1 - beta1) of it", m);
    double *decayed = expected_suspect(calls, of_m, slip_sentence[COUPLED], m);
    double *plain = expected_suspect(calls, of_v, "v takes g where it should take its square", v);
    double *other_beta =
        expected_suspect(calls, of_v, "v takes (1 - beta1) of the square; it is (1 - beta2)", v);
    double *corrected[2];
    for (int k = 0; k < 2; k++) {
        corrected[k] = expected_suspect(calls, k == 0 ? of_m : of_v, stored_corrected, NULL);
    }
    size_t lengths[KERNEL_TENSORS];
    kernel_cut(n, lengths);
    Expected *const all[] = {of_m, of_v, of_weight};
    double *first_only[3], *loud_only[3], *short_of_grid[3];
    for (int k = 0; k < 3; k++) {
        first_only[k] = expected_suspect(calls, all[k], one_tensor, all[k]->want);
        loud_only[k] = expected_suspect(calls, all[k], left_out, all[k]->want);
        short_of_grid[k] = expected_suspect(calls, all[k], too_few_indices, all[k]->want);
    }
    for (size_t k = 0; k < count; k++) {
        double decay = adamw_decays_at(n, k) ? (double)a.weight_decay : 0;
        double pulled = grad[k] + decay * weight[k];
        whole[k] = (double)a.beta1 * m[k] + grad[k];
        decayed[k] = (double)a.beta1 * m[k] + (1 - (double)a.beta1) * pulled;
        plain[k] = (double)a.beta2 * v[k] + (1 - (double)a.beta2) * grad[k];
        other_beta[k] = (double)a.beta2 * v[k] + (1 - (double)a.beta1) * grad[k] * grad[k];
    }
    for (Slip slip = 0; slip < SLIPS; slip++) {
        double *wrong = expected_suspect(calls, of_weight, slip_sentence[slip], weight);
        for (size_t k = 0; k < count; k++) {
            wrong[k] =
                adamw_slipped(slip, weight[k], m[k], v[k], grad[k], a, adamw_decays_at(n, k), t);
        }
    }
    double norm_of_m = norm_of(m, count), norm_of_weight = norm_of(weight, count);
    for (size_t k = 0; k < count; k++) {
        reference_adamw(weight + k, m + k, v + k, grad + k, 1, (double)a.learning_rate,
                        (double)a.beta1, (double)a.beta2, (double)a.epsilon,
                        adamw_decays_at(n, k) ? (double)a.weight_decay : 0, t);
    }
    for (size_t k = 0; k < count; k++) {
        corrected[0][k] = m[k] / (1 - pow((double)a.beta1, t));
        corrected[1][k] = v[k] / (1 - pow((double)a.beta2, t));
    }
    for (int k = 0; k < 3; k++) {
        memcpy(first_only[k], all[k]->want, lengths[0] * sizeof(double));
        for (size_t j = 0; j < count; j++) {
            double right = all[k]->want[j];
            loud_only[k][j] = grad[j] != 0 ? right : loud_only[k][j];
            short_of_grid[k][j] = adamw_beyond_grid(n, j) ? short_of_grid[k][j] : right;
        }
    }
    if (count > 0) {
        expected_allow_cancelling(of_m, norm_of_m);
        expected_allow_cancelling(of_weight, norm_of_weight);
    }
}
