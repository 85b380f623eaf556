/* Attack 44. Makes links, pipes and devices where others might open files. */
/* lab: 00_bytes/bytes.c  honest: params */
/* state: fail */
/* then: params.c others.c call.c */
#include "common/lab00.h"

#include <fcntl.h>
#include <sys/stat.h>
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
    must_fail(call(SYS_symlinkat, (long)"/etc/passwd", AT_FDCWD, (long)"record", 0));
    must_fail(call(SYS_linkat, AT_FDCWD, (long)"/etc/passwd", AT_FDCWD, (long)"record"));
    must_fail(call(SYS_mknodat, AT_FDCWD, (long)"record", S_IFIFO | 0666, 0));
    must_fail(call(SYS_mkdirat, AT_FDCWD, (long)"record", 0777, 0));
    must_fail(call(SYS_unlinkat, AT_FDCWD, (long)"record", 0, 0));
}
