/* Attack 5. Writes a record by path, wherever it might lie. */
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
    static const char *const paths[] = {
        "build/grades/00_bytes.json", "../build/grades/00_bytes.json", "record.json",
        "/tmp/record.json",           "/autograder/results.json",      "/dev/shm/record"};
    for (int i = 0; i < 6; i++) {
        must_fail(call(SYS_openat, AT_FDCWD, (long)paths[i], O_WRONLY | O_CREAT, 0644));
    }
}
