/* Lab 11 in the probe: the submission's ring, and windows of its ranks. */
#include <stdlib.h>
#include <string.h>

#include "grader/labs/11_data_parallel/shared.h"
#include "grader/probe.h"
#include "labs/11_data_parallel/contract.h"

/* ---- ring ------------------------------------------------------------------------------------ */

/* Array i of rank r begins after those of all ranks before it, and after its own. */
static const float *ring_given(const RankRun *run, const int32_t *counts, int i) {
    const float *x = wire_get(run->in, "x", WIRE_F32, NULL);
    for (int k = 0; k < i; k++) {
        x += (size_t)run->ranks * (size_t)counts[k];
    }
    return x + (size_t)run->rank * (size_t)counts[i];
}

/* A ring of one: the first array of this rank, and a communicator that has no other. */
static void ring_alone(RankRun *run, size_t count, const float *values) {
    ncclComm_t alone;
    ncclResult_t split = ncclCommSplit(run->comm, run->rank, 0, &alone, NULL);
    CHECK(split == ncclSuccess, "NCCL: %s", ncclGetErrorString(split));
    MemoryMark mark = memory_mark(run->memory);
    size_t bytes = count * sizeof *values;
    float *x = memory_alloc(run->memory, MEMORY_GRADIENTS, "x", -1, bytes);
    float *incoming = memory_alloc(run->memory, MEMORY_WORKSPACE, "incoming", -1, bytes);
    device_upload(run->device, x, values, bytes);
    ring_all_reduce(run->device, alone, x, count, incoming);
    rank_give(run, "alone", 0, x, count);
    memory_release(run->memory, mark);
    ncclCommDestroy(alone);
}

static void ring_body(RankRun *run) {
    const int32_t *counts = wire_get(run->in, "counts", WIRE_I32, NULL);
    int arrays = run->option[RING_COUNTS];
    for (int i = 0; i < arrays; i++) {
        size_t count = (size_t)counts[i], scratch = ring_scratch(count, run->ranks);
        MemoryMark mark = memory_mark(run->memory);
        float *x = memory_alloc(run->memory, MEMORY_GRADIENTS, "x", -1, count * sizeof *x);
        float *incoming =
            memory_alloc(run->memory, MEMORY_WORKSPACE, "incoming", -1, scratch * sizeof *incoming);
        device_upload(run->device, x, ring_given(run, counts, i), count * sizeof *x);
        ring_all_reduce(run->device, run->comm, x, count, incoming);
        rank_give(run, "sums", i, x, count);
        rank_give_number(run, "scratch", (size_t)arrays + 1, (size_t)i, scratch);
        memory_release(run->memory, mark);
    }
    rank_give_number(run, "scratch", (size_t)arrays + 1, (size_t)arrays,
                     ring_scratch(RING_LARGE, run->ranks));
    if (run->option[RING_ALONE]) {
        ring_alone(run, (size_t)counts[0], ring_given(run, counts, 0));
    }
}

static void ring_case(const Wire *in, Wire *out) {
    ranks_run(in, out, ring_body);
}

/* ---- windows --------------------------------------------------------------------------------- */

/* Other weights than those that are given: rank 0's are the right ones. */
static void spoil_weights(const RankRun *run, Model *model) {
    float factor = (float)(1 + run->rank);
    for (int i = 0; i < model->param_count; i++) {
        const Param *param = &model->params[i];
        float *values = malloc(param->count * sizeof *values);
        CHECK(values != NULL, "no memory for %zu numbers", param->count);
        model_download_weight(model, param, values);
        for (size_t j = 0; j < param->count; j++) {
            values[j] *= factor;
        }
        model_upload_weight(model, &model->params[i], values);
        free(values);
    }
}

static double window_body(const RankRun *run, RankTrainer *rank, Ddp *ddp, int w) {
    Trainer *trainer = &rank->trainer;
    float share = turn_share(run, w);
    double loss = 0;
    for (int k = 0; k < run->option[DDP_MICROS]; k++) {
        Batch batch = turn_batch(run, w, k, run->rank);
        bool last = k == run->option[DDP_MICROS] - 1;
        loss += trainer_forward(trainer, &batch);
        turn_spoil(run, trainer->model, w, k);
        ddp_begin(ddp, last);
        trainer_backward(trainer, share);
        ddp_end(ddp);
    }
    rank_give_gradients(run, "gradients", trainer->model, w);
    return loss;
}

static void report_window(const RankRun *run, int w, double loss, const StepReport *report) {
    size_t columns = (size_t)run->option[DDP_WINDOWS] * REPORT_NUMBERS;
    size_t at = (size_t)w * REPORT_NUMBERS;
    rank_give_double(run, "reports", columns, at + REPORT_LOSS, loss);
    rank_give_double(run, "reports", columns, at + REPORT_NORM, (double)report->grad_norm);
    rank_give_number(run, "reports", columns, at + REPORT_SKIPPED, report->skipped);
}

static void windows_body(RankRun *run) {
    RankTrainer rank;
    shared_open(run, &rank);
    Model *model = rank.trainer.model;
    if (run->option[DDP_STARTS]) {
        spoil_weights(run, model);
    }
    if (run->option[DDP_FROZEN] > 0) {
        Param *frozen = &model->params[run->option[DDP_FROZEN] - 1];
        frozen->frozen = true;
        frozen->grad = NULL;
    }
    if (run->option[DDP_REOPENED] > 0) {
        ddp_close(NULL);
    }
    for (int i = 0; i < run->option[DDP_REOPENED]; i++) {
        ddp_close(ddp_open(model, run->comm, (size_t)run->option[DDP_BUCKET]));
    }
    Ddp *ddp = ddp_open(model, run->comm, (size_t)run->option[DDP_BUCKET]);
    model->leave = ddp_leave;
    model->parts_context = ddp;
    if (run->option[DDP_STARTS]) {
        ddp_broadcast(ddp);
        rank_give_weights(run, "start", model, 0);
    }
    for (int w = 0; w < run->option[DDP_WINDOWS]; w++) {
        StepReport report = {0};
        double loss = window_body(run, &rank, ddp, w);
        if (run->option[DDP_UPDATES]) {
            report = shared_update(&rank);
            rank_give_weights(run, "weights", model, w);
        } else {
            model_zero_grad(model);
        }
        Batch first = turn_batch(run, 0, 0, run->rank);
        model_evaluate(model, &first); /* runs forward, and is none of a window */
        report_window(run, w, loss, &report);
    }
    rank_give_bytes(run);
    ddp_close(ddp);
    shared_close(&rank);
}

static void windows_case(const Wire *in, Wire *out) {
    ranks_run(in, out, windows_body);
}

const ProbeCase probe_cases[] = {{"ring", ring_case}, {"windows", windows_case}, {NULL, NULL}};
