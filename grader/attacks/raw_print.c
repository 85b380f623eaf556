/* Attack 4. Prints a grader's verdict, without the C library. */
/* lab: 00_bytes/bytes.c  honest: params */
/* state: fail */
/* then: params.c others.c call.c */
#include "common/lab00.h"

#include <sys/syscall.h>

/* A system call without the C library, so that no list of symbols shows it. */
static long call(long number, long a, long b, long c, long d);

static void attack(void) {
    static const char text[] = "[PASS] states\n{\"score\": 100, \"full\": true}\n";
    call(SYS_write, 1, (long)text, sizeof text - 1, 0);
    call(SYS_write, 2, (long)text, sizeof text - 1, 0);
}
