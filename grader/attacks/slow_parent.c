/* Attack 41. Has the kernel keep the judge, and everybody else, on one processor. */
/* lab: 00_bytes/bytes.c  honest: params */
/* state: fail */
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
    unsigned long first = 1;
    must_fail(
        call(SYS_sched_setaffinity, call(SYS_getppid, 0, 0, 0, 0), sizeof first, (long)&first, 0));
    must_fail(call(SYS_sched_setaffinity, 1, sizeof first, (long)&first, 0));
    must_fail(call(SYS_setpriority, 0, call(SYS_getppid, 0, 0, 0, 0), 19, 0));
}
