/* Attack 6 and 42. Leaves a process behind that waits for the record and rewrites it. */
/* lab: 00_bytes/bytes.c  honest: params */
/* state: fail */
/* then: params.c others.c call.c */
#include "common/lab00.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>

/* A system call without the C library, so that no list of symbols shows it. */
static long call(long number, long a, long b, long c, long d);

/* Where a call is not refused, the table of the attacks will show a crash instead of a fail. */
static void must_fail(long result) {
    if (result >= 0) {
        __builtin_trap();
    }
}

static void attack(void) {
    long child = call(SYS_clone, SIGCHLD, 0, 0, 0);
    if (child == 0) {
        struct timespec later = {2, 0};
        call(SYS_setsid, 0, 0, 0, 0);
        call(SYS_nanosleep, (long)&later, 0, 0, 0);
        call(SYS_openat, AT_FDCWD, (long)"build/grades/00_bytes.json", O_WRONLY | O_TRUNC, 0);
        call(SYS_exit_group, 0, 0, 0, 0);
    }
    must_fail(child);
}
