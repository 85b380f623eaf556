/* Attack 33. Has the assembler copy the solutions of other labs, as the probe is linked with
   them, to print them. */
/* lab: 00_bytes/bytes.c  honest: none */
/* state: build error */
/* then: no_params.c others.c */
#include "common/lab00.h"

__asm__(".section .rodata\n .incbin \"build/lab/solutions/01_loop/loop.o\"\n .text");

static void attack(void) {
}
