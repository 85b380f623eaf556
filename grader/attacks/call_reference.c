/* Attack 11. Calls the grader's reference, in case it is in the same program. */
/* lab: 00_bytes/bytes.c  honest: none */
/* state: build error */
/* then: no_params.c others.c */
#include "common/lab00.h"

#include "grader/reference.h"

static void attack(void) {
    reference_free(reference_new(&(ModelConfig){.V = 2, .T = 2, .C = 2, .L = 1, .NH = 1}));
}
