#include "grader/labs/14_tensor/part_all.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "grader/labs/14_tensor/part_slice.h"
#include "grader/labs/14_tensor/protocol.h"
#include "grader/probe.h"
#include "grader/rank_heap.h"

/* The norm of a model of one block comes first: nothing of it may be left. */
static void norm_before(SliceRun *slice) {
    const RankRun *run = slice->run;
    MemoryMark mark = memory_mark(run->memory);
    ModelConfig config = slice->model->config;
    ModelPart part = slice->model->part;
    config.L = part.last = 1;
    Model *model = model_new_part(&config, &part, run->memory, 1);
    model->split = &slice->group;
    slice_norm(model);
    model_free(model);
    memory_release(run->memory, mark);
}

void all_norm_rank(RankRun *run) {
    SliceRun slice;
    slice_run_open(&slice, run);
    norm_before(&slice);
    MemoryUse before = memory_now(run->memory);
    float norm = model_grad_norm(slice.model);
    for (int i = 2; i < TP_NORMS; i++) {
        model_grad_norm(slice.model);
    }
    MemoryUse after = memory_now(run->memory);
    rank_give_number(run, "left", 1, 0, memory_total(&after) - memory_total(&before));
    char name[WIRE_NAME];
    float *to = wire_get(run->out, rank_name(name, "norm", run->rank, "window", 0), WIRE_F32, NULL);
    *to = norm;
    rank_give_gradients(run, "gradients", slice.model, 0);
    slice_run_close(&slice);
}

static uint64_t outcome(const SliceRun *slice, const float *before) {
    const Model *model = slice->model;
    bool finite = true, same = true;
    for (int k = 0; k < model->param_count; k++) {
        size_t n = model->params[k].count;
        float *now = malloc(n * sizeof *now);
        CHECK(now != NULL, "no host memory for %zu floats", n);
        device_download(model->device, now, model->params[k].grad, n * sizeof *now);
        for (size_t j = 0; j < n; j++) {
            finite = finite && isfinite(now[j]);
        }
        same = same && memcmp(now, before, n * sizeof *now) == 0;
        before += n;
        free(now);
    }
    return !finite ? OVERFLOW_FOUND : same ? OVERFLOW_NONE : OVERFLOW_CHANGED;
}

/* Bytes of tensors and of malloc() that a rank has. */
static size_t bytes_held(const RankRun *run) {
    MemoryUse use = memory_now(run->memory);
    return memory_total(&use) + rank_heap_used();
}

void all_overflow_rank(RankRun *run) {
    SliceRun slice;
    size_t count, P, held = 0;
    const float *cases = wire_get(run->in, "cases", WIRE_F32, &count);
    const float *given = slice_run_given(run, "before", &P);
    float *before = malloc(P * sizeof *before);
    CHECK(before != NULL, "no host memory for %zu floats", P);
    slice_run_open(&slice, run);
    Model *model = slice.model;
    for (size_t i = 0; i < count / 3; i++, cases += 3) {
        float *from = before;
        memcpy(before, given, P * sizeof *before);
        for (int k = 0; k < model->param_count; k++) {
            Param *param = &model->params[k];
            if ((int)cases[0] == run->rank && (int)cases[1] == k) {
                from[param->count - 1] = cases[2];
            }
            device_upload(run->device, param->grad, from, param->count * sizeof *from);
            from += param->count;
        }
        slice_share_overflow(model);
        held = i == 0 ? bytes_held(run) : held;
        rank_give_number(run, "overflow", count / 3, i, outcome(&slice, before));
    }
    rank_give_number(run, "left", 1, 0, bytes_held(run) - held);
    free(before);
    slice_run_close(&slice);
}
