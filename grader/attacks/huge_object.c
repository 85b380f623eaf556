/* Attack 39. Has the assembler write a gigabyte. */
/* lab: 00_bytes/bytes.c  honest: none */
/* state: build error */
/* then: no_params.c others.c */
#include "common/lab00.h"

__asm__(".data\n .fill 0x10000000, 4, 1\n .text");

static void attack(void) {
}
