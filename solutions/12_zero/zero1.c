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
#ifndef STUB
    size_t mine = u->part * (size_t)zero->rank;
    size_t element = precision_bytes(zero->model->config.precision);
    u->my_weights = zero_alloc(zero, MEMORY_WEIGHTS, unit, zero->stage < 3, element);
    u->my_grads = zero_alloc(zero, MEMORY_GRADIENTS, unit, zero->stage < 2, sizeof(float));
    if (zero->stage < 3) {
        zero_put_weights(zero, unit, u->my_weights);
        u->my_weights = zero_at(zero, u->weights, mine);
    }
    if (zero->stage < 2) {
        zero_put_grads(zero, unit, u->my_grads);
        u->my_grads = u->grads + mine;
    }
#else
    (void)u;
    TODO("task 3: memory for weights and gradients, whole or this rank's part (about 10 lines)");
#endif
}

void zero_reduce(Zero *zero, int unit) {
    const ZeroUnit *u = &zero->unit[unit];
#ifndef STUB
    float *sum = u->grads + u->part * (size_t)zero->rank; /* in place */
    EXPECT_NCCL(
        ncclReduceScatter(u->grads, sum, u->part, ncclFloat, ncclSum, zero->comm, zero->stream));
    zero_settle(zero);
#else
    (void)u;
    TODO("task 3: this rank's part of the sum, in place (about 4 lines)");
#endif
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
#ifndef STUB
    EXPECT_NCCL(ncclAllGather(shard->workspace.data, zero->norm, mine, ncclDouble, zero->comm,
                              zero->stream));
    zero_settle(zero);
    device_download(shard->device, sums, zero->norm, all * sizeof *sums);
    for (int unit = 0; unit <= shard->config.L; unit++) {
        const ZeroUnit *u = &zero->unit[unit];
        for (size_t r = 0; r < (size_t)zero->ranks; r++) {
            for (size_t i = 0; i < u->part / TENSOR_BLOCK; i++) {
                total += sums[r * mine + u->at / TENSOR_BLOCK + i];
            }
        }
    }
#else
    TODO("task 3: the partial sums of all ranks, added in the order of the units (about 10 lines)");
#endif
    free(sums);
    return sqrtf((float)total);
}

/* Takes the loss scale back from this rank's gradients. @return whether one of any rank's is not
   finite */
static bool unscale(const Zero *zero, float scale) {
    Model *shard = zero->shard;
    float found = 0;
    device_fill(shard->device, shard->result, 0, sizeof found);
#ifndef STUB
    const Param *end = shard->params + shard->param_count;
    for (const Param *param = shard->params; param < end; param++) {
        shard->ops->unscale(param->grad, param->count, 1 / scale, shard->result);
    }
    EXPECT_NCCL(ncclAllReduce(shard->result, shard->result, 1, ncclFloat, ncclMax, zero->comm,
                              zero->stream));
    zero_settle(zero);
#else
    (void)scale;
    TODO("task 3: unscale the pieces, and ask all ranks what they have found (about 7 lines)");
#endif
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
#ifndef STUB
    for (int unit = 0; unit <= zero->model->config.L; unit++) {
        const ZeroUnit *u = &zero->unit[unit];
        EXPECT_NCCL(ncclAllGather(u->my_weights, u->weights, u->part,
                                  zero_type(zero->model->config.precision), zero->comm,
                                  zero->stream));
    }
    zero_settle(zero);
#else
    (void)zero;
    TODO("task 3: gather the weights of every unit, in place (about 6 lines)");
#endif
}

static void zero_grads(const Zero *zero) {
    for (int unit = 0; unit <= zero->model->config.L; unit++) {
        const ZeroUnit *u = &zero->unit[unit];
#ifndef STUB
        float *grads = zero->stage == 1 ? u->grads : u->my_grads;
        size_t numbers = zero->stage == 1 ? u->part * (size_t)zero->ranks : u->part;
        device_fill(zero->model->device, grads, 0, numbers * sizeof *grads);
#else
        (void)u;
        TODO("task 3: what the next window adds to is zero (about 3 lines)");
#endif
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
#ifndef STUB
    if (!report->skipped) {
        optimizer_step(trainer->optimizer, report->learning_rate);
        write_weights(trainer->optimizer);
        if (zero->stage < 3) {
            share_weights(zero);
        }
    }
#else
    (void)write_weights, (void)share_weights;
    TODO("task 3: update this rank's pieces, unless skipped, and share them (about 7 lines)");
#endif
    zero_grads(zero);
    if (mixed != NULL && mixed->dynamic) {
        scaler_update(&mixed->scaler, report->skipped);
    }
}
