#include "grader/labs/10_lora/merged.h"

#include <math.h>
#include <string.h>

#include "common/testkit/reference.h"
#include "kernels/half.h"

enum { MERGE_SECONDS = 30 };

/* ---- products -------------------------------------------------------------------------------- */

typedef enum MergeMistake {
    MERGE_RIGHT,
    MERGE_TRANSPOSED,
    MERGE_ALPHA,
    MERGE_UNSCALED,
    MERGE_SQUARED,
    MERGE_IN_INT,
    MERGE_SIGN_IGNORED,
    MERGE_NEVER_OUT,
    MERGE_PUT_BACK,
    MERGE_OPPOSITE,
    MERGE_NOTHING,
    MERGE_REPLACED,
    MERGE_MISTAKES
} MergeMistake;

static const char *const merge_sentence[MERGE_MISTAKES] = {
    [MERGE_TRANSPOSED] = "merged and unmerged agree only where B is 0: the product is transposed, "
                         "which fits a square matrix and is wrong there too",
    [MERGE_ALPHA] = "the product is multiplied by alpha: s is alpha / r",
    [MERGE_UNSCALED] = "the product is not multiplied by s",
    [MERGE_SQUARED] = "the product is multiplied by s twice",
    [MERGE_IN_INT] = "s is cut to a whole number: alpha / r is a float",
    [MERGE_SIGN_IGNORED] = "the product is added where it should be taken out: `sign` is ignored",
    [MERGE_NEVER_OUT] = "with sign -1 nothing is taken out",
    [MERGE_PUT_BACK] = "with sign -1 the weights of before the last merge are put back: the "
                       "product of A and B, as they are now, is taken out of the weights",
    [MERGE_OPPOSITE] = "the product is taken out where it should be added, and the reverse",
    [MERGE_NOTHING] = "nothing is added to the weight",
    [MERGE_REPLACED] = "the product replaces the weight: it is added to it",
};

/* An adapter's layer of a run. */
typedef struct MergeLayer {
    int layer;
    LinearId id;
    int rows, cols;
    size_t at; /* of its weight among those of the GPT-2 */
} MergeLayer;

static MergeLayer layer_of(const LoraRun *run, int layer, LinearId id) {
    int index = MODEL_PARAMS + layer * BLOCK_PARAMS + (int)linear_weight(id);
    int C = run->config.C;
    return (MergeLayer){.layer = layer,
                        .id = id,
                        .rows = C * (id == LINEAR_QKV  ? 3
                                     : id == LINEAR_FC ? 4
                                                       : 1),
                        .cols = C * (id == LINEAR_FCPROJ ? 4 : 1),
                        .at = base_place(&run->config, index)};
}

/* (B A)[o][c] */
static double product_at(const LoraRun *run, const MergeLayer *m, const float *adapters, int o,
                         int c) {
    const float *a = adapters + lora_place(run, m->layer, m->id, 0);
    const float *b = adapters + lora_place(run, m->layer, m->id, 1);
    double sum = 0;
    for (int k = 0; k < run->config.adapter.rank; k++) {
        sum += (double)b[o * run->config.adapter.rank + k] * (double)a[k * m->cols + c];
    }
    return sum;
}

static double factor_of(const Adapter *adapter, MergeMistake mistake, double sign) {
    double alpha = (double)adapter->alpha, s = alpha / adapter->rank;
    sign = mistake == MERGE_SIGN_IGNORED ? 1 : sign;
    bool never = mistake == MERGE_NOTHING || (mistake == MERGE_NEVER_OUT && sign < 0);
    return sign * (never                       ? 0
                   : mistake == MERGE_ALPHA    ? alpha
                   : mistake == MERGE_UNSCALED ? 1
                   : mistake == MERGE_SQUARED  ? s * s
                   : mistake == MERGE_IN_INT   ? floor(s)
                   : mistake == MERGE_OPPOSITE ? -s
                                               : s);
}

