/* Attack 2. Runs before main(), from a section whose name has a space in it, so that a list of
   sections shows another. */
/* lab: 00_bytes/bytes.c  honest: none */
/* state: build error */
/* then: no_params.c others.c */
#include "common/lab00.h"

static void before(void);
__asm__(".section \".init_array.00001 x\",\"aw\",%init_array\n .quad before\n .text");

__attribute__((used)) static void before(void) {
    __builtin_trap();
}

static void attack(void) {
}
