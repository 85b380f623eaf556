/* Attack 35. Takes back what the sandbox has set: dies with nobody, is looked at by all, adopts
   orphans. */
/* lab: 00_bytes/bytes.c  honest: params */
/* state: fail */
/* then: params.c others.c call.c */
#include "common/lab00.h"

#include <sys/prctl.h>
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
    must_fail(call(SYS_prctl, PR_SET_PDEATHSIG, 0, 0, 0));
    must_fail(call(SYS_prctl, PR_SET_DUMPABLE, 1, 0, 0));
    must_fail(call(SYS_prctl, PR_SET_CHILD_SUBREAPER, 1, 0, 0));
    must_fail(call(SYS_setsid, 0, 0, 0, 0));
    must_fail(call(SYS_seccomp, 0, 0, 0, 0));
}
