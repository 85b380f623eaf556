/* Lab 13 without a submission: the same micro-batches one after the other on one device, with both
   halves of the tied gradient apart; and once more with backwards in falling order. */
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "grader/labs/13_pipeline/protocol.h"
#include "grader/probe.h"

/* A run of the whole model, and where its numbers go. */
typedef struct PlainRun {
    const Wire *in;
    Wire *out;
    const int32_t *option;
    Device *device;
    Model *model;
    float *head; /* the head's half of the tied gradient; where there is one stage, all of it */
    float share;
    bool reversed; /* whether the falling order runs, too */
} PlainRun;

static void plain_forward(Pass *pass, const Batch *batch) {
    pass_begin(pass, batch, true);
    Real *x = model_forward_blocks(pass, 0, pass->model->config.L, pass_embed(pass));
    pass_head_forward(pass, x);
}

static void plain_backward(const PlainRun *run, Pass *pass) {
    int L = pass->model->config.L;
    Param *tied = &pass->model->base[WTE];
    float *embedding = tied->grad;
    tied->grad = run->head;
    pass_head_backward(pass, pass->x[L], run->share);
    tied->grad = embedding;
    model_backward_blocks(pass, 0, L, pass->dx);
    pass_embed_backward(pass);
    pass_end(pass);
}

static void plain_give(const PlainRun *run, const char *what, int w) {
    const Model *model = run->model;
    size_t count, each = model->base[WTE].count;
    char name[WIRE_NAME];
    snprintf(name, sizeof name, "%s gradients, window %d", what, w + 1);
    float *to = wire_get(run->out, name, WIRE_F32, &count);
    for (int i = 0; i < model->base_count; i++) {
        device_download(run->device, to, model->base[i].grad, model->base[i].count * sizeof(float));
        to += model->base[i].count;
    }
    snprintf(name, sizeof name, "%s half, window %d", what, w + 1);
    hand_back(run->out, run->device, name, run->head, each);
}

static void plain_clear(const PlainRun *run) {
    device_fill(run->device, run->head, 0, run->model->base[WTE].count * sizeof(float));
    model_zero_grad(run->model);
}

/* ---- norms ----------------------------------------------------------------------------------- */

/* Whether a stage counts parameter i, if it is `tied_on` that counts the tied one. */
static bool stage_counts(const PlainRun *run, int stage, int tied_on, int i) {
    const int32_t *part = (const int32_t *)wire_get(run->in, "parts", WIRE_I32, NULL) + 2 * stage;
    int layer = run->model->base[i].layer;
    if (layer >= 0) {
        return part[0] <= layer && layer < part[1];
    }
    return i == WTE   ? stage == tied_on
           : i == WPE ? stage == 0
                      : stage == run->option[RANKS_COUNT] - 1;
}

/* The sum of squares of what a stage counts, by the op of the device. */
static float stage_squares(const PlainRun *run, int stage, int tied_on) {
    const Model *model = run->model;
    MemoryMark mark = memory_mark(model->memory);
    float sum = 0, **grads = calloc((size_t)model->base_count, sizeof *grads);
    CHECK(grads != NULL, "no memory for %d pointers", model->base_count);
    for (int i = 0; i < model->base_count; i++) {
        grads[i] = stage_counts(run, stage, tied_on, i) ? model->base[i].grad : NULL;
    }
    void *entries = memory_alloc(model->memory, MEMORY_WORKSPACE, "counted", -1,
                                 workspace_list_bytes(&model->config));
    TensorList list = model_list(model, grads, entries);
    free(grads);
    device_fill(run->device, model->result, 0, sizeof sum);
    model->ops->sumsq(model->result, list, &model->workspace);
    device_download(run->device, &sum, model->result, sizeof sum);
    memory_release(model->memory, mark);
    return sum;
}

/* The root of the sum of stages, from the sums of each. */
static double norm_by(NormWay way, const float *sums, int stages) {
    float sum = 0;
    double wide = 0;
    for (int k = 0; k < stages; k++) {
        float squares = sums[way == NORM_FALLING ? stages - 1 - k : k];
        sum += squares;
        wide += (double)squares;
    }
    return (double)sqrtf(way == NORM_IN_DOUBLE ? (float)wide : sum);
}

static void norms_now(const PlainRun *run, double norm[NORM_WAYS]) {
    int stages = run->option[RANKS_COUNT];
    float first[MOST_STAGES], last[MOST_STAGES]; /* that stage counts the tied gradient */
    CHECK(stages <= MOST_STAGES, "%d stages", stages);
    for (int s = 0; s < stages; s++) {
        bool end = s == 0 || s == stages - 1;
        first[s] = stage_squares(run, s, 0);
        last[s] = end ? stage_squares(run, s, stages - 1) : first[s];
    }
    for (int way = 0; way < NORM_WAYS; way++) {
        norm[way] = norm_by((NormWay)way, way == NORM_TIED_ON_LAST ? last : first, stages);
    }
}