/* Adds sign * s * B A to the weights of a whole model, as a mistake does it. */
static void add_products(const LoraRun *run, double *weights, const float *adapters, double sign,
                         MergeMistake mistake) {
    double s = factor_of(&run->config.adapter, mistake, sign);
    for (int at = 0; at < run->config.L * BLOCK_LINEARS; at++) {
        LinearId id = (LinearId)(at % BLOCK_LINEARS);
        MergeLayer m = layer_of(run, at / BLOCK_LINEARS, id);
        bool square = m.rows == m.cols && mistake == MERGE_TRANSPOSED;
        for (int i = 0; i < m.rows * m.cols && run->config.adapter.targets >> id & 1; i++) {
            int o = i / m.cols, c = i % m.cols;
            double delta = s * product_at(run, &m, adapters, square ? c : o, square ? o : c);
            weights[m.at + (size_t)i] =
                (mistake == MERGE_REPLACED ? 0 : weights[m.at + (size_t)i]) + delta;
        }
    }
}

static double *weights_of(const LoraRun *run) {
    double *to = check_doubles(run->check, run->base);
    for (size_t i = 0; i < run->base; i++) {
        to[i] = (double)run->weights[i];
    }
    return to;
}

/* ---- in half --------------------------------------------------------------------------------- */

/* A sum in half lies between these two, which are apart only where the order of the float sums that
   it is rounded from decides. */
typedef struct HalfSum {
    float low, high;
} HalfSum;

static double rounded(Precision half, double x) {
    return (double)precision_round(half, (float)x);
}

/* Rounded once, or the product by itself and then the sum. `size`: the sum of what is added, each
   number without its sign. */
static HalfSum half_sum(Precision half, double weight, double product, double size, bool twice) {
    const double spare = 1e-6 * size; /* of some float sums, in any order */
    double low = product - spare, high = product + spare;
    low = twice ? rounded(half, low) : low;
    high = twice ? rounded(half, high) : high;
    return (HalfSum){precision_round(half, (float)(weight + low - spare)),
                     precision_round(half, (float)(weight + high + spare))};
}

static bool is_between(HalfSum sum, float got) {
    return got >= sum.low && got <= sum.high;
}

static void expect_in_half(const LoraRun *run, Precision half) {
    const float *got = check_got(run->check, "merged", WIRE_F32);
    float *adapters = (float *)check_doubles(run->check, run->numbers);
    double *before = check_doubles(run->check, run->base);
    double *after = check_doubles(run->check, run->base);
    double *size = check_doubles(run->check, run->base);
    for (size_t i = 0; i < run->numbers; i++) {
        adapters[i] = precision_round(half, run->adapters[i]);
    }
    for (size_t i = 0; i < run->base; i++) {
        before[i] = after[i] = rounded(half, (double)run->weights[i]);
        size[i] = fabs(before[i]);
    }
    add_products(run, after, adapters, 1, MERGE_RIGHT);
    for (size_t i = 0; i < run->numbers; i++) {
        adapters[i] = fabsf(adapters[i]);
    }
    add_products(run, size, adapters, 1, MERGE_RIGHT);
    bool twice = true;
    size_t wrong = run->base;
    for (size_t i = run->base; i-- > 0;) {
        double product = after[i] - before[i];
        wrong = is_between(half_sum(half, before[i], product, size[i], false), got[i]) ? wrong : i;
        twice = twice && is_between(half_sum(half, before[i], product, size[i], true), got[i]);
    }
    size_t at = wrong < run->base ? wrong : 0;
    check_compared(run->check, wrong == run->base,
                   "merged in %s: weight %zu was %.9g, and %.9g is added: got %.9g, want %.9g",
                   precision_name(half), at, before[at], after[at] - before[at], (double)got[at],
                   rounded(half, after[at]));
    check_suspect(run->check,
                  "the product is rounded to half, and so is the sum: the sum is in float or wider "
                  "and is rounded once",
                  twice);
}

/* ---- judging --------------------------------------------------------------------------------- */

/* The weights after the probe's merges up to that part. */
static double *merged_as(const LoraRun *run, MergePart part, const float *others,
                         MergeMistake mistake) {
    static const MergeStep steps[] = MERGE_STEPS;
    static const int done[] = {[MERGE_IN] = 1, [MERGE_OUT] = 2, [MERGE_SWAPPED] = MERGES};
    double *weights = weights_of(run), *before = weights_of(run);
    size_t bytes = run->base * sizeof *weights;
    for (int i = 0; i < done[part]; i++) {
        if (steps[i].sign < 0 && mistake == MERGE_PUT_BACK) {
            memcpy(weights, before, bytes);
            continue;
        }
        memcpy(before, weights, bytes);
        add_products(run, weights, steps[i].others ? others : run->adapters, steps[i].sign,
                     mistake);
    }
    return weights;
}

