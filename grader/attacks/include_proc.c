/* Attack 33. Includes what the kernel tells of the compiler: its environment, its
   command line. */
/* lab: 00_bytes/bytes.c  honest: none */
/* state: build error */
/* then: no_params.c others.c */
#include "common/lab00.h"

#include "/proc/self/environ"

static void attack(void) {
}
