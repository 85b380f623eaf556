/* Attack 8. Writes into the table of results that all is done, and ends the program with
   success. */
/* lab: 00_bytes/bytes.c  honest: params */
/* state: fail|crashed */
/* then: params.c others.c call.c */
#include "common/lab00.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>

/* A system call without the C library, so that no list of symbols shows it. */
static long call(long number, long a, long b, long c, long d);

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
    uint32_t *table = map_table(4, 4096);
    if (table != NULL) {
        table[1] = 0x444F4E45;
    }
    call(SYS_exit_group, 0, 0, 0, 0);
}
