/* Draws the weights anew in place of gathering them. */
/* lab: 12_zero/zero3.c  honest: none */
/* state: build error */
#include "labs/12_zero/contract.h"

void zero_weights_come(Zero *zero, int unit) {
    (void)unit;
    model_init_weights(zero->model, 1);
}

void zero_weights_go(Zero *zero, int unit) {
    (void)zero, (void)unit;
}

int zero_generate(Zero *zero, bool (*done)(void *context), void (*step)(void *context),
                  void *context) {
    (void)zero, (void)done, (void)step, (void)context;
    return 0;
}
