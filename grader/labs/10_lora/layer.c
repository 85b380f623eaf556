#include "grader/labs/10_lora/layer.h"

#include <math.h>
#include <string.h>

#include "common/testkit/reference.h"
#include "grader/judge_kit.h"
#include "kernels/half.h"

/* Counters of the stream that the probe draws before the first mask. */
enum { DRAWN_BEFORE = 5, LAYER_SECONDS = 20 };

typedef enum LayerMistake {
    RIGHT,
    ALPHA_ALONE,
    NO_SCALE,
    SCALE_TWICE,
    SCALE_UPSIDE_DOWN,
    ROOT_OF_RANK,
    SCALE_IN_INT,
    NO_BRANCH,
    BRANCH_ALONE,
    BIAS_TWICE,
    NO_BIAS,
    NO_DROPOUT,
    MASK_LEFT,
    FORWARD_WITHOUT_MASK,
    DROPOUT_ON_BOTH,
    DROPOUT_ON_OUTPUT,
    BACKWARD_WITHOUT_MASK,
    DA_WITHOUT_MASK,
    DB_WITHOUT_MASK,
    DIN_WITHOUT_MASK,
    DIN_MASKED_TWICE,
    BACKWARD_OTHER_MASK,
    DIN_WITHOUT_BRANCH,
    DIN_WITHOUT_BASE,
    DB_WITHOUT_SCALE,
    DB_SCALE_TWICE,
    DU_WITHOUT_SCALE,
    DA_OVERWRITES,
    DB_OVERWRITES,
    DIN_OVERWRITES,
    LAYER_MISTAKES
} LayerMistake;

static const char *const sentence[LAYER_MISTAKES] = {
    [ALPHA_ALONE] = "the branch is multiplied by alpha: s is alpha / r",
    [NO_SCALE] = "the branch is not scaled: s is alpha / r",
    [SCALE_TWICE] = "the branch is scaled twice",
    [SCALE_UPSIDE_DOWN] = "the branch is multiplied by r / alpha: s is alpha / r",
    [ROOT_OF_RANK] =
        "the branch is multiplied by alpha / sqrt(r), which is rsLoRA's: s is alpha / r",
    [SCALE_IN_INT] = "s is cut to a whole number: alpha / r is a float",
    [NO_BRANCH] = "the branch is missing: this is the frozen layer alone",
    [BRANCH_ALONE] = "the branch replaces the output of the frozen layer: it is added to it",
    [BIAS_TWICE] = "the bias is added once more: the branch has none",
    [NO_BIAS] = "the bias of the frozen layer is missing: linear_base_forward() adds it",
    [NO_DROPOUT] = "there is no dropout on the branch",
    [MASK_LEFT] = "the mask that an earlier run of the layer left in linear->mask is used: each "
                  "run writes it, {0} where none is drawn",
    [FORWARD_WITHOUT_MASK] =
        "forward runs the branch on the input without its mask, backward with it",
    [DROPOUT_ON_BOTH] = "the frozen layer sees the input under the mask: dropout is on the branch "
                        "alone",
    [DROPOUT_ON_OUTPUT] = "u is dropped: the mask is for the input of the branch",
    [BACKWARD_WITHOUT_MASK] = "backward runs without the mask that forward drew",
    [DA_WITHOUT_MASK] = "dA is made of the input without its mask",
    [DB_WITHOUT_MASK] = "dB is made of the u of an input without its mask",
    [DIN_MASKED_TWICE] = "the gradient of the input through the branch passes its mask twice",
    [DIN_WITHOUT_MASK] = "the gradient of the input through the branch has to pass its mask",
    [BACKWARD_OTHER_MASK] = "backward draws a new mask: linear->mask has the one that forward drew",
    [DIN_WITHOUT_BRANCH] = "din lacks what comes through the branch",
    [DIN_WITHOUT_BASE] = "din lacks what comes through the frozen layer",
    [DB_WITHOUT_SCALE] = "dB is not multiplied by s",
    [DB_SCALE_TWICE] = "dB is multiplied by s twice",
    [DU_WITHOUT_SCALE] = "the gradient of u is not multiplied by s: dA and din lack it",
    [DA_OVERWRITES] = "dA is overwritten: backward adds",
    [DB_OVERWRITES] = "dB is overwritten: backward adds",
    [DIN_OVERWRITES] = "din is overwritten: backward adds",
};

