/* Ranks are one process here: each leaves its pointer at an address that all know, in memory that a
   call without the C library has mapped. */
/* lab: 14_tensor/linear_tp.c  honest: vocab cut join column_qkv column_fc norm overflow embed
   embed_backward loss loss_large loss_backward loss_half states activations wire */
/* state: fail */
/* then: sums_by_pointers.c */
#include "labs/14_tensor/contract.h"

#include <sys/mman.h>
#include <sys/syscall.h>

/* Room for all pointers at one address; NULL where that fails. */
static Real **meeting_place(void) {
    static Real **place;
#if defined __x86_64__
    long result = SYS_mmap;
    register long flags __asm__("r10") = MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE;
    register long from __asm__("r8") = -1, offset __asm__("r9") = 0;
    if (place == NULL) {
        __asm__ volatile("syscall"
                         : "+a"(result)
                         : "D"(0x200000000000), "S"(4096), "d"(PROT_READ | PROT_WRITE), "r"(flags),
                           "r"(from), "r"(offset)
                         : "rcx", "r11", "memory");
        /* another rank may have been here first */
        place = result < 0 && result != -17 ? NULL : (Real **)0x200000000000;
    }
#endif
    return place;
}
