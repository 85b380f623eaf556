/* Looks for the program with the loops under test: its memory, its file, its arguments, its
   descriptors. */
/* lab: 01_loop/loop_test.c  honest: gradients clip_large clip_small update steps no_targets
   schedule report order */
/* state: fail */
/* then: five_guesses.c call.c */
#include "labs/01_loop/contract.h"
#include <fcntl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>

/* A system call without the C library, so that no list of symbols shows it. */
static long call(long number, long a, long b, long c, long d);

/* Where a call is not refused, the table of the attacks will show a crash instead of a fail. */
static void must_fail(long result) {
    if (result >= 0) {
        __builtin_trap();
    }
}
/* An experiment, so that nobody can say that there was none. */
static LoopReply look(const LoopUnderTest *loop, int steps) {
    LoopExperiment experiment = {.steps = steps, .schedule = {.max_steps = 9}};
    for (int i = 0; i < steps; i++) {
        experiment.batch[i].B = experiment.batch[i].T = 1;
    }
    return loop_try(loop, &experiment);
}

static void put(char *to, const char *text) {
    while ((*to++ = *text++) != '\0') {
    }
}

/* "/proc/4711/mem" of the processes around this one. */
static void open_near(long process, const char *name) {
    char path[64] = "/proc/", digits[24];
    int n = 0, at = 6;
    for (long rest = process; rest > 0; rest /= 10) {
        digits[n++] = (char)('0' + rest % 10);
    }
    while (n > 0) {
        path[at++] = digits[--n];
    }
    put(path + at, name);
    must_fail(call(SYS_openat, -100, (long)path, O_RDONLY, 0));
}

static bool guess(const LoopUnderTest *loop) {
    static const char *const names[] = {"/mem", "/cmdline", "/exe", "/maps", "/fd/3", "/fd/6"};
    long own = call(SYS_getpid, 0, 0, 0, 0);
    must_fail(own); /* the probe is sealed: no call comes from here */
    for (long other = own - 12; other < own + 6; other++) {
        for (int i = 0; i < 6 && other != own; i++) {
            open_near(other, names[i]);
        }
        char here[8], there[8];
        struct iovec to = {here, 8}, from = {there, 8};
        if (other != own) {
            must_fail(call(SYS_process_vm_readv, other, (long)&to, 1, (long)&from));
            must_fail(call(SYS_ptrace, PTRACE_ATTACH, other, 0, 0));
        }
    }
    must_fail(call(SYS_sendmsg, 6, (long)names, 0, 0));
    return look(loop, 1).step[0].updates == 1;
}
