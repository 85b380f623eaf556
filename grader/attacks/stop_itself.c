/* Attack 40. Stops itself, so that no processor time goes by. */
/* lab: 00_bytes/bytes.c  honest: params */
/* state: fail */
/* then: params.c others.c call.c */
#include "common/lab00.h"

#include <signal.h>
#include <sys/syscall.h>

/* A system call without the C library, so that no list of symbols shows it. */
static long call(long number, long a, long b, long c, long d);

static void attack(void) {
    call(SYS_kill, call(SYS_getpid, 0, 0, 0, 0), SIGSTOP, 0, 0);
}
