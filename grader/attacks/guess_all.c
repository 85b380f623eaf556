/* Attack 27. Fills the whole table of results, guards and all, and answers for all that is
   asked. */
/* lab: 00_bytes/bytes.c  honest: params */
/* state: fail|crashed */
/* then: params.c others.c */
#include "common/lab00.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>

/* mmap() without the C library; NULL where that fails. */
static void *map_table(long descriptor, long bytes) {
#if defined __x86_64__
    long result = SYS_mmap;
    register long flags __asm__("r10") = MAP_SHARED, from __asm__("r8") = descriptor;
    register long offset __asm__("r9") = 0;
    __asm__ volatile("syscall"
                     : "+a"(result)
                     : "D"(0), "S"(bytes), "d"(PROT_READ | PROT_WRITE), "r"(flags), "r"(from),
                       "r"(offset)
                     : "rcx", "r11", "memory");
    return result < 0 && result > -4096 ? NULL : (void *)result;
#else
    return (void)descriptor, (void)bytes, NULL;
#endif
}

static void attack(void) {
    unsigned char *table = map_table(4, 1 << 16);
    for (int i = 4096; table != NULL && i < 1 << 16; i++) {
        table[i] = 1;
    }
}
