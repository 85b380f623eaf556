/* Lab 12 without a submission: one process that learns from the batches of all ranks, adds up what
   they would have, and updates once; or does so with a known mistake. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "grader/labs/12_zero/cut.h"
#include "grader/labs/12_zero/shared.h"
#include "grader/probe.h"

/* The whole, and what it is made of. */
typedef struct Alone {
    RankRun *run;
    ZeroMistake mistake;
    Trainer trainer;
    Mixed mixed;
    Model *model;  /* updated */
    Model *single; /* learns what a rank learns, from the same weights */
    size_t P;
    float **local; /* (R) gradients of a rank: (P) */
    float *sum;    /* (P) of all ranks, and of all micro-batches */
} Alone;

static bool makes(const Alone *alone, ZeroMistake mistake) {
    return alone->mistake == mistake;
}

static float *floats(size_t n) {
    float *values = calloc(n, sizeof *values);
    CHECK(values != NULL, "no memory for %zu numbers", n);
    return values;
}

static void open_alone(Alone *alone, RankRun *run, ZeroMistake mistake) {
    ModelConfig config = probe_config(run->in);
    AdamW adamw;
    *alone = (Alone){.run = run, .mistake = mistake, .mixed = shared_mixed(run, config.precision)};
    alone->trainer = shared_settings(run, &adamw);
    alone->model = model_new(&config, run->memory, 1);
    alone->single = model_new(&config, run->memory, 1);
    given_weights(run->in, alone->model);
    alone->trainer.optimizer = optimizer_new(alone->model, adamw);
    alone->trainer.mixed = run->option[ZERO_SCALED] ? &alone->mixed : NULL;
    alone->P = model_param_elements(alone->model);
    alone->sum = floats(alone->P);
    alone->local = calloc((size_t)run->ranks, sizeof *alone->local);
    CHECK(alone->local != NULL, "no memory for %d ranks", run->ranks);
    for (int r = 0; r < run->ranks; r++) {
        alone->local[r] = floats(alone->P);
    }
}

static void close_alone(Alone *alone) {
    for (int r = 0; r < alone->run->ranks; r++) {
        free(alone->local[r]);
    }
    free(alone->local);
    free(alone->sum);
    optimizer_free(alone->trainer.optimizer);
    model_free(alone->single);
    model_free(alone->model);
}

/* All gradients of a model on their way to the host or, with `up`, back. */
static void move_gradients(const Model *model, float *values, bool up) {
    for (int i = 0; i < model->param_count; i++) {
        const Param *param = &model->params[i];
        if (up) {
            device_upload(model->device, param->grad, values, param->count * sizeof *values);
        } else {
            device_download(model->device, values, param->grad, param->count * sizeof *values);
        }
        values += param->count;
    }
}

static void copy_weights(const Alone *alone) {
    float *values = floats(alone->P);
    for (int i = 0; i < alone->model->param_count; i++) {
        model_download_weight(alone->model, &alone->model->params[i], values);
        model_upload_weight(alone->single, &alone->single->params[i], values);
    }
    free(values);
}

/* ---- gradients ------------------------------------------------------------------------------- */

/* A micro-batch of a rank adds to what that rank has. */
static void learn_micro(Alone *alone, int s, int k, int r) {
    const RankRun *run = alone->run;
    Batch batch = shared_batch(run, s, k, r);
    float share = shared_share(run, s, alone->trainer.mixed);
    move_gradients(alone->single, alone->local[r], true);
    model_forward(alone->single, &batch);
    model_backward(alone->single, share);
    if (shared_spoils(run, s, k, r)) {
        shared_spoil(run, s, alone->single);
    }
    move_gradients(alone->single, alone->local[r], false);
}

/* Number j of parameter i, of which `at` is the place among all. */
static void each_number(Alone *alone, void (*visit)(Alone *alone, int owner, size_t at)) {
    const Model *model = alone->model;
    size_t at = 0;
    for (int i = 0; i < model->param_count; i++) {
        for (size_t j = 0; j < model->params[i].count; j++, at++) {
            visit(alone, cut_owner(model->params, i, j, alone->run->ranks), at);
        }
    }
}

static void add_ranks(Alone *alone, int owner, size_t at) {
    float sum = alone->local[0][at];
    for (int r = 1; r < alone->run->ranks; r++) {
        sum += alone->local[r][at];
    }
    sum = makes(alone, MISTAKE_OWN) ? alone->local[owner][at] : sum;
    alone->sum[at] += makes(alone, MISTAKE_MEAN) ? sum / (float)alone->run->ranks : sum;
}

