/* Attack 39. Writes without end. */
/* lab: 00_bytes/bytes.c  honest: params */
/* state: fail */
/* then: params.c others.c call.c */
#include "common/lab00.h"

#include <sys/syscall.h>

/* A system call without the C library, so that no list of symbols shows it. */
static long call(long number, long a, long b, long c, long d);

static void attack(void) {
    static char text[4000];
    while (call(SYS_write, 1, (long)text, sizeof text, 0) > 0) {
    }
}
