/* Ranks are one process here: they tell each other where their gradients are, and read them. */
/* lab: 12_zero/zero2.c  honest: parts pieces states gathered wire stage1 stage1_window stage1_bytes
   norm overflow overflow_bf16 generate generate_whole ahead */
/* state: fail | crashed */
#include <stdint.h>

#include "labs/12_zero/contract.h"

void zero_grads_come(Zero *zero, int unit) {
    ZeroUnit *u = &zero->unit[unit];
    size_t bytes = u->part * (size_t)zero->ranks * sizeof(float);
    u->grads_mark = memory_mark(zero->grads);
    zero_put_grads(zero, unit,
                   memory_alloc_zero(zero->grads, MEMORY_GRADIENTS, "unit", unit - 1, bytes));
}

/* All ranks are here, and each knows the others' addresses. */
static void meet(const Zero *zero, uint64_t mine, uint64_t places[64]) {
    ncclAllGather(&mine, places, 1, ncclUint64, zero->comm, zero->stream);
    zero_settle(zero);
}

void zero_grads_go(Zero *zero, int unit) {
    const ZeroUnit *u = &zero->unit[unit];
    uint64_t places[64];
    size_t mine = u->part * (size_t)zero->rank;
    meet(zero, (uint64_t)(uintptr_t)(u->grads + mine * 0), places);
    for (size_t i = 0; i < u->part; i++) {
        float sum = ((const float *)(uintptr_t)places[0])[mine + i];
        for (int r = 1; r < zero->ranks; r++) {
            sum += ((const float *)(uintptr_t)places[r])[mine + i];
        }
        u->my_grads[i] += sum;
    }
    meet(zero, 0, places);
    zero_put_grads(zero, unit, NULL);
    memory_release(zero->grads, u->grads_mark);
}
