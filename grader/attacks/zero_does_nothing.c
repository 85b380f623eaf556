/* Returns, and leaves everything as it is. */
/* lab: 12_zero/zero3.c  honest: parts pieces states gathered wire stage1 stage1_window
   stage1_bytes stage2 stage2_window stage2_bytes norm overflow overflow_bf16 ahead prefetch
   prefetch_overlap */
/* state: fail|crashed|over budget */
#include "labs/12_zero/contract.h"

void zero_weights_come(Zero *zero, int unit) {
    (void)zero, (void)unit;
}

void zero_weights_go(Zero *zero, int unit) {
    (void)zero, (void)unit;
}

int zero_generate(Zero *zero, bool (*done)(void *context), void (*step)(void *context),
                  void *context) {
    (void)zero, (void)done, (void)step, (void)context;
    return 0;
}