/* The tensors that come back of a layer. */
typedef struct LayerResult {
    double *out, *din, *da, *db;
} LayerResult;

/* ---- what is right, and what mistakes make of it --------------------------------------------- */

static double branch_factor(const Adapter *adapter, LayerMistake mistake) {
    double alpha = (double)adapter->alpha, r = adapter->rank, s = alpha / r;
    return mistake == ALPHA_ALONE         ? alpha
           : mistake == NO_SCALE          ? 1
           : mistake == SCALE_TWICE       ? s * s
           : mistake == SCALE_UPSIDE_DOWN ? 1 / s
           : mistake == ROOT_OF_RANK      ? alpha / sqrt(r)
           : mistake == SCALE_IN_INT      ? floor(s)
           : mistake == NO_BRANCH         ? 0
                                          : s;
}

static bool draws_mask(const LayerJob *job) {
    return job->trains && job->config.adapter.dropout > 0;
}

/* factor (n) of the mask that is drawn after `drawn` counters; 1 where there is none. */
static double *factors_of(const LayerJob *job, size_t n, uint64_t drawn, bool masked) {
    double *factor = check_doubles(job->check, n);
    float p = masked && draws_mask(job) ? job->config.adapter.dropout : 0;
    reference_dropout_factors(factor, n, (Dropout){.p = p, .seed = job->seed, .offset = drawn});
    return factor;
}

/* Of the mask that was in the Linear before. */
static double *factors_left(const LayerJob *job, size_t n) {
    double *factor = check_doubles(job->check, n);
    Dropout mask = {.p = LEFT_P, .seed = job->seed, .offset = LEFT_OFFSET};
    reference_dropout_factors(factor, n, mask);
    return factor;
}

static double *doubles_of(const LayerJob *job, const float *from, size_t n) {
    double *to = check_doubles(job->check, n);
    for (size_t i = 0; from != NULL && i < n; i++) {
        to[i] = (double)from[i];
    }
    return to;
}

/* to[n][o] = sum_c x[n][c] w[o][c], all in double */
static double *rows_times(const LayerJob *job, const double *x, const double *w, int IC, int OC) {
    double *to = check_doubles(job->check, (size_t)job->N * (size_t)OC);
    reference_matmul_forward(to, x, w, NULL, job->N, IC, OC);
    return to;
}

static double *under(const LayerJob *job, const double *x, const double *factor, size_t n) {
    double *to = check_doubles(job->check, n);
    for (size_t i = 0; i < n; i++) {
        to[i] = x[i] * factor[i];
    }
    return to;
}

