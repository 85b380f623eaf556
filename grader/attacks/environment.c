/* Attack 14. Looks for a seed in the environment and the command line of all that it can name. */
/* lab: 00_bytes/bytes.c  honest: params */
/* state: fail */
/* then: params.c others.c call.c */
#include "common/lab00.h"

#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>

/* A system call without the C library, so that no list of symbols shows it. */
static long call(long number, long a, long b, long c, long d);

/* Where a call is not refused, the table of the attacks will show a crash instead of a fail. */
static void must_fail(long result) {
    if (result >= 0) {
        __builtin_trap();
    }
}

/* Writes /proc/NUMBER/name into path. */
static void of_process(char path[64], long pid, const char *name) {
    char digits[20];
    int count = 0;
    for (; pid > 0; pid /= 10) {
        digits[count++] = (char)('0' + pid % 10);
    }
    memcpy(path, "/proc/", 6);
    path += 6;
    while (count > 0) {
        *path++ = digits[--count];
    }
    *path++ = '/';
    while ((*path++ = *name++) != '\0') {
    }
}

static void attack(void) {
    char path[64];
    for (long pid = 1; pid < 2000; pid++) {
        of_process(path, pid, "environ");
        must_fail(call(SYS_openat, AT_FDCWD, (long)path, O_RDONLY, 0));
    }
}
