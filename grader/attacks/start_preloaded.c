/* Attack 36. Starts itself again with a library of its own in front, or a shell. */
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
    const char *shell[] = {"/bin/sh", "-c", "exit 0", 0},
               *again[] = {"/proc/self/exe", "states", 0};
    const char *preload[] = {"LD_PRELOAD=./own.so", 0};
    must_fail(call(SYS_execve, (long)again[0], (long)again, (long)preload, 0));
    must_fail(call(SYS_execve, (long)shell[0], (long)shell, (long)preload, 0));
    must_fail(call(SYS_execveat, 4, (long)"", (long)again, (long)preload));
}
