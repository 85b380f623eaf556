/* Attack 42. Sleeps for an hour, and lets everybody wait. */
/* lab: 00_bytes/bytes.c  honest: params */
/* state: fail */
/* then: params.c others.c call.c */
#include "common/lab00.h"

#include <sys/syscall.h>
#include <time.h>

/* A system call without the C library, so that no list of symbols shows it. */
static long call(long number, long a, long b, long c, long d);

static void attack(void) {
    struct timespec hour = {3600, 0};
    call(SYS_nanosleep, (long)&hour, 0, 0, 0);
}
