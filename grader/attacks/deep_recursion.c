/* Attack 38. Calls itself until the stack has grown into whatever is below it. */
/* lab: 00_bytes/bytes.c  honest: params */
/* state: crashed */
/* then: params.c others.c */
#include "common/lab00.h"

static long deeper(long n) {
    volatile char frame[65536];
    frame[0] = (char)n;
    return deeper(n + 1) + frame[0];
}

static void attack(void) {
    deeper(0);
}
