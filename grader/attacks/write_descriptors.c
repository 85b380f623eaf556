/* Attack 8. Writes a verdict into every descriptor. */
/* lab: 00_bytes/bytes.c  honest: params */
/* state: crashed|fail */
/* then: params.c others.c call.c */
#include "common/lab00.h"

#include <sys/syscall.h>

/* A system call without the C library, so that no list of symbols shows it. */
static long call(long number, long a, long b, long c, long d);

/* Where a call is not refused, the table of the attacks will show a crash instead of a fail. */
static void must_fail(long result) {
    if (result >= 0) {
        __builtin_trap();
    }
}

static void attack(void) {
    for (long i = 5; i < 64; i++) {
        must_fail(call(SYS_write, i, (long)"PASS", 4, 0));
    }
    call(SYS_write, 4, (long)"PASS", 4, 0);
}
