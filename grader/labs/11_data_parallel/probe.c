/* Lab 11 in the probe: the submission's ring, and windows of its ranks. */
#include <cuda_runtime.h>
#include <cudasim_left.h>
#include <cudasim_record.h>
#include <stdlib.h>
#include <string.h>

#include "grader/labs/11_data_parallel/shared.h"
#include "grader/probe.h"
#include "grader/rank_heap.h"
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

/* The communicator of the ranks that have the same color, in the order of their keys. */
static ncclComm_t split_comm(const RankRun *run, int color, int key) {
    ncclComm_t comm;
    ncclResult_t result = ncclCommSplit(run->comm, color, key, &comm, NULL);
    CHECK(result == ncclSuccess, "NCCL: %s", ncclGetErrorString(result));
    return comm;
}

/* Other rings: rank 0 has a communicator of its own, and the ranks after it have one, in which
   each has another number. */
static void ring_parted(RankRun *run, size_t count, const float *values) {
    ncclComm_t part = split_comm(run, run->rank > 0, run->rank);
    MemoryMark mark = memory_mark(run->memory);
    size_t bytes = count * sizeof *values;
    float *x = memory_alloc(run->memory, MEMORY_GRADIENTS, "x", -1, bytes);
    float *incoming = memory_alloc(run->memory, MEMORY_WORKSPACE, "incoming", -1, bytes);
    device_upload(run->device, x, values, bytes);
    ring_all_reduce(run->device, part, x, count, incoming);
    rank_give(run, "parted", 0, x, count);
    memory_release(run->memory, mark);
    ncclCommDestroy(part);
}

static void ring_body(RankRun *run) {
    const int32_t *counts = wire_get(run->in, "counts", WIRE_I32, NULL);
    const uint64_t *largest = wire_get(run->in, "largest", WIRE_U64, NULL);
    int arrays = run->option[RING_COUNTS];
    for (int i = 0; i < arrays; i++) {
        size_t count = (size_t)counts[i], scratch = ring_scratch(count, run->ranks);
        /* too few numbers are a mistake of ring_scratch(): the ring still has what it needs */
        size_t floats = scratch < largest[i] ? largest[i] : scratch;
        MemoryMark mark = memory_mark(run->memory);
        float *x = memory_alloc(run->memory, MEMORY_GRADIENTS, "x", -1, count * sizeof *x);
        float *incoming =
            memory_alloc(run->memory, MEMORY_WORKSPACE, "incoming", -1, floats * sizeof *incoming);
        device_upload(run->device, x, ring_given(run, counts, i), count * sizeof *x);
        ring_all_reduce(run->device, run->comm, x, count, incoming);
        rank_give(run, "sums", i, x, count);
        rank_give_number(run, "scratch", (size_t)arrays + 2, (size_t)i, scratch);
        memory_release(run->memory, mark);
    }
    rank_give_number(run, "scratch", (size_t)arrays + 2, (size_t)arrays,
                     ring_scratch(RING_LARGE, run->ranks));
    rank_give_number(run, "scratch", (size_t)arrays + 2, (size_t)arrays + 1,
                     ring_scratch((size_t)counts[0], 1));
    if (run->option[RING_PARTED]) {
        ring_parted(run, (size_t)counts[arrays - 1], ring_given(run, counts, arrays - 1));
    }
}

static void ring_case(const Wire *in, Wire *out) {
    ranks_run(in, out, ring_body);
}

/* ---- windows --------------------------------------------------------------------------------- */

/* All ranks come here before one of them goes on. `word` is a float of device memory. */
static void wait_for_all(const RankRun *run, float *word) {
    ncclAllReduce(word, word, 1, ncclFloat, ncclSum, run->comm, 0);
    cudaStreamSynchronize(0);
}

/* The record begins when all ranks are here: its pipe has no room for all that they have made. */
static void record_from_here(const RankRun *run, float *word) {
    wait_for_all(run, word);
    if (!cudasim_recording()) {
        cudasim_record_begin();
    }
}

/* Other weights than those that are given: rank 0's are the right ones. The last op that computes
   them may not be over yet where the default stream comes to what follows. */