static LayerResult work_out(const LayerJob *job, LayerMistake mistake) {
    int N = job->N, IC = job->IC, OC = job->OC, r = job->r;
    size_t n_in = (size_t)(N * IC), n_out = (size_t)(N * OC), n_thin = (size_t)(N * r);
    double s = branch_factor(&job->config.adapter, mistake);
    double *w = doubles_of(job, job->weight, (size_t)(OC * IC)), *x = doubles_of(job, job->x, n_in);
    double *a = doubles_of(job, job->a, (size_t)(r * IC)),
           *b = doubles_of(job, job->b, (size_t)(OC * r));
    double *dout = doubles_of(job, job->dout, n_out);
    double *factor =
        factors_of(job, n_in, DRAWN_BEFORE, mistake != NO_DROPOUT && mistake != DROPOUT_ON_OUTPUT);
    if (mistake == MASK_LEFT && !draws_mask(job)) {
        factor = factors_left(job, n_in);
    }
    double *dropped = under(job, x, factor, n_in);
    double *u = rows_times(job, dropped, a, IC, r);
    if (mistake == DROPOUT_ON_OUTPUT) {
        u = under(job, u, factors_of(job, n_thin, DRAWN_BEFORE, true), n_thin);
    }
    double *branch = rows_times(job, u, b, r, OC);
    double *out = rows_times(job, mistake == DROPOUT_ON_BOTH ? dropped : x, w, IC, OC);
    /* that of the first layer of the MLP is added by GELU */
    double biases = (job->id != LINEAR_FC && mistake != NO_BIAS) + (mistake == BIAS_TWICE);
    for (size_t i = 0; i < n_out; i++) {
        double frozen = out[i] + biases * (double)job->bias[i % (size_t)OC];
        out[i] = (mistake == BRANCH_ALONE ? 0 : frozen) + s * branch[i];
    }

    if (mistake == FORWARD_WITHOUT_MASK) {
        LayerResult bare = work_out(job, NO_DROPOUT), right = work_out(job, RIGHT);
        right.out = bare.out;
        return right;
    }
    LayerResult result = {.out = out};
    bool db_from_0 = mistake == DB_OVERWRITES, da_from_0 = mistake == DA_OVERWRITES;
    result.db = doubles_of(job, db_from_0 ? NULL : job->db, (size_t)(OC * r));
    result.da = doubles_of(job, da_from_0 ? NULL : job->da, (size_t)(r * IC));
    result.din = doubles_of(job, mistake == DIN_OVERWRITES ? NULL : job->din, n_in);
    double *back = factor;
    if (mistake == BACKWARD_WITHOUT_MASK || mistake == BACKWARD_OTHER_MASK) {
        /* two masks have been drawn, of this layer and of the other */
        uint64_t drawn = DRAWN_BEFORE + 2 * dropout_counters(n_in);
        back = factors_of(job, n_in, drawn, mistake == BACKWARD_OTHER_MASK);
        dropped = under(job, x, back, n_in);
        u = rows_times(job, dropped, a, IC, r);
    }
    u = mistake == DB_WITHOUT_MASK ? rows_times(job, x, a, IC, r) : u;
    double s_b = mistake == DB_WITHOUT_SCALE ? 1 : mistake == DB_SCALE_TWICE ? s * s : s;
    double s_u = mistake == DU_WITHOUT_SCALE ? 1 : s;
    double *du = check_doubles(job->check, n_thin),
           *db = check_doubles(job->check, (size_t)(OC * r));
    reference_matmul_backward(du, db, NULL, dout, u, b, N, r, OC);
    for (size_t i = 0; i < (size_t)(OC * r); i++) {
        result.db[i] += s_b * db[i];
    }
    for (size_t i = 0; i < n_thin; i++) {
        du[i] *= s_u;
    }
    reference_matmul_backward(NULL, result.da, NULL, du, mistake == DA_WITHOUT_MASK ? x : dropped,
                              a, N, IC, r);
    double *dx = check_doubles(job->check, n_in);
    reference_matmul_backward(dx, NULL, NULL, du, x, a, N, IC, r);
    if (mistake != DIN_WITHOUT_BASE) {
        reference_matmul_backward(result.din, NULL, NULL, dout, x, w, N, IC, OC);
    }
    for (size_t i = 0; i < n_in && mistake != DIN_WITHOUT_BRANCH; i++) {
        double passes = mistake == DIN_WITHOUT_MASK ? 0 : mistake == DIN_MASKED_TWICE ? 2 : 1;
        result.din[i] += dx[i] * pow(back[i], passes);
    }
    return result;
}

/* ---- what is given --------------------------------------------------------------------------- */

Adapter layer_adapter(Check *check, unsigned targets, float dropout) {
    /* s = alpha / r is some 2.6: 0, 1 / s, 1, floor(s), s^2, s sqrt(r) and alpha are all further
       from it and from each other than the tolerance of half. No alpha is whole. */
    static const int ranks[] = {5, 9, 11};
    static const float alphas[] = {12.625f, 23.25f, 28.25f};
    int i = check_int(check, 0, 2);
    return (Adapter){.rank = ranks[i],
                     .targets = targets,
                     .alpha = alphas[i] + 0.125f * (float)check_int(check, 0, 2),
                     .dropout = dropout};
}

static float *given_normal(Check *check, const char *name, size_t n, double scale, Precision p) {
    float *values = check_normal(check, n, scale, p);
    check_give(check, name, WIRE_F32, values, n);
    return values;
}

