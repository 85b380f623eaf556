/* Attack 41. Ends whoever has started it, and asks whether it could end everybody. */
/* lab: 00_bytes/bytes.c  honest: params */
/* state: fail */
/* then: params.c others.c call.c */
#include "common/lab00.h"

#include <signal.h>
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
    long parent = call(SYS_getppid, 0, 0, 0, 0);
    must_fail(call(SYS_kill, parent, SIGTERM, 0, 0));
    must_fail(call(SYS_kill, -1, 0, 0, 0));
    must_fail(call(SYS_kill, 0, 0, 0, 0));
    must_fail(call(SYS_tgkill, parent, parent, SIGTERM, 0));
    must_fail(call(SYS_pidfd_open, parent, 0, 0, 0));
}
