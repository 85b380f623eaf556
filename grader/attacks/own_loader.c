/* Attack 36. Names another program as the one that loads it. */
/* lab: 00_bytes/bytes.c  honest: none */
/* state: build error */
/* then: no_params.c others.c */
#include "common/lab00.h"

__asm__(".section .interp,\"a\"\n .asciz \"/usr/bin/true\"\n .text");

static void attack(void) {
}
