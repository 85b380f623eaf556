/* Attack 34. Asks for a function of the C library by its version, in case a list of names has
   none with one. */
/* lab: 00_bytes/bytes.c  honest: none */
/* state: build error */
/* then: no_params.c others.c */
#include "common/lab00.h"

void leave(int status);
__asm__(".symver leave,exit@GLIBC_2.2.5");

static void attack(void) {
    leave(0);
}
