/* Fills the whole table of verdicts, guards and all. */
/* lab: 01_loop/loop_test.c  honest: gradients clip_large clip_small update steps no_targets
   schedule report order */
/* state: fail|crashed */
/* then: five_guesses.c */
#include "labs/01_loop/contract.h"
#include <stddef.h>
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

/* An experiment, so that nobody can say that there was none. */
static LoopReply look(const LoopUnderTest *loop, int steps) {
    LoopExperiment experiment = {.steps = steps, .schedule = {.max_steps = 9}};
    for (int i = 0; i < steps; i++) {
        experiment.batch[i].B = experiment.batch[i].T = 1;
    }
    return loop_try(loop, &experiment);
}

static bool guess(const LoopUnderTest *loop) {
    unsigned char *table = map_table(4, 1 << 16);
    for (int i = 4096; table != NULL && i < 1 << 16; i++) {
        table[i] = 1;
    }
    return look(loop, 1).step[0].updates == 1;
}
