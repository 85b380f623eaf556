/* Attack 33. Has the assembler copy what its own memory looks like. */
/* lab: 00_bytes/bytes.c  honest: none */
/* state: build error */
/* then: no_params.c others.c */
#include "common/lab00.h"

__asm__(".section .rodata\n .incbin \"/proc/self/maps\"\n .text");

static void attack(void) {
}