static void spoil_weights(const RankRun *run, Model *model) {
    float factor = (float)(DDP_EARLY * DDP_OWN(run->rank));
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
    if (run->option[DDP_RECORDED]) {
        record_from_here(run, model->result);
    }
    for (int i = model->param_count; i-- > 0;) {
        const Param *param = &model->params[i];
        model->ops->axpby(param->weight, param->weight, param->count, 1.0f / DDP_EARLY, 0);
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

/* Opens and closes others beside a Ddp that stays. What exists is counted for all ranks together:
   those that have opened or closed theirs meanwhile make a difference of fewer streams and events
   than half of what a loop leaves. */
static void reopen(const RankRun *run, Model *model, const Ddp *stays) {
    int before = cudasim_left().handles, times = run->option[DDP_REOPENED];
    ddp_close(NULL);
    for (int i = 0; i < times; i++) {
        Ddp *ddp = ddp_open(model, run->comm, (size_t)run->option[DDP_BUCKET]);
        if (ddp == stays) {
            probe_lost("ddp_open() has given the same Ddp twice, and the first is still open: each "
                       "is one of its own");
        }
        ddp_close(ddp);
    }
    int left = cudasim_left().handles - before;
    if (left >= times / 2) {
        probe_lost(
            "opened and closed %d times, %d streams or events are left: ddp_close() destroys "
            "what ddp_open() has created",
            times, left);
    }
}

static void windows_body(RankRun *run) {
    RankTrainer rank;
    shared_open(run, &rank);
    Model *model = rank.trainer.model;
    if (run->option[DDP_FROZEN] > 0) {
        Param *frozen = &model->params[run->option[DDP_FROZEN] - 1];
        frozen->frozen = true;
        frozen->grad = NULL;
    }
    Ddp *ddp = ddp_open(model, run->comm, (size_t)run->option[DDP_BUCKET]);
    if (run->option[DDP_REOPENED] > 0) {
        reopen(run, model, ddp);
    }
    model->leave = ddp_leave;
    model->parts_context = ddp;
    if (run->option[DDP_STARTS]) {
        spoil_weights(run, model);
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

/* ---- windows in which no model runs ---------------------------------------------------------- */

/* A model, and what marks places in the record. */
typedef struct LeavesRank {
    RankRun *run;
    Model *model;
    char *marked;        /* (LEAVES_BYTES) device memory */
    cudaStream_t beside; /* waits for no other */
    Ddp *amid;           /* also open: has micro-batches at the same time; or NULL */
} LeavesRank;

static void leaves_mark(const LeavesRank *rank, LeavesMark mark) {
    device_fill(rank->run->device, rank->marked, 0, (size_t)mark);
}

/* A look, as an evaluation has it, a forward, and the backward of a micro-batch. Amid it the other
   Ddp has one that is not the last of a window. */
static void leaves_micro(const LeavesRank *rank, Ddp *ddp, bool last) {
    int L = rank->model->config.L;
    Ddp *amid = rank->amid;
    for (int layer = -1; layer <= L; layer++) {
        ddp_leave(ddp, layer, false);
    }
    leaves_mark(rank, LEAVES_MICRO);
    ddp_begin(ddp, last);
    if (amid != NULL) {
        ddp_begin(amid, false);
    }
    for (int layer = L; layer >= -1; layer--) {
        ddp_leave(ddp, layer, true);
        if (amid != NULL) {
            ddp_leave(amid, layer, true);
        }
    }
    if (amid != NULL) {
        ddp_end(amid);
    }
    ddp_end(ddp);
}

static void leaves_windows(const LeavesRank *rank, Ddp *ddp, int windows) {
    int micros = rank->run->option[LEAVES_MICROS];
    leaves_mark(rank, LEAVES_OPENED);
    if (rank->model->params != rank->model->base) {
        ddp_broadcast(ddp);
    }
    for (int i = 0; i < micros * windows; i++) {
        leaves_micro(rank, ddp, i % micros == micros - 1);
    }
    leaves_mark(rank, LEAVES_ENDED);
    ddp_close(ddp);
    cudaMemsetAsync(rank->marked, 0, LEAVES_CLOSED, rank->beside);
}

/* The last gradient of the model with adapters is absent, as of a layer that another rank has: no
   parameter is frozen. */
static void leaves_models(RankRun *run, Model *model[2]) {
    ModelConfig config = probe_config(run->in), bare = config;
    bare.adapter = (Adapter){0};
    model[0] = model_new_zero(&bare, run->memory);
    model[1] = model_new_zero(&config, run->memory);
    model[1]->params[model[1]->param_count - 1].grad = NULL;
}

static void leaves_expect_nothing_left(const RankRun *run, int handles, size_t bytes) {
    if (handles > 0) {
        probe_lost(
            "after windows of %d ranks and ddp_close(), %d streams or events are left: those "
            "that a window creates are destroyed as well",
            run->ranks, handles);
    }
    if (bytes > 0) {
        probe_lost("after windows and ddp_close(), %zu KiB of malloc() are left on rank %d, in "
                   "pages: ddp_close() gives back what a window takes, too",
                   bytes >> 10, run->rank);
    }
}

/* All are open before the first window, and each is closed after its last. */
static void leaves_body(RankRun *run) {
    size_t count;
    const uint64_t *sizes = wire_get(run->in, "sizes", WIRE_U64, &count);
    const int32_t *adapted = wire_get(run->in, "adapted", WIRE_I32, NULL);
    const int32_t *windows = wire_get(run->in, "windows", WIRE_I32, NULL);
    Model *model[2];
    leaves_models(run, model);
    LeavesRank rank = {.run = run};
    cudaMalloc((void **)&rank.marked, LEAVES_BYTES);
    cudaStreamCreateWithFlags(&rank.beside, cudaStreamNonBlocking);
    float *word = (float *)(void *)rank.marked;
    ncclComm_t turned = split_comm(run, 0, -run->rank);
    wait_for_all(run, word);
    int handles = cudasim_left().handles; /* of all ranks together */
    size_t bytes = rank_heap_used();
    record_from_here(run, word);
    Ddp *ddp[LEAVES_SIZES];
    for (size_t i = 0; i < count; i++) {
        ncclComm_t comm = i == LEAVES_TURNED ? turned : run->comm;
        ddp[i] = ddp_open(model[adapted[i]], comm, (size_t)sizes[i]);
    }
    for (size_t i = 0; i < count; i++) {
        rank.model = model[adapted[i]];
        rank.amid = i == LEAVES_TURNED ? ddp[LEAVES_AMID] : NULL;
        leaves_windows(&rank, ddp[i], windows[i]);
    }
    wait_for_all(run, word);
    leaves_expect_nothing_left(run, cudasim_left().handles - handles, rank_heap_used() - bytes);
    cudaDeviceSynchronize();
    ncclCommDestroy(turned);
    cudaStreamDestroy(rank.beside);
    cudaFree(rank.marked);
    model_free(model[1]);
    model_free(model[0]);
}

static void leaves_case(const Wire *in, Wire *out) {
    ranks_run(in, out, leaves_body);
}

const ProbeCase probe_cases[] = {
    {"ring", ring_case}, {"windows", windows_case}, {"leaves", leaves_case}, {NULL, NULL}};
