/* Attack 38. Lifts its own limits. */
/* lab: 00_bytes/bytes.c  honest: params */
/* state: fail */
/* then: params.c others.c call.c */
#include "common/lab00.h"

#include <sys/resource.h>
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
    static const int limits[] = {RLIMIT_CPU, RLIMIT_FSIZE, RLIMIT_NOFILE, RLIMIT_CORE};
    struct rlimit none = {RLIM_INFINITY, RLIM_INFINITY};
    for (int i = 0; i < 4; i++) {
        must_fail(call(SYS_prlimit64, 0, limits[i], (long)&none, 0));
    }
}
