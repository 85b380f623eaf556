/* Lab 13 in the probe: each rank has a stage, and runs windows of micro-batches through it. */
#include <nccl.h>
#include <string.h>

#ifdef CUDASIM
#include <cudasim_nccl.h>
#endif

#include "grader/labs/13_pipeline/protocol.h"
#include "grader/probe.h"
#include "grader/probe_events.h"
#include "grader/probe_heap.h"

/* The stage that the judge says, with its part of the weights that are given. */
static Model *stage_new(const RankRun *run) {
    const int32_t *parts = wire_get(run->in, "parts", WIRE_I32, NULL);
    const float *weights = wire_get(run->in, "weights", WIRE_F32, NULL);
    ModelConfig config = probe_config(run->in);
    ModelPart part = model_whole(&config);
    part.first = parts[2 * run->rank];
    part.last = parts[2 * run->rank + 1];
    part.embedding = run->rank == 0;
    part.head = run->rank == run->ranks - 1;
    uint64_t seed = *(const uint64_t *)wire_get(run->in, "seed", WIRE_U64, NULL);
    Model *model = model_new_part(&config, &part, run->memory, seed);
    for (int i = 0; i < model->base_count; i++) {
        if (model->base[i].weight != NULL) {
            model_upload_weight(model, &model->base[i], weights);
        }
        weights += model->base[i].count;
    }
    return model;
}

/* The first stage and the last have a communicator of their own. */
static ncclComm_t split_ends(const RankRun *run) {
    ncclComm_t ends = NULL;
    if (run->ranks > 1) {
        bool end = run->rank == 0 || run->rank == run->ranks - 1;
        ncclResult_t split =
            ncclCommSplit(run->comm, end ? 0 : NCCL_SPLIT_NOCOLOR, run->rank, &ends, NULL);
        CHECK(split == ncclSuccess, "NCCL: %s", ncclGetErrorString(split));
#ifdef CUDASIM
        if (end && !run->option[RANKS_GPU]) {
            cudasim_comm_on_host(ends);
        }
#endif
    }
    return ends;
}

/* Calls between the letters are those of tie_sum(): what a GPU has in its queue comes before. */
static void sum_ties(const RankRun *run, Pipe *pipe) {
    device_synchronize(run->device);
    event_tell((char)(TOLD_TIE_BEGINS + run->rank));
    tie_sum(pipe);
    device_synchronize(run->device);
    event_tell((char)(TOLD_TIE_ENDS + run->rank));
}

static void give_norms(const RankRun *run, Pipe *pipe, int w) {
    size_t columns = (size_t)run->option[PIPES_WINDOWS] * NORM_TIMES;
    for (int k = 0; k < norm_times(run->option[RANKS_GPU]); k++) {
        double norm = (double)tie_norm(pipe);
        if (k == 0) {
            rank_give_gradients(run, NAME_NORMED, pipe->model, w);
        }
        rank_give_double(run, "norms", columns, (size_t)(w * NORM_TIMES + k), norm);
        model_scale_grad(pipe->model, NORM_SCALE);
    }
}

static void run_window(const RankRun *run, Pipe *pipe, int w) {
    Batch batches[MOST_IN_WINDOW] = {{0}};
    int most = run->option[PIPES_MICROS], tie = run->option[PIPES_TIE];
    int micros = window_micros(run->option, w);
    size_t windows = (size_t)run->option[PIPES_WINDOWS], i = (size_t)w;
    float share = ((const float *)wire_get(run->in, "share", WIRE_F32, NULL))[w];
    CHECK(most <= MOST_IN_WINDOW, "%d micro-batches", most);
    for (int k = 0; k < micros; k++) {
        batches[k] = given_batch(run->in, micro_batch(run->in, most, w, k));
    }
    double loss = pipe_window(pipe, batches, micros, share);
    if (tie >= TIE_SUM) {
        sum_ties(run, pipe);
    }
    rank_give_gradients(run, NAME_STAGE, pipe->model, w);
    if (tie >= TIE_NORM) {
        give_norms(run, pipe, w);
    }
    rank_give_double(run, "losses", windows, i, loss);
    rank_give_number(run, "streams", windows, i, pipe->model->rng.offset);
    model_zero_grad(pipe->model);
}