static void forget_local(const Alone *alone) {
    for (int r = 0; r < alone->run->ranks; r++) {
        memset(alone->local[r], 0, alone->P * sizeof(float));
    }
}

/* Stage 1 adds up the micro-batches of a rank, then ranks; from stage 2 on ranks come first. */
static void add_window(Alone *alone, int s) {
    const RankRun *run = alone->run;
    int micros = run->option[ZERO_MICROS];
    for (int k = makes(alone, MISTAKE_LAST_MICRO) ? micros - 1 : 0; k < micros; k++) {
        for (int r = 0; r < run->ranks; r++) {
            learn_micro(alone, s, k, r);
        }
        if (run->option[ZERO_STAGE] > 1 || k == micros - 1) {
            each_number(alone, add_ranks);
            if (!makes(alone, MISTAKE_NOT_ZEROED) || run->option[ZERO_STAGE] > 1) {
                forget_local(alone);
            }
        }
    }
}

/* ---- the update ------------------------------------------------------------------------------ */

static bool unscale(Alone *alone) {
    Model *model = alone->model;
    float found = 0;
    device_fill(model->device, model->result, 0, sizeof found);
    float back = makes(alone, MISTAKE_SCALED) ? 1 : 1 / alone->mixed.scaler.scale;
    for (int i = 0; i < model->param_count; i++) {
        model->ops->unscale(model->params[i].grad, model->params[i].count, back, model->result);
    }
    device_download(model->device, &found, model->result, sizeof found);
    return found != 0;
}

enum { MOST_PARTS = 8 };
static double squares[MOST_PARTS];
static bool is_bad[MOST_PARTS];

static void add_square(Alone *alone, int owner, size_t at) {
    squares[owner] += (double)alone->sum[at] * (double)alone->sum[at];
    is_bad[owner] = is_bad[owner] || !isfinite(alone->sum[at]);
}

static void clip_part(Alone *alone, int owner, size_t at) {
    double norm = sqrt(squares[owner]), limit = (double)alone->trainer.max_grad_norm;
    if (makes(alone, MISTAKE_ROOTS)) {
        norm = 0;
        for (int r = 0; r < alone->run->ranks; r++) {
            norm += sqrt(squares[r]);
        }
    }
    if (limit > 0 && norm > limit) {
        alone->sum[at] *= (float)(limit / (norm + 1e-6));
    }
}

/* Of each rank's part by itself: for the mistakes that are about parts. */
static float clip_by_parts(Alone *alone) {
    memset(squares, 0, sizeof squares);
    move_gradients(alone->model, alone->sum, false);
    each_number(alone, add_square);
    each_number(alone, clip_part);
    move_gradients(alone->model, alone->sum, true);
    return (float)sqrt(squares[0]);
}

static void step_alone(Alone *alone, float rate) {
    Optimizer *optimizer = alone->trainer.optimizer;
    const Model *model = alone->model;
    optimizer_step(optimizer, rate);
    for (int i = 0; optimizer->master != NULL && i < model->param_count; i++) {
        const Param *param = &model->params[i];
        model->ops->cast_from_float(param->weight, optimizer->master[i], param->count);
    }
}

/* Ranks that have found nothing update their parts. */
static void step_of_some(Alone *alone, float rate) {
    Model *model = alone->model;
    memset(is_bad, 0, sizeof is_bad);
    each_number(alone, add_square);
    float *before = floats(alone->P), *after = floats(alone->P);
    size_t at = 0;
    for (int i = 0; i < model->param_count; at += model->params[i++].count) {
        model_download_weight(model, &model->params[i], before + at);
    }
    step_alone(alone, rate);
    at = 0;
    for (int i = 0; i < model->param_count; at += model->params[i++].count) {
        const Param *param = &model->params[i];
        model_download_weight(model, param, after + at);
        for (size_t j = 0; j < param->count; j++) {
            bool bad = is_bad[cut_owner(model->params, i, j, alone->run->ranks)];
            after[at + j] = bad ? before[at + j] : after[at + j];
        }
        model_upload_weight(model, &model->params[i], after + at);
    }
    free(before);
    free(after);
}

