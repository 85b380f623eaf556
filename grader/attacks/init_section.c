/* Attack 34. Puts instructions into the program's .init section, past the list of constructors. */
/* lab: 00_bytes/bytes.c  honest: none */
/* state: build error */
/* then: no_params.c others.c */
#include "common/lab00.h"

__asm__(".section .init\n nop\n .text");

static void attack(void) {
}
