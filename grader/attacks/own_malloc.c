/* Attack 10. Takes the place of malloc(), to see all that the probe allocates. */
/* lab: 00_bytes/bytes.c  honest: none */
/* state: build error */
/* then: no_params.c others.c */
#include "common/lab00.h"

#include <stddef.h>

void *malloc(size_t bytes) {
    static char memory[4096];
    return bytes < sizeof memory ? memory : NULL;
}

static void attack(void) {
}
