/* Attack 10. Makes the kit's own code writable, and has the function that reports a hole return
   instead: what comes behind it is nothing. */
/* lab: 00_bytes/bytes.c  honest: params */
/* state: fail */
/* then: params.c others.c call.c */
#include "common/lab00.h"

#include <sys/mman.h>
#include <sys/syscall.h>

#include "common/lab.h"

/* A system call without the C library, so that no list of symbols shows it. */
static long call(long number, long a, long b, long c, long d);

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
