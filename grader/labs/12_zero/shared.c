#include "grader/labs/12_zero/shared.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "grader/probe.h"

Trainer shared_settings(const RankRun *run, AdamW *adamw) {
    const float *numbers = wire_get(run->in, "adamw", WIRE_F32, NULL);
    const float *rate = wire_get(run->in, "rate", WIRE_F32, NULL);
    const int32_t *schedule = wire_get(run->in, "schedule", WIRE_I32, NULL);
    *adamw = (AdamW){.beta1 = numbers[0],
                     .beta2 = numbers[1],
                     .epsilon = numbers[2],
                     .weight_decay = numbers[3]};
    return (Trainer){.max_grad_norm = rate[1],
                     .schedule = {.learning_rate = rate[0],
                                  .decay = (Decay)schedule[0],
                                  .warmup_steps = schedule[1],
                                  .max_steps = schedule[2]}};
}

/* As scaler_init() has it, but for the scale, so that an overflow is one that is planted, and for
   the interval, so that the scale grows. */
Mixed shared_mixed(const RankRun *run, Precision precision) {
    float scale = run->option[ZERO_SCALED] == ZERO_SCALED_BY_1 ? 1 : 1024;
    return (Mixed){
        .dynamic = precision == F16,
        .scaler = {.scale = scale, .growth = 2, .backoff = 0.5f, .floor = 1, .interval = 2}};
}

Batch shared_batch(const RankRun *run, int s, int k, int rank) {
    return given_batch(run->in, (s * run->option[ZERO_MICROS] + k) * run->ranks + rank);
}

float shared_share(const RankRun *run, int s, const Mixed *mixed) {
    int together = run->option[ZERO_MICROS] * run->ranks, valid = 0;
    for (int i = 0; i < together; i++) {
        valid += given_batch(run->in, s * together + i).valid;
    }
    float share = valid > 0 ? 1.0f / (float)valid : 0;
    bool tiny = run->option[ZERO_TINY] && s == run->option[ZERO_STEPS] - 1;
    share = tiny ? ldexpf(share, -74) : share;
    return mixed != NULL ? share * mixed->scaler.scale : share;
}

bool shared_spoils(const RankRun *run, int s, int k, int rank) {
    bool step = s == 0 || s == run->option[ZERO_STEPS] - 1;
    return step && k == 0 && run->option[ZERO_SPOILED] == rank + 1;
}

void shared_spoil(const RankRun *run, int s, const Model *model) {
    static const float bad[ZERO_BADS] = {INFINITY, -INFINITY, NAN, NAN};
    const Param *param = &model->params[run->option[ZERO_SPOILED_PARAM]];
    float value = s == 0 ? bad[run->option[ZERO_SPOILED_BY]] : ZERO_LARGE;
    device_upload(run->device, param->grad, &value, sizeof value);
    if (s == 0 && run->option[ZERO_SPOILED_BY] == BAD_NANS) {
        device_upload(run->device, param->grad + param->count - 1, &value, sizeof value);
    }
}

/* ---- text ------------------------------------------------------------------------------------ */

void shared_text(RankText *text, const RankRun *run, Model *model) {
    int length = run->option[ZERO_TEXT];
    const int32_t *prompts = wire_get(run->in, "prompts", WIRE_I32, NULL);
    const int32_t *counts = wire_get(run->in, "counts", WIRE_I32, NULL);
    *text = (RankText){.run = run, .model = model, .known = length, .wanted = counts[run->rank]};
    text->logits = malloc((size_t)model->config.V * sizeof *text->logits);
    CHECK(text->logits != NULL && length + TEXT_MOST <= 64, "a prompt of %d", length);
    memcpy(text->ids, prompts + run->rank * length, (size_t)length * sizeof *prompts);
    for (int i = 0; i < 64; i++) {
        text->ignored[i] = IGNORE_INDEX;
    }
}

bool shared_text_done(void *context) {
    const RankText *text = context;
    return text->drawn >= text->wanted;
}

void shared_text_step(void *context) {
    RankText *text = context;
    int V = text->model->config.V, best = 0;
    Batch batch = {.B = 1, .T = text->known, .tokens = text->ids, .targets = text->ignored};
    model_next_logits(text->model, &batch, text->logits);
    for (int v = 1; v < V; v++) {
        best = text->logits[v] > text->logits[best] ? v : best;
    }
    text->runs++;
    if (!shared_text_done(text)) {
        text->ids[text->known++] = best;
        text->drawn++;
    }
}

void shared_text_give(const RankText *text, int steps) {
    const RankRun *run = text->run;
    rank_give_number(run, "texts", TEXT_NUMBERS, TEXT_STEPS, (uint64_t)steps);
    rank_give_number(run, "texts", TEXT_NUMBERS, TEXT_RUNS, (uint64_t)text->runs);
    for (int i = 0; i < TEXT_MOST; i++) {
        uint64_t id = i < text->drawn ? (uint64_t)text->ids[run->option[ZERO_TEXT] + i] : 0;
        rank_give_number(run, "texts", TEXT_NUMBERS, TEXT_DRAWN + (size_t)i, id);
    }
    free(text->logits);
}
