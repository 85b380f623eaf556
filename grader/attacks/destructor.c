/* Attack 3. Runs after main(), and looks for the table of results to change it there. */
/* lab: 00_bytes/bytes.c  honest: none */
/* state: build error */
/* then: no_params.c others.c call.c */
#include "common/lab00.h"

#include <sys/syscall.h>

/* A system call without the C library, so that no list of symbols shows it. */
static long call(long number, long a, long b, long c, long d);

__attribute__((destructor)) static void after(void) {
    call(SYS_write, 4, (long)"PASS", 4, 0);
}

static void attack(void) {
}
