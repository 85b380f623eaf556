/* Attack 12. Looks for expected values, tests and seeds among the files. */
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
    static const char *const paths[] = {"/",
                                        ".",
                                        "..",
                                        "/tmp",
                                        "/home",
                                        "/root",
                                        "/proc",
                                        "/etc/passwd",
                                        "/dev/shm",
                                        "/proc/self/environ",
                                        "/proc/self/maps"};
    for (int i = 0; i < 11; i++) {
        must_fail(call(SYS_openat, AT_FDCWD, (long)paths[i], O_RDONLY, 0));
    }
}