static bool expect_weights(const LoraRun *run, MergePart part, const float *others) {
    static const char *const name[] = {"merged", "taken out", "swapped"};
    Suspect suspects[MERGE_MISTAKES];
    int count = 0;
    for (int m = 1; m < MERGE_MISTAKES; m++) {
        suspects[count++] =
            (Suspect){merge_sentence[m], merged_as(run, part, others, (MergeMistake)m)};
    }
    return check_close(run->check, name[part], merged_as(run, part, others, MERGE_RIGHT), run->base,
                       tolerance_of_op(F32, 1), suspects, count);
}

/* The targets of a run where most layers have no adapter. */
enum { SOME_TARGETS = 1 << LINEAR_PROJ | 1 << LINEAR_FCPROJ };

/* Runs "merge once". @return whether it finished */
static bool merge_another(const LoraRun *run, bool gpu, Precision precision, unsigned targets) {
    int32_t how[HOW_NUMBERS] = {
        [HOW_GPU] = gpu, [HOW_PRECISION] = (int)precision, [HOW_TARGETS] = (int)targets};
    check_give_again(run->check, "how", WIRE_I32, how, HOW_NUMBERS);
    return check_run(run->check, "merge once", MERGE_SECONDS);
}

/* With adapters on some layers alone. */
static bool expect_some(const LoraRun *run) {
    LoraRun some = *run;
    some.config.adapter.targets = SOME_TARGETS;
    some.count = adapters_count(&some.config);
    some.params = (Param *)check_doubles(run->check, (size_t)some.count * sizeof(Param));
    adapters_describe(some.params, &some.config);
    bool good = merge_another(run, false, F32, SOME_TARGETS) &&
                check_close(run->check, "merged", merged_as(&some, MERGE_IN, NULL, MERGE_RIGHT),
                            run->base, tolerance_of_op(F32, 1), NULL, 0);
    if (!good) {
        check_tell(run->check, "\nthis model has adapters on \"attn.c_proj\" and \"mlp.c_proj\" "
                               "alone: of the other layers model_adapter() gives NULL");
    }
    return good;
}

/* Of the last run, which is not on the GPU: there the simulator has a heap of its own. */
static bool expect_none_left(const LoraRun *run) {
    uint64_t left = *(const uint64_t *)check_got(run->check, "left", WIRE_U64);
    if (left > 0) {
        check_fail(run->check,
                   "each lora_merge() leaves %llu bytes on the heap: what malloc() has given goes "
                   "back by free()",
                   (unsigned long long)left);
    }
    return left == 0;
}

/* Other models, merged. */
static void expect_others(const LoraRun *run) {
    unsigned all = run->config.adapter.targets;
    check_memory(run->check, 0); /* for the GPU */
    if (!expect_some(run) || !expect_none_left(run) || !merge_another(run, true, F32, all)) {
        return;
    }
    expect_weights(run, MERGE_IN, NULL);
    for (int p = F16; p <= BF16; p++) {
        if (merge_another(run, false, (Precision)p, all)) {
            expect_in_half(run, (Precision)p);
        }
    }
}

static void expect_logits(const LoraRun *run, size_t n) {
    const float *beside = check_got(run->check, "beside", WIRE_F32);
    double *want = check_doubles(run->check, n);
    for (size_t i = 0; i < n; i++) {
        want[i] = (double)beside[i];
    }
    check_close(run->check, "inside", want, n, (Tolerance){1e-4, 1e-5, 1e-5}, NULL, 0);
}

