/* Attack 38. Takes memory until the machine has none; here, at most 4 GiB. */
/* lab: 00_bytes/bytes.c  honest: params */
/* state: fail|timeout */
/* then: params.c others.c call.c */
#include "common/lab00.h"

#include <stddef.h>
#include <sys/mman.h>
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
    const long piece = 64 << 20;
    long end = call(SYS_brk, 0, 0, 0, 0), first = end;
    while (call(SYS_brk, end + piece, 0, 0, 0) == end + piece) {
        for (long i = 0; i < piece; i += 4096) {
            *(volatile char *)(end + i) = 1;
        }
        end += piece;
        must_fail(end - first > 4l << 30 ? 0 : -1);
    }
}
