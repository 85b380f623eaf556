/* Attack 33. Has the assembler copy a file of the machine into the object, to look at it while
   it runs. */
/* lab: 00_bytes/bytes.c  honest: none */
/* state: build error */
/* then: no_params.c others.c */
#include "common/lab00.h"

__asm__(".section .rodata\n stolen: .incbin \"/etc/passwd\"\n .text");

static void attack(void) {
}