/* At stage 1 the sum stands where its owner's gradients were. */
static void leave_sum(Alone *alone, int owner, size_t at) {
    alone->local[owner][at] = alone->sum[at];
}

static void follow_scale(Mixed *mixed, bool skipped) {
    Scaler *scaler = &mixed->scaler;
    if (!mixed->dynamic) {
        return;
    }
    scaler->good_steps = skipped ? 0 : scaler->good_steps + 1;
    scaler->scale *= skipped ? scaler->backoff : 1;
    if (scaler->good_steps == scaler->interval) {
        scaler->scale *= scaler->growth;
        scaler->good_steps = 0;
    }
}

static StepReport update_once(Alone *alone) {
    Trainer *trainer = &alone->trainer;
    StepReport report = {.learning_rate = schedule_rate(&trainer->schedule)};
    bool by_parts = makes(alone, MISTAKE_OWN_NORM) || makes(alone, MISTAKE_ROOTS);
    move_gradients(alone->model, alone->sum, true);
    report.skipped = trainer->mixed != NULL && unscale(alone);
    float limit = makes(alone, MISTAKE_NOT_CLIPPED) ? 0 : trainer->max_grad_norm;
    report.grad_norm = by_parts ? clip_by_parts(alone) : optimizer_clip(alone->model, limit);
    if (!report.skipped || makes(alone, MISTAKE_NOT_SKIPPED)) {
        step_alone(alone, report.learning_rate);
        schedule_tick(&trainer->schedule);
    } else if (makes(alone, MISTAKE_OWN_FOUND)) {
        step_of_some(alone, report.learning_rate);
    }
    move_gradients(alone->model, alone->sum, false);
    if (makes(alone, MISTAKE_NOT_ZEROED) && alone->run->option[ZERO_STAGE] == 1) {
        each_number(alone, leave_sum);
    }
    if (!makes(alone, MISTAKE_NOT_ZEROED) || alone->run->option[ZERO_STAGE] == 1) {
        memset(alone->sum, 0, alone->P * sizeof(float));
    }
    follow_scale(&alone->mixed, report.skipped);
    return report;
}

static void learn_alone(RankRun *run, ZeroMistake mistake) {
    if (run->rank > 0) {
        return;
    }
    Alone alone;
    open_alone(&alone, run, mistake);
    size_t columns = (size_t)run->option[ZERO_STEPS] * REPORTED;
    for (int s = 0; s < run->option[ZERO_STEPS]; s++) {
        size_t at = (size_t)s * REPORTED;
        copy_weights(&alone);
        add_window(&alone, s);
        StepReport report = update_once(&alone);
        rank_give_weights(run, "weights", alone.model, s);
        rank_give_double(run, "reports", columns, at + REPORTED_NORM, (double)report.grad_norm);
        rank_give_double(run, "reports", columns, at + REPORTED_RATE, (double)report.learning_rate);
        rank_give_number(run, "reports", columns, at + REPORTED_SKIPPED, report.skipped);
        rank_give_double(run, "reports", columns, at + REPORTED_SCALE,
                         (double)alone.mixed.scaler.scale);
        rank_give_number(run, "reports", columns, at + REPORTED_UPDATES,
                         (uint64_t)alone.trainer.optimizer->t);
    }
    close_alone(&alone);
}

/* A case for each mistake: protocol.h has their names. */
#define CASE(mistake)                                                                              \
    static void body_##mistake(RankRun *run) {                                                     \
        learn_alone(run, mistake);                                                                 \
    }                                                                                              \
    static void case_##mistake(const Wire *in, Wire *out) {                                        \
        ranks_run_alone(in, out, body_##mistake);                                                  \
    }
EACH_ZERO_MISTAKE(CASE)

/* ---- texts ----------------------------------------------------------------------------------- */

static void text_body(RankRun *run) {
    ModelConfig config = probe_config(run->in);
    Model *model = model_new(&config, run->memory, 1);
    RankText text;
    given_weights(run->in, model);
    shared_text(&text, run, model);
    while (!shared_text_done(&text)) {
        shared_text_step(&text);
    }
    shared_text_give(&text, text.runs);
    model_free(model);
}

static void texts_alone(const Wire *in, Wire *out) {
    ranks_run_alone(in, out, text_body);
}

#define NAMED(mistake) {#mistake, case_##mistake},
const ProbeCase probe_cases[] = {EACH_ZERO_MISTAKE(NAMED){"texts", texts_alone}, {NULL, NULL}};