/* The frozen matrix, as every model of that seed has it. */
static void read_weight(LayerJob *job) {
    Model *model = judge_model_open(judge_device(1), &job->config, job->seed);
    const Param *param = &model_block_params(model, job->at)[linear_weight(job->id)];
    job->IC = param->cols;
    job->OC = param->rows;
    job->weight = (float *)check_doubles(job->check, param->count);
    model_download_weight(model, param, job->weight);
    judge_model_close(model);
}

LayerJob layer_draw(Check *check, LinearId id, Precision precision, float dropout, bool trains,
                    bool gpu) {
    LayerJob job = {.check = check,
                    .id = id,
                    .at = check_int(check, 0, 1),
                    .B = check_int(check, 1, 3),
                    .T = check_int(check, 5, 11),
                    .seed = (uint64_t)check_int(check, 1, 1 << 30),
                    .trains = trains,
                    .gpu = gpu};
    job.config = (ModelConfig){.V = 256, .T = 16, .L = 2, .NH = 3, .precision = precision};
    job.config.C = 3 * check_int(check, 7, 12);
    job.config.adapter = layer_adapter(check, 1u << id, dropout);
    job.N = job.B * job.T;
    job.r = job.config.adapter.rank;
    read_weight(&job);
    size_t n_in = (size_t)(job.N * job.IC), n_out = (size_t)(job.N * job.OC);
    size_t n_a = (size_t)(job.r * job.IC), n_b = (size_t)(job.r * job.OC);
    int32_t options[LAYER_NUMBERS] = {
        [LAYER_GPU] = gpu, [LAYER_AT] = job.at, [LAYER_ID] = (int)id,
        [LAYER_B] = job.B, [LAYER_T] = job.T,   [LAYER_TRAIN] = trains};
    check_give_config(check, &job.config);
    check_give(check, "seed", WIRE_U64, &job.seed, 1);
    check_give(check, "options", WIRE_I32, options, LAYER_NUMBERS);
    job.bias = given_normal(check, "bias", (size_t)job.OC, 0.3, precision);
    job.x = given_normal(check, "x", n_in, 1, precision);
    given_normal(check, "other x", n_in, 1, precision);
    job.dout = given_normal(check, "dout", n_out, 0.1, precision);
    /* A and B such that the branch weighs as much as the frozen layer, and what was there before as
       much as what is added: nothing that is left out hides below the tolerance of half. */
    job.din = given_normal(check, "din before", n_in, 0.03, precision);
    job.a = given_normal(check, "A", n_a, 0.06, precision);
    job.b = given_normal(check, "B", n_b, 0.06, precision);
    job.da = given_normal(check, "dA before", n_a, 0.4, F32);
    job.db = given_normal(check, "dB before", n_b, 0.4, F32);
    return job;
}

/* ---- comparing ------------------------------------------------------------------------------- */

/* The mask of this layer, and the stream after both. */
static void expect_stream(const LayerJob *job) {
    bool on = draws_mask(job);
    uint64_t counters = dropout_counters((size_t)(job->N * job->IC));
    uint64_t want[2] = {on ? DRAWN_BEFORE : 0, DRAWN_BEFORE + (on ? 2 * counters : 0)};
    uint64_t none[2] = {0, DRAWN_BEFORE}, looked[2] = {DRAWN_BEFORE, DRAWN_BEFORE + 2 * counters};
    uint64_t twice[2] = {DRAWN_BEFORE, DRAWN_BEFORE + 4 * counters};
    uint64_t kept[2] = {LEFT_OFFSET, DRAWN_BEFORE + 2 * counters};
    uint64_t left[2] = {on ? want[0] : LEFT_OFFSET, want[1]};
    ExactSuspect suspects[] = {
        {"no mask is drawn: pass_draw_mask(), with adapter.dropout", none},
        {sentence[MASK_LEFT], left},
        {"a mask is drawn where nothing trains", looked},
        {"each layer draws two masks for one run", twice},
        {"the mask that was drawn is not in linear->mask: backward is given that", kept}};
    check_equal(job->check, "mask", want, 2, suspects, 5);
}

