/* Lab 12: weights that are gathered while the part before them runs. The contracts are in
   labs/12_zero/contract.h. */
#include <stdlib.h>

#include "common/lab.h"
#include "labs/12_zero/contract.h"

struct ZeroAhead {
    cudaStream_t stream; /* of the gathers */
    cudaEvent_t ready;   /* in the default stream: a gather may begin */
    cudaEvent_t here;    /* in the other one: the last gather is over */
    Memory *slot[2];     /* a unit each: one that is used, one on its way */
    Real *weights;       /* of the unit on its way */
    int unit;            /* which; -1 for none */
    int last;            /* the slot that was filled last */
    bool back;           /* in a backward pass: a forward is that of a block that runs again */
};

#define EXPECT(call) CHECK((call) == cudaSuccess, "%s", cudaGetErrorString(cudaGetLastError()))
#define EXPECT_NCCL(call) CHECK((call) == ncclSuccess, "NCCL: %s", ncclGetLastError(NULL))

void zero_ahead_open(Zero *zero) {
    CHECK(zero->stage == 3 && zero->ahead == NULL, "stage %d", zero->stage);
    ZeroAhead *ahead = zero->ahead = calloc(1, sizeof *ahead);
    CHECK(ahead != NULL, "no memory for a few bytes");
    ahead->unit = -1;
    ahead->slot[0] = zero->weights;
    ahead->slot[1] = memory_lane(zero->model->memory, "weights ahead");
    EXPECT(cudaEventCreateWithFlags(&ahead->ready, cudaEventDisableTiming));
    EXPECT(cudaEventCreateWithFlags(&ahead->here, cudaEventDisableTiming));
#ifndef STUB
    EXPECT(cudaStreamCreateWithFlags(&ahead->stream, cudaStreamNonBlocking));
#else
    /* task 6: a stream of their own; until then gathers are in the default stream (1 line) */
#endif
}

void zero_ahead_close(Zero *zero) {
    ZeroAhead *ahead = zero->ahead;
    if (ahead != NULL) {
        EXPECT(cudaStreamSynchronize(ahead->stream));
        if (ahead->stream != NULL) {
            EXPECT(cudaStreamDestroy(ahead->stream));
        }
        EXPECT(cudaEventDestroy(ahead->ready));
        EXPECT(cudaEventDestroy(ahead->here));
        free(ahead);
        zero->ahead = NULL;
    }
}

/* ---- which ----------------------------------------------------------------------------------- */

/* The unit of the part that runs after this one; -1 where it needs none, or nobody knows it. */
static int next_unit(const Zero *zero, int layer, bool backward) {
    int L = zero->model->config.L;
#ifndef STUB
    if (backward) {
        return layer > 0 ? layer : -1;
    }
    return zero->ahead->back || layer == L ? -1 : layer == L - 1 ? 0 : layer + 2;
#else
    (void)L, (void)layer, (void)backward;
    TODO("task 6: forward goes up, to the head; backward comes down; unit = block + 1 (4 lines)");
#endif
}

/* ---- gathers --------------------------------------------------------------------------------- */

/* Sends for a unit: its weights come into the slot that is free, beside what the default stream
   goes on to do. */
static void send_for(Zero *zero, int unit) {
    ZeroAhead *ahead = zero->ahead;
    ahead->last = 1 - ahead->last;
    ahead->unit = unit;
#ifndef STUB
    const ZeroUnit *u = &zero->unit[unit];
    Precision precision = zero->model->config.precision;
    size_t bytes = u->part * (size_t)zero->ranks * precision_bytes(precision);
    ahead->weights =
        memory_alloc(ahead->slot[ahead->last], MEMORY_WEIGHTS, "unit", unit - 1, bytes);
    EXPECT(cudaEventRecord(ahead->ready, 0));
    EXPECT(cudaStreamWaitEvent(ahead->stream, ahead->ready, 0));
    EXPECT_NCCL(ncclAllGather(u->my_weights, ahead->weights, u->part, zero_type(precision),
                              zero->comm, ahead->stream));
    EXPECT(cudaEventRecord(ahead->here, ahead->stream));
#else
    TODO("task 6: memory in the slot; the gather, after what has used the slot (10 lines)");
#endif
}

/* From here on the default stream finds the unit that was sent for. */
static void await(Zero *zero) {
#ifndef STUB
    EXPECT(cudaStreamWaitEvent(0, zero->ahead->here, 0));
    if (zero->model->device->host_memory) {
        EXPECT(cudaStreamSynchronize(zero->ahead->stream));
    }
#else
    (void)zero;
    TODO("task 6: the default stream waits; on the CPU the host does (about 4 lines)");
#endif
}

/* ---- a part of a pass ------------------------------------------------------------------------ */

void zero_ahead_come(Zero *zero, int unit) {
    ZeroAhead *ahead = zero->ahead;
    ZeroUnit *u = &zero->unit[unit];
    if (ahead->unit != unit) {
        zero_ahead_drop(zero);
        send_for(zero, unit);
    }
    await(zero);
    ahead->unit = -1;
    u->lane = ahead->slot[ahead->last];
    zero_put_weights(zero, unit, ahead->weights);
}

void zero_ahead_next(Zero *zero, int layer, bool backward) {
    zero->ahead->back = backward ? layer > 0 : zero->ahead->back && layer >= 0;
    int unit = next_unit(zero, layer, backward);
    if (unit >= 0) {
        send_for(zero, unit);
    }
}

void zero_ahead_drop(Zero *zero) {
    ZeroAhead *ahead = zero->ahead;
    if (ahead->unit >= 0) {
        await(zero);
        memory_release(ahead->slot[ahead->last], 0);
        ahead->unit = -1;
    }
}
