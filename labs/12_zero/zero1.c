/* Lab 12: stage 1, states in parts; and the end of a window, at every stage. The contracts are in
   labs/12_zero/contract.h. */
#include <math.h>
#include <stdlib.h>

#include "common/lab.h"
#include "labs/05_fp16/contract.h"
#include "labs/12_zero/contract.h"

#define EXPECT_NCCL(call) CHECK((call) == ncclSuccess, "NCCL: %s", ncclGetLastError(NULL))

void zero_memory(Zero *zero, int unit) {
    ZeroUnit *u = &zero->unit[unit];
    (void)u;
    TODO("task 3: memory for weights and gradients, whole or this rank's part (about 10 lines)");
}

void zero_reduce(Zero *zero, int unit) {
    const ZeroUnit *u = &zero->unit[unit];
    (void)u;
    TODO("task 3: this rank's part of the sum, in place (about 4 lines)");
}

/* ---- the end of a window --------------------------------------------------------------------- */

float zero_norm(Model *shard) {
    const Zero *zero = shard->norm_context;
    size_t mine = zero->length / TENSOR_BLOCK, all = mine * (size_t)zero->ranks;
    double *sums = malloc(all * sizeof *sums), total = 0;
    CHECK(sums != NULL, "no host memory for %zu sums", all);
    /* what sumsq adds up by itself is of this rank alone; its partial sums are what is wanted */
    device_fill(shard->device, shard->result, 0, sizeof(float));
    shard->ops->sumsq(shard->result, shard->grads, &shard->workspace);
    TODO("task 3: the partial sums of all ranks, added in the order of the units (about 10 lines)");
    free(sums);
    return sqrtf((float)total);
}

/* Takes the loss scale back from this rank's gradients. @return whether one of any rank's is not
   finite */
static bool unscale(const Zero *zero, float scale) {
    Model *shard = zero->shard;
    float found = 0;
    device_fill(shard->device, shard->result, 0, sizeof found);
    (void)scale;
    TODO("task 3: unscale the pieces, and ask all ranks what they have found (about 7 lines)");
    device_download(shard->device, &found, shard->result, sizeof found);
    return found != 0;
}

/* The masters of this rank's pieces, rounded, into the weights. */
static void write_weights(const Optimizer *optimizer) {
    const Model *shard = optimizer->model;
    for (int i = 0; optimizer->master != NULL && i < shard->param_count; i++) {
        const Param *param = &shard->params[i];
        shard->ops->cast_from_float(param->weight, optimizer->master[i], param->count);
    }
}

/* Every rank has updated its part: now each gets those of the others. */
static void share_weights(const Zero *zero) {
    (void)zero;
    TODO("task 3: gather the weights of every unit, in place (about 6 lines)");
}

static void zero_grads(const Zero *zero) {
    for (int unit = 0; unit <= zero->model->config.L; unit++) {
        const ZeroUnit *u = &zero->unit[unit];
        (void)u;
        TODO("task 3: what the next window adds to is zero (about 3 lines)");
    }
}

void zero_update(Trainer *trainer, StepReport *report) {
    Zero *zero = trainer->zero;
    Mixed *mixed = trainer->mixed;
    for (int unit = 0; zero->stage == 1 && unit <= zero->model->config.L; unit++) {
        zero_reduce(zero, unit);
    }
    report->skipped = mixed != NULL && unscale(zero, mixed->scaler.scale);
    report->grad_norm = optimizer_clip(zero->shard, trainer->max_grad_norm);
    report->learning_rate = schedule_rate(&trainer->schedule);
    (void)write_weights, (void)share_weights;
    TODO("task 3: update this rank's pieces, unless skipped, and share them (about 7 lines)");
    zero_grads(zero);
    if (mixed != NULL && mixed->dynamic) {
        scaler_update(&mixed->scaler, report->skipped);
    }
}
