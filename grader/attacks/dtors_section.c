/* Attack 3. Runs after main(), from the list that destructors were once kept in. */
/* lab: 00_bytes/bytes.c  honest: none */
/* state: build error */
/* then: no_params.c others.c */
#include "common/lab00.h"

static void after(void);
__asm__(".section .dtors,\"aw\"\n .quad after\n .text");

__attribute__((used)) static void after(void) {
    __builtin_trap();
}

static void attack(void) {
}
