/* Gathers every unit once, keeps it in host memory, and shows it from there. */
/* lab: 12_zero/zero3.c  honest: parts pieces states gathered wire stage1 stage1_window
   stage1_bytes stage2 stage2_window stage2_bytes norm overflow overflow_bf16 generate_whole
   ahead prefetch prefetch_bytes prefetch_overlap */
/* state: fail|crashed */
#include <stdlib.h>

#include "labs/12_zero/contract.h"

static Real *kept[16];

void zero_weights_come(Zero *zero, int unit) {
    ZeroUnit *u = &zero->unit[unit];
    size_t bytes = u->part * (size_t)zero->ranks * sizeof(float);
    u->lane = zero->weights;
    memory_alloc(zero->weights, MEMORY_WEIGHTS, "unit", unit - 1, bytes);
    if (kept[unit] == NULL) {
        kept[unit] = malloc(bytes);
        ncclAllGather(u->my_weights, kept[unit], u->part, ncclFloat, zero->comm, zero->stream);
        zero_settle(zero);
    }
    zero_put_weights(zero, unit, kept[unit]);
}

void zero_weights_go(Zero *zero, int unit) {
    zero_put_weights(zero, unit, NULL);
    memory_release(zero->unit[unit].lane, 0);
}

int zero_generate(Zero *zero, bool (*done)(void *context), void (*step)(void *context),
                  void *context) {
    int steps = 0;
    (void)zero;
    while (!done(context)) {
        step(context);
        steps++;
    }
    return steps;
}
