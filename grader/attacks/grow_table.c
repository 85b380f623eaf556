/* Attack 25. Makes the table of results larger than the judge expects, and takes its seals
   away. */
/* lab: 00_bytes/bytes.c  honest: params */
/* state: fail */
/* then: params.c others.c call.c */
#include "common/lab00.h"

#include <fcntl.h>
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
    must_fail(call(SYS_ftruncate, 4, 1 << 30, 0, 0));
    must_fail(call(SYS_fcntl, 4, 1033 /* F_ADD_SEALS */, 0, 0));
    must_fail(call(SYS_fallocate, 4, 0, 0, 1 << 30));
}