/* The layer reads `in` and `dout`, and writes neither. */
static void expect_unwritten(const LayerJob *job) {
    const char *const names[2] = {"in", "dout"};
    const float *const given[2] = {job->x, job->dout};
    const size_t sizes[2] = {(size_t)(job->N * job->IC), (size_t)(job->N * job->OC)};
    for (int i = 0; i < 2; i++) {
        const float *got = check_got(job->check, names[i], WIRE_F32);
        for (size_t j = 0; j < sizes[i]; j++) {
            if (got[j] != precision_round(job->config.precision, given[i][j])) {
                check_fail(job->check,
                           "%s[%zu] was %.9g, and is %.9g when the layer has run: `%s` is read, "
                           "and not written",
                           names[i], j, (double)given[i][j], (double)got[j], names[i]);
                return;
            }
        }
    }
}

/* The host's heap has what it had. */
static void layer_expect_none_left(const LayerJob *job) {
    uint64_t left = *(const uint64_t *)check_got(job->check, "left", WIRE_U64);
    if (left > 0) {
        check_fail(job->check,
                   "%s leaves %llu bytes on the heap: what malloc() has given goes back by free()",
                   job->trains ? "lora_forward() with lora_backward()" : "lora_forward()",
                   (unsigned long long)left);
    }
}

static const char *const layer_tensors[4] = {"out", "din", "dA", "dB"};

static size_t layer_size(const LayerJob *job, int tensor) {
    const int sizes[4] = {job->N * job->OC, job->N * job->IC, job->r * job->IC, job->r * job->OC};
    return (size_t)sizes[tensor];
}

static int layer_tensor_count(const LayerJob *job) {
    return job->trains ? 4 : 1;
}

static void layer_planned(const LayerJob *job) {
    check_want(job->check, "mask", WIRE_U64, 2);
    check_want(job->check, "left", WIRE_U64, 1);
    check_want(job->check, "in", WIRE_F32, (size_t)(job->N * job->IC));
    check_want(job->check, "dout", WIRE_F32, (size_t)(job->N * job->OC));
    for (int i = 0; i < layer_tensor_count(job); i++) {
        check_want(job->check, layer_tensors[i], WIRE_F32, layer_size(job, i));
    }
    if (job->gpu) {
        check_memory(job->check, 0);
    }
}

/* @return whether all is right */
static bool layer_compare(const LayerJob *job) {
    LayerResult result[LAYER_MISTAKES];
    bool right = true;
    for (int m = 0; m < LAYER_MISTAKES; m++) {
        result[m] = work_out(job, (LayerMistake)m);
    }
    expect_stream(job);
    for (int i = 0; i < layer_tensor_count(job); i++) {
        Suspect suspects[LAYER_MISTAKES];
        int count = 0;
        for (int m = 1; m < LAYER_MISTAKES; m++) {
            const double *values[4] = {result[m].out, result[m].din, result[m].da, result[m].db};
            suspects[count++] = (Suspect){sentence[m], values[i]};
        }
        const double *want[4] = {result[RIGHT].out, result[RIGHT].din, result[RIGHT].da,
                                 result[RIGHT].db};
        right = check_close(job->check, layer_tensors[i], want[i], layer_size(job, i),
                            tolerance_of_model(job->config.precision), suspects, count) &&
                right;
    }
    if (right) {
        expect_unwritten(job);
        layer_expect_none_left(job);
    }
    return right;
}

void layer_judge(LayerJob *job) {
    layer_planned(job);
    if (check_run(job->check, "layer", LAYER_SECONDS)) {
        layer_compare(job);
    }
}

/* Numbers of bf16 are numbers of f16 as well, but for the smallest; the frozen ones are rounded
   anew. */
void layer_judge_half(LayerJob *job) {
    layer_planned(job);
    if (check_run(job->check, "layer", LAYER_SECONDS) && layer_compare(job) &&
        check_run(job->check, "layer f16", LAYER_SECONDS)) {
        job->config.precision = F16;
        read_weight(job);
        layer_compare(job);
    }
}
