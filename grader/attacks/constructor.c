/* Attack 2. Runs before main() and ends the program with success. */
/* lab: 00_bytes/bytes.c  honest: none */
/* state: build error */
/* then: no_params.c others.c call.c */
#include "common/lab00.h"

#include <sys/syscall.h>

/* A system call without the C library, so that no list of symbols shows it. */
static long call(long number, long a, long b, long c, long d);

__attribute__((constructor)) static void before(void) {
    call(SYS_exit_group, 0, 0, 0, 0);
}

static void attack(void) {
}