/* Norms of a window, of the sum of both halves; uses up the gradients. */
static void plain_norms(const PlainRun *run, int w) {
    double *to = wire_get(run->out, "plain norms", WIRE_U64, NULL);
    Param *tied = &run->model->base[WTE];
    if (run->head != tied->grad) {
        run->device->ops[F32].axpby((Real *)tied->grad, (const Real *)run->head, tied->count, 1, 1);
    }
    for (int k = 0; k < norm_times(!run->device->host_memory); k++) {
        double norm[NORM_WAYS];
        norms_now(run, norm);
        for (int way = 0; way < NORM_WAYS; way++) {
            to[(w * NORM_WAYS + way) * NORM_TIMES + k] = norm[way];
        }
        model_scale_grad(run->model, NORM_SCALE);
    }
}

/* ---- windows --------------------------------------------------------------------------------- */

static void run_plain(const PlainRun *run, const Batch *batches, int w) {
    double loss = 0, *losses = wire_get(run->out, "plain losses", WIRE_U64, NULL);
    double *each = wire_get(run->out, "plain each", WIRE_U64, NULL);
    int most = run->option[PIPES_MICROS];
    Model *model = run->model;
    for (int i = 0; i < window_micros(run->option, w); i++) {
        plain_forward(&model->pass, &batches[i]);
        loss += model->pass.loss;
        each[w * most + i] = model->pass.loss;
        plain_backward(run, &model->pass);
    }
    memcpy(losses + w, &loss, sizeof loss);
    ((uint64_t *)wire_get(run->out, "plain streams", WIRE_U64, NULL))[w] = model->rng.offset;
    plain_give(run, "plain", w);
    if (run->option[PIPES_TIE] >= TIE_NORM) {
        plain_norms(run, w);
    }
    plain_clear(run);
}

static void run_reversed(const PlainRun *run, const Batch *batches, int w) {
    int micros = window_micros(run->option, w);
    Pass pass[MOST_IN_WINDOW];
    for (int i = 0; i < micros; i++) {
        char name[32];
        snprintf(name, sizeof name, "micro-batch %d", i);
        pass[i] = pass_new(run->model, memory_lane(run->model->memory, name), NULL);
        plain_forward(&pass[i], &batches[i]);
    }
    for (int i = micros - 1; i >= 0; i--) {
        plain_backward(run, &pass[i]);
        pass_free(&pass[i]);
    }
    plain_give(run, "reversed", w);
    plain_clear(run);
}

static void plain_windows(const Wire *in, Wire *out, bool again_on_gpu) {
    omp_set_num_threads(1); /* as ranks have: a library's product has other bits with more */
    PlainRun run = {.in = in, .out = out, .reversed = !again_on_gpu};
    ModelConfig config = probe_config(in);
    run.option = wire_get(in, "ranks", WIRE_I32, NULL);
    const float *share = wire_get(in, "share", WIRE_F32, NULL);
    run.device = probe_device(again_on_gpu || run.option[RANKS_GPU], 256 << 20);
    Memory *memory = memory_new(run.device, (MemoryOptions){0});
    uint64_t seed = *(const uint64_t *)wire_get(in, "seed", WIRE_U64, NULL);
    run.model = model_new(&config, memory, seed);
    given_weights(in, run.model);
    const Param *tied = &run.model->base[WTE];
    run.head = memory_alloc_zero(memory, MEMORY_GRADIENTS, "half", -1, tied->count * sizeof(float));
    int micros = run.option[PIPES_MICROS];
    for (int w = 0; w < run.option[PIPES_WINDOWS]; w++) {
        Batch batches[MOST_IN_WINDOW];
        for (int i = 0; i < window_micros(run.option, w); i++) {
            batches[i] = given_batch(in, micro_batch(in, micros, w, i));
        }
        run.share = share[w];
        Rng before = run.model->rng;
        float *half = run.head;
        run.head = run.option[RANKS_COUNT] > 1 ? half : tied->grad;
        run_plain(&run, batches, w);
        if (run.reversed) {
            Rng after = run.model->rng;
            run.model->rng = before;
            run_reversed(&run, batches, w);
            run.model->rng = after;
        }
        run.head = half;
    }
    Batch first = given_batch(in, 0);
    double loss = model_evaluate(run.model, &first);
    memcpy(wire_get(out, "plain eval", WIRE_U64, NULL), &loss, sizeof loss);
    device_synchronize(run.device);
    model_free(run.model);
    memory_free(memory);
}

static void plain_case(const Wire *in, Wire *out) {
    plain_windows(in, out, false);
}

static void plain_on_gpu_case(const Wire *in, Wire *out) {
    plain_windows(in, out, true);
}

const ProbeCase probe_cases[] = {
    {"plain", plain_case}, {"plain_on_gpu", plain_on_gpu_case}, {NULL, NULL}};
