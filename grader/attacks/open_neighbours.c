/* Attack 60. Looks for the programs beside its own: the kit's run, with right answers in it. */
/* lab: 00_bytes/bytes.c  honest: params */
/* state: fail */
/* then: params.c others.c */
#include "common/lab00.h"

#include <fcntl.h>
#include <sys/syscall.h>

/* A system call without the C library, so that no list of symbols shows it. */
static long call(long number, long a, long b, long c, long d) {
#if defined __x86_64__
    long result = number;
    register long fourth __asm__("r10") = d;
    register long fifth __asm__("r8") = 0;
    __asm__ volatile("syscall"
                     : "+a"(result)
                     : "D"(a), "S"(b), "d"(c), "r"(fourth), "r"(fifth)
                     : "rcx", "r11", "memory");
    return result;
#elif defined __aarch64__
    register long x8 __asm__("x8") = number;
    register long x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b;
    register long x2 __asm__("x2") = c;
    register long x3 __asm__("x3") = d;
    register long x4 __asm__("x4") = 0;
    __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4) : "memory");
    return x0;
#endif
}

/* Where a call is not refused, the table of the attacks will show a crash instead of a fail. */
static void must_fail(long result) {
    if (result >= 0) {
        __builtin_trap();
    }
}

static void attack(void) {
    char program[4096], neighbour[4200];
    static const char *const ending[] = {"_kit", "_formulas", "", "/..", "/../probe_kit"};
    long length = call(SYS_readlinkat, AT_FDCWD, (long)"/proc/self/exe", (long)program, 4095);
    for (int i = 0; i < 5; i++) {
        int at = 0;
        for (; at < length; at++) {
            neighbour[at] = program[at];
        }
        for (const char *c = ending[i]; *c != '\0'; c++) {
            neighbour[at++] = *c;
        }
        neighbour[at] = '\0';
        if (i != 2) { /* its own it may read */
            must_fail(call(SYS_openat, AT_FDCWD, (long)neighbour, O_RDONLY, 0));
        }
    }
    must_fail(call(SYS_openat, AT_FDCWD, (long)"probe_kit", O_RDONLY, 0));
    must_fail(call(SYS_openat, AT_FDCWD, (long)".", O_RDONLY | O_DIRECTORY, 0));
    must_fail(call(SYS_execve, (long)neighbour, 0, 0, 0));
}
