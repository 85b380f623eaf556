/* Lab 11 without a submission: what each rank learns by itself, one after the other; and the update
   from their sum in the order of ranks. */
#include <stdlib.h>
#include <string.h>

#include "grader/labs/11_data_parallel/shared.h"
#include "grader/probe.h"

static size_t alone_numbers(const Model *model) {
    size_t numbers = 0;
    for (int i = 0; i < model->param_count; i++) {
        numbers += model->params[i].count;
    }
    return numbers;
}

/* The numbers of all gradients on their way to the host or, with `up`, back. */
static void alone_move(const Model *model, float *values, bool up) {
    for (int i = 0; i < model->param_count; i++) {
        const Param *param = &model->params[i];
        size_t bytes = param->count * sizeof *values;
        if (up) {
            device_upload(model->device, param->grad, values, bytes);
        } else {
            device_download(model->device, values, param->grad, bytes);
        }
        values += param->count;
    }
}

/* One rank learns from its part of a window; after its first micro-batch, that alone. */
static void alone_learn(RankRun *run, Trainer *trainer, int w, int r, float *single) {
    run->rank = r;
    model_zero_grad(trainer->model);
    double loss = 0;
    for (int k = 0; k < run->option[DDP_MICROS]; k++) {
        Batch batch = turn_batch(run, w, k, r);
        loss += trainer_forward(trainer, &batch);
        turn_spoil(run, trainer->model, w, k);
        trainer_backward(trainer, turn_share(run, w));
        if (k == 0) {
            rank_give_gradients(run, "first", trainer->model, w);
        }
    }
    rank_give_gradients(run, "single", trainer->model, w);
    alone_move(trainer->model, single, false);
    rank_give_double(run, "reports", (size_t)run->option[DDP_WINDOWS] * REPORT_NUMBERS,
                     (size_t)w * REPORT_NUMBERS + REPORT_LOSS, loss);
}

static void sum_up(float *sum, const float *single, size_t n, bool first) {
    for (size_t i = 0; i < n; i++) {
        sum[i] = first ? single[i] : sum[i] + single[i];
    }
}

static void alone_body(RankRun *run) {
    if (run->rank > 0) {
        return; /* one model stands for all: they have the same weights */
    }
    RankTrainer rank;
    shared_open(run, &rank);
    Model *model = rank.trainer.model;
    size_t n = alone_numbers(model);
    float *single = calloc(2 * n, sizeof *single), *sum = single + n;
    CHECK(single != NULL, "no memory for %zu numbers", 2 * n);
    for (int w = 0; w < run->option[DDP_WINDOWS]; w++) {
        for (int r = 0; r < run->ranks; r++) {
            alone_learn(run, &rank.trainer, w, r, single);
            sum_up(sum, single, n, r == 0);
        }
        alone_move(model, sum, true);
        if (run->option[DDP_UPDATES]) {
            shared_update(&rank);
            for (int r = 0; r < run->ranks; r++) {
                run->rank = r;
                rank_give_weights(run, "weights", model, w);
            }
        }
    }
    free(single);
    shared_close(&rank);
}

static void alone(const Wire *in, Wire *out) {
    ranks_run_alone(in, out, alone_body);
}

const ProbeCase probe_cases[] = {{"alone", alone}, {NULL, NULL}};
