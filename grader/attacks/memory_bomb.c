/* Attack 38. Takes memory until the machine has none; here, at most 4 GiB. */
/* lab: 00_bytes/bytes.c  honest: params */
/* state: fail|timeout */
/* then: params.c others.c */
#include "common/lab00.h"

#include <stddef.h>
#include <sys/mman.h>
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
