/* Attack 35. Makes a view of the machine of its own, in which it would be root. */
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
    must_fail(call(SYS_unshare, 0x10000000 /* CLONE_NEWUSER */, 0, 0, 0));
    must_fail(call(SYS_mount, (long)"none", (long)"/", (long)"tmpfs", 0));
    must_fail(call(SYS_setns, 3, 0, 0, 0));
    must_fail(call(SYS_setuid, 0, 0, 0, 0));
}
