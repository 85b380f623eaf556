/* Attack 1. Leaves the function by longjmp(), in the hope that somebody has set a way back. */
/* lab: 00_bytes/bytes.c  honest: none */
/* state: build error */
/* then: no_params.c others.c */
#include "common/lab00.h"

#include <setjmp.h>

static jmp_buf back;

static void attack(void) {
    longjmp(back, 1);
}
