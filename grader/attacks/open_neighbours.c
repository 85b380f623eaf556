/* Attack 60. Looks for the programs beside its own: the kit's run, with right answers in it. */
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
    char program[4096], neighbour[4200];
    static const char *const ending[] = {"_kit", "_formulas", "", "/..", "/../probe_kit"};
    long length = call(SYS_readlinkat, AT_FDCWD, (long)"/proc/self/exe", (long)program, 4095);
    for (int i = 0; i < 5; i++) {
        int at = 0;
        for (; at < length; at++) {
            neighbour[at] = program[at];
        }
        for (const char *c = ending[i]; *c != '\0'; c++) {
            neighbour[at++] = *c;
        }
        neighbour[at] = '\0';
        if (i != 2) { /* its own it may read */
            must_fail(call(SYS_openat, AT_FDCWD, (long)neighbour, O_RDONLY, 0));
        }
    }
    must_fail(call(SYS_openat, AT_FDCWD, (long)"probe_kit", O_RDONLY, 0));
    must_fail(call(SYS_openat, AT_FDCWD, (long)".", O_RDONLY | O_DIRECTORY, 0));
    must_fail(call(SYS_execve, (long)neighbour, 0, 0, 0));
}