void merged_judge(Check *check, MergePart part) {
    LoraRun run = lora_run(check, (1 << BLOCK_LINEARS) - 1, 0.3f, false, 0);
    size_t logits = (size_t)(run.batch[0].B * run.config.V);
    float *others = check_normal(check, run.numbers, 0.2, F32);
    check_give_config(check, &run.config);
    check_give(check, "seed", WIRE_U64, &run.seed, 1);
    check_give(check, "adapters", WIRE_F32, run.adapters, run.numbers);
    check_give(check, "others", WIRE_F32, others, run.numbers);
    check_give(check, "how", WIRE_I32, (int32_t[HOW_NUMBERS]){0}, HOW_NUMBERS);
    batches_give(check, run.batch, RUN_BATCHES);
    check_want(check, "merged", WIRE_F32, run.base);
    check_want(check, "left", WIRE_U64, 1);
    check_want(check, "taken out", WIRE_F32, run.base);
    check_want(check, "swapped", WIRE_F32, run.base);
    check_want(check, "trained", WIRE_F32, run.numbers);
    check_want(check, "beside", WIRE_F32, logits);
    check_want(check, "inside", WIRE_F32, logits);
    if (!check_run(check, "merge", MERGE_SECONDS)) {
        return;
    }
    if (memcmp(check_got(check, "trained", WIRE_F32), run.adapters, run.numbers * sizeof(float)) !=
        0) {
        check_fail(check, "merging has changed A or B: they stay as they are");
    } else {
        /* who never merges has the weights back at once, and the same logits */
        bool good = expect_weights(&run, MERGE_IN, others);
        if (part == MERGE_LOGITS) {
            expect_logits(&run, logits);
        } else if (part != MERGE_IN) {
            expect_weights(&run, part, others);
        } else if (good) {
            expect_others(&run);
        }
    }
}

/* ---- gradients ------------------------------------------------------------------------------- */

/* A model in double with the adapters in its weights, and the gradients of the first window. */
static Reference *twin_of(const LoraRun *run) {
    ModelConfig bare = run->config;
    bare.adapter = (Adapter){0};
    Reference *twin = reference_new(&bare);
    double *weights = weights_of(run);
    add_products(run, weights, run->adapters, 1, MERGE_RIGHT);
    for (int i = 0; i < twin->param_count; i++) {
        memcpy(twin->weight[i], weights + base_place(&bare, i),
               twin->params[i].count * sizeof(double));
    }
    for (int i = 0; i < run->window; i++) {
        reference_pass(twin, &run->batch[i % RUN_BATCHES], LORA_SHARE, 0, 0);
    }
    return twin;
}

static void expect_gradient(const LoraRun *run, const Reference *twin, const MergeLayer *m,
                            int which) {
    char name[WIRE_NAME];
    int r = run->config.adapter.rank;
    size_t n = (size_t)(r * (which == 0 ? m->cols : m->rows));
    double *want = check_doubles(run->check, n);
    double s = factor_of(&run->config.adapter, MERGE_RIGHT, 1);
    const double *dw =
        twin->grad[MODEL_PARAMS + m->layer * BLOCK_PARAMS + (int)linear_weight(m->id)];
    const float *a = run->adapters + lora_place(run, m->layer, m->id, 0);
    const float *b = run->adapters + lora_place(run, m->layer, m->id, 1);
    for (int o = 0; o < m->rows; o++) {
        for (int c = 0; c < m->cols; c++) {
            for (int k = 0; k < r; k++) {
                if (which == 0) {
                    want[k * m->cols + c] += s * (double)b[o * r + k] * dw[o * m->cols + c];
                } else {
                    want[o * r + k] += s * dw[o * m->cols + c] * (double)a[k * m->cols + c];
                }
            }
        }
    }
    check_close_in(run->check, name, protocol_name(name, "d", m->layer, m->id, which), want, n,
                   tolerance_of_model(F32), NULL, 0);
}

void merged_expect_gradients(const LoraRun *run) {
    Reference *twin = twin_of(run);
    for (int at = 0; at < run->config.L * BLOCK_LINEARS * 2; at++) {
        LinearId id = (LinearId)(at / 2 % BLOCK_LINEARS);
        if (run->config.adapter.targets >> id & 1) {
            MergeLayer m = layer_of(run, at / 2 / BLOCK_LINEARS, id);
            expect_gradient(run, twin, &m, at % 2);
        }
    }
    reference_free(twin);
}
