/* Attack 47. Brings 64 MiB that no limit of the heap sees. */
/* lab: 00_bytes/bytes.c  honest: none */
/* state: build error */
/* then: no_params.c others.c */
#include "common/lab00.h"

#include <stddef.h>

static volatile char spill[64 << 20];

static void attack(void) {
    for (size_t i = 0; i < sizeof spill; i += 4096) {
        spill[i] = 1;
    }
}
