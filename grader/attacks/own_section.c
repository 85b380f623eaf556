/* Attack 47. Brings 64 MiB in a section with a name of its own, past the count of
   static data. */
/* lab: 00_bytes/bytes.c  honest: none */
/* state: build error */
/* then: no_params.c others.c */
#include "common/lab00.h"

#include <stddef.h>

static volatile char spill[64 << 20] __attribute__((section("spilled,\"aw\",@nobits#")));

static void attack(void) {
    for (size_t i = 0; i < sizeof spill; i += 4096) {
        spill[i] = 1;
    }
}
