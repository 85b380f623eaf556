/* Attack 47. Keeps data where no limit of the heap sees it: memory files, pipes. */
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
    int pipe[2];
    must_fail(call(SYS_memfd_create, (long)"spill", 0, 0, 0));
    must_fail(call(SYS_pipe2, (long)pipe, 0, 0, 0));
    must_fail(call(SYS_shmget, 0, 1 << 20, 0600, 0));
}
