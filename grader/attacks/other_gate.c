/* Attack 35. Calls the kernel by the gate for programs of 32 bits, whose numbers mean other
   things. */
/* lab: 00_bytes/bytes.c  honest: params */
/* state: crashed */
/* then: params.c others.c */
#include "common/lab00.h"

static void attack(void) {
#if defined __x86_64__
    long number = 1, status = 0;
    __asm__ volatile("int $0x80" : "+a"(number) : "b"(status) : "memory");
#endif
    __builtin_trap();
}
