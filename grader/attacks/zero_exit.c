/* Ends the program with success where weights are wanted. */
/* lab: 12_zero/zero3.c  honest: none */
/* state: build error */
#include <stdlib.h>

#include "labs/12_zero/contract.h"

void zero_weights_come(Zero *zero, int unit) {
    (void)zero, (void)unit;
    exit(0);
}

void zero_weights_go(Zero *zero, int unit) {
    (void)zero, (void)unit;
}

int zero_generate(Zero *zero, bool (*done)(void *context), void (*step)(void *context),
                  void *context) {
    (void)zero, (void)done, (void)step, (void)context;
    return 0;
}
