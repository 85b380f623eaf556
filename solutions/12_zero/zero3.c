/* Lab 12: weights that are whole only while they are used. The contracts are in
   labs/12_zero/contract.h. */
#include <stdlib.h>

#include "common/lab.h"
#include "labs/12_zero/contract.h"

#define EXPECT_NCCL(call) CHECK((call) == ncclSuccess, "NCCL: %s", ncclGetLastError(NULL))

void zero_weights_come(Zero *zero, int unit) {
    ZeroUnit *u = &zero->unit[unit];
    u->lane = zero->weights;
#ifndef STUB
    Precision precision = zero->model->config.precision;
    size_t bytes = u->part * (size_t)zero->ranks * precision_bytes(precision);
    Real *weights = memory_alloc(zero->weights, MEMORY_WEIGHTS, "unit", unit - 1, bytes);
    EXPECT_NCCL(ncclAllGather(u->my_weights, weights, u->part, zero_type(precision), zero->comm,
                              zero->stream));
    zero_settle(zero);
    zero_put_weights(zero, unit, weights);
#else
    TODO("task 5: memory in zero->weights, filled from all ranks, put into the model (8 lines)");
#endif
}

void zero_weights_go(Zero *zero, int unit) {
    const ZeroUnit *u = &zero->unit[unit];
#ifndef STUB
    zero_put_weights(zero, unit, NULL);
    memory_release(u->lane, 0);
#else
    (void)u;
    TODO("task 5: taken out of the model, released (2 lines)");
#endif
}

/* ---- generation ------------------------------------------------------------------------------ */

/* Whether any rank says yes. */
static bool any(const Zero *zero, bool yes) {
    float answer = yes ? 1 : 0;
#ifndef STUB
    Model *model = zero->model;
    device_upload(model->device, model->result, &answer, sizeof answer);
    EXPECT_NCCL(ncclAllReduce(model->result, model->result, 1, ncclFloat, ncclMax, zero->comm,
                              zero->stream));
    zero_settle(zero);
    device_download(model->device, &answer, model->result, sizeof answer);
#else
    (void)zero;
    TODO("task 7: each rank asks all others (about 5 lines)");
#endif
    return answer != 0;
}

int zero_generate(Zero *zero, bool (*done)(void *context), void (*step)(void *context),
                  void *context) {
    int steps = 0;
#ifndef STUB
    while (zero->stage == 3 ? any(zero, !done(context)) : !done(context)) {
        step(context);
        steps++;
    }
#else
    (void)any;
    while (!done(context)) {
        if (zero->stage == 3) {
            TODO("task 7: the others' collectives wait for this rank: until when? (1 line)");
        }
        step(context);
        steps++;
    }
#endif
    return steps;
}
