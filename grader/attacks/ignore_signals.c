/* Attack 40. Ignores every signal, and never returns. */
/* lab: 00_bytes/bytes.c  honest: params */
/* state: timeout */
/* then: params.c others.c call.c */
#include "common/lab00.h"

#include <signal.h>
#include <sys/syscall.h>

/* A system call without the C library, so that no list of symbols shows it. */
static long call(long number, long a, long b, long c, long d);

static void attack(void) {
    struct {
        void (*handler)(int);
        unsigned long flags;
        void (*restorer)(void);
        unsigned long mask;
    } ignore = {SIG_IGN, 0, 0, 0};
    for (int number = 1; number < 64; number++) {
        call(SYS_rt_sigaction, number, (long)&ignore, 0, 8);
    }
    for (volatile long i = 0;; i++) {
    }
}
