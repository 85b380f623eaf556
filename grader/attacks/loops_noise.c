/* Writes noise to the program with the loops under test, and then waits for what it says. */
/* lab: 01_loop/loop_test.c  honest: gradients clip_large clip_small update steps no_targets
   schedule report order */
/* state: fail|crashed */
/* then: five_guesses.c */
#include "labs/01_loop/contract.h"
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

/* An experiment, so that nobody can say that there was none. */
static LoopReply look(const LoopUnderTest *loop, int steps) {
    LoopExperiment experiment = {.steps = steps, .schedule = {.max_steps = 9}};
    for (int i = 0; i < steps; i++) {
        experiment.batch[i].B = experiment.batch[i].T = 1;
    }
    return loop_try(loop, &experiment);
}

static bool guess(const LoopUnderTest *loop) {
    static char noise[3000];
    for (int i = 0; i < 3000; i++) {
        noise[i] = (char)(i * 37);
    }
    call(SYS_write, 5, (long)noise, sizeof noise, 0);
    return look(loop, 1).step[0].updates == 1;
}