/* The bytes of the heap of the host that are in use since then; other ranks share it. */
static void give_heap(const RankRun *run, uint64_t before) {
    rank_give_number(run, "heap", 1, 0, heap_since(before));
}

static void repeat_window(const RankRun *run, Pipe *pipe) {
    Batch batch = given_batch(run->in, 0);
    uint64_t before = heap_bytes();
    for (int i = 0; i < run->option[PIPES_REPEATED]; i++) {
        pipe_window(pipe, &batch, 1, 0);
    }
    give_heap(run, before);
}

/* The loss of the first batch, after those of the others. */
static double evaluate_all(const RankRun *run, Pipe *pipe) {
    double loss = 0;
    int more = run->device->host_memory ? run->option[PIPES_REPEATED] : 0;
    Batch first = given_batch(run->in, 0);
    for (int i = given_batches(run->in) - 1; i >= 0; i--) {
        Batch batch = given_batch(run->in, i);
        loss = pipe_evaluate(pipe, &batch);
    }
    uint64_t before = heap_bytes();
    for (int i = 0; i < more; i++) {
        loss = pipe_evaluate(pipe, &first);
    }
    give_heap(run, before);
    return loss;
}

/* Beyond what there was before the windows, activations and data left out. */
static uint64_t other_bytes(const RankRun *run, const MemoryUse *before) {
    MemoryUse peak = memory_peak(run->memory);
    uint64_t bytes = 0;
    for (int kind = 0; kind < MEMORY_KINDS; kind++) {
        bool other = kind != MEMORY_ACTIVATIONS && kind != MEMORY_DATA;
        bytes += other ? peak.bytes[kind] - before->bytes[kind] : 0;
    }
    return bytes;
}

/* Ops have no place for a context of their own. A list of tensors is read while sumsq() writes its
   partial sums: in a model as small as these they may end before what is still to be read. */
static _Thread_local sumsq_fn *own_sumsq;

static void sumsq_beside_list(float *out, TensorList x, const Workspace *workspace) {
    uintptr_t entries = (uintptr_t)x.tensor, scratch = (uintptr_t)workspace->data;
    if (entries >= scratch && entries < scratch + workspace->bytes) {
        probe_lost("a list of tensors lies in model->workspace, where sumsq() writes partial sums: "
                   "it has memory of its own");
    }
    own_sumsq(out, x, workspace);
}

static void pipe_stage_body(RankRun *run) {
    Model *model = stage_new(run);
    Ops ops = *model->ops;
    own_sumsq = ops.sumsq;
    ops.sumsq = sumsq_beside_list;
    model->ops = &ops;
    Pipe pipe = {.model = model,
                 .order = (PipeOrder)run->option[PIPES_ORDER],
                 .stages = run->ranks,
                 .stage = run->rank,
                 .comm = run->comm,
                 .ends = split_ends(run)};
    MemoryUse before = memory_now(run->memory);
    memory_peak_reset(run->memory);
    for (int w = 0; w < run->option[PIPES_WINDOWS]; w++) {
        run_window(run, &pipe, w);
    }
    rank_give_bytes(run);
    rank_give_number(run, "other bytes", 1, 0, other_bytes(run, &before));
    if (!run->option[PIPES_EVALUATE]) {
        repeat_window(run, &pipe);
    }
    double loss = run->option[PIPES_EVALUATE] ? evaluate_all(run, &pipe) : 0;
    MemoryUse after = memory_now(run->memory);
    rank_give_number(run, "left", 1, 0, memory_total(&after) - memory_total(&before));
    rank_give_double(run, "evals", 1, 0, loss);
    rank_give_number(run, "after", 1, 0, model->rng.offset);
    device_synchronize(run->device);
    if (pipe.ends != NULL) {
        ncclCommDestroy(pipe.ends);
    }
    model_free(model);
}

static void pipe_windows_case(const Wire *in, Wire *out) {
    ranks_run(in, out, pipe_stage_body);
}

static void pipe_windows_on_gpu_case(const Wire *in, Wire *out) {
    ranks_run_on_gpu(in, out, pipe_stage_body);
}

const ProbeCase probe_cases[] = {
    {"windows", pipe_windows_case}, {"windows_on_gpu", pipe_windows_on_gpu_case}, {NULL, NULL}};
