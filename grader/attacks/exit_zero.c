/* Attack 1. Ends the program with success before anything is compared. */
/* lab: 00_bytes/bytes.c  honest: none */
/* state: build error */
/* then: no_params.c others.c */
#include "common/lab00.h"

#include <stdlib.h>

static void attack(void) {
    exit(0);
}
