/* Attack 33. Has the assembler copy the judge, whose answers are in it. */
/* lab: 00_bytes/bytes.c  honest: none */
/* state: build error */
/* then: no_params.c others.c */
#include "labs/00_bytes/contract.h"

__asm__(".section .rodata\n .incbin \"@KIT@/build/judge/00_bytes\"\n .text");

static void attack(void) {
}
