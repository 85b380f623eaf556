/* Attack 4. Prints what a grader would print. */
/* lab: 00_bytes/bytes.c  honest: none */
/* state: build error */
/* then: no_params.c others.c */
#include "common/lab00.h"

#include <stdio.h>

static void attack(void) {
    printf("[PASS] states\n{\"score\": 100, \"full\": true}\n");
}
