/* Says a number of steps, and draws nothing. */
/* lab: 12_zero/zero3.c  honest: parts pieces states gathered wire stage1 stage1_window
   stage1_bytes stage2 stage2_window stage2_bytes norm overflow overflow_bf16 stage3
   stage3_bytes stage3_twice ahead prefetch prefetch_bytes prefetch_overlap */
/* state: fail */
#include "labs/12_zero/contract.h"

void zero_weights_come(Zero *zero, int unit) {
    ZeroUnit *u = &zero->unit[unit];
    Precision precision = zero->model->config.precision;
    size_t bytes = u->part * (size_t)zero->ranks * precision_bytes(precision);
    u->lane = zero->weights;
    Real *weights = memory_alloc(zero->weights, MEMORY_WEIGHTS, "unit", unit - 1, bytes);
    ncclAllGather(u->my_weights, weights, u->part, zero_type(precision), zero->comm, zero->stream);
    zero_settle(zero);
    zero_put_weights(zero, unit, weights);
}

void zero_weights_go(Zero *zero, int unit) {
    zero_put_weights(zero, unit, NULL);
    memory_release(zero->unit[unit].lane, 0);
}

int zero_generate(Zero *zero, bool (*done)(void *context), void (*step)(void *context),
                  void *context) {
    (void)zero, (void)done, (void)step, (void)context;
    return 6;
}
