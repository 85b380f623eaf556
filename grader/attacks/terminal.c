/* Attack 46. Steers the terminal: clears it, sets its title, paints a score. */
/* lab: 00_bytes/bytes.c  honest: params */
/* state: fail */
/* then: params.c others.c call.c */
#include "common/lab00.h"

#include <sys/syscall.h>

/* A system call without the C library, so that no list of symbols shows it. */
static long call(long number, long a, long b, long c, long d);

static void attack(void) {
    static const char text[] = "\033[2J\033[H\033]0;100 of 100\a\033[32mPASS\033[0m\r100/100\n";
    call(SYS_write, 1, (long)text, sizeof text - 1, 0);
}
