/* Attack 10. Makes the kit's own code writable, and has the function that reports a hole return
   instead: what comes behind it is nothing. */
/* lab: 00_bytes/bytes.c  honest: params */
/* state: fail */
/* then: params.c others.c */
#include "common/lab00.h"

#include <sys/mman.h>
#include <sys/syscall.h>

#include "common/lab.h"

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

static void attack(void) {
    long page = (long)todo_reached & ~4095L;
    if (call(SYS_mprotect, page, 8192, PROT_READ | PROT_WRITE | PROT_EXEC, 0) == 0) {
#if defined __x86_64__
        *(volatile unsigned char *)todo_reached = 0xC3;
#else
        *(volatile unsigned *)todo_reached = 0xD65F03C0;
        __builtin___clear_cache((char *)page, (char *)page + 8192);
#endif
        TODO("nothing");
    }
}
