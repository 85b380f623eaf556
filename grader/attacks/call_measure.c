/* Attack 56. Asks the kit to count what is to be predicted. */
/* lab: 00_bytes/bytes.c  honest: none */
/* state: build error */
/* then: no_params.c others.c */
#include "common/lab00.h"

#include "common/trainer.h"

static void attack(void) {
    void *volatile counted = (void *)trainer_measure;
    (void)counted;
}
