/* Gathers each unit when it is used, in the slots of one that is ahead. */
/* lab: 12_zero/ahead.c  honest: parts pieces states gathered ahead wire stage1 stage1_window
   stage1_bytes stage2 stage2_window stage2_bytes stage3 stage3_bytes stage3_twice norm
   overflow overflow_bf16 generate generate_whole prefetch */
/* state: fail */
#include "labs/12_zero/contract.h"

void zero_ahead_open(Zero *zero) {
    zero->ahead = (ZeroAhead *)zero;
}

void zero_ahead_close(Zero *zero) {
    zero->ahead = NULL;
}

void zero_ahead_come(Zero *zero, int unit) {
    memory_lane(zero->model->memory, "weights ahead");
    zero_weights_come(zero, unit);
}

void zero_ahead_next(Zero *zero, int layer, bool backward) {
    (void)zero, (void)layer, (void)backward;
}

void zero_ahead_drop(Zero *zero) {
    (void)zero;
}
