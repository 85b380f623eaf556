/* Attack 29. Catches the fault of every page that it may not touch, and goes on behind it,
   through all of its memory. */
/* lab: 00_bytes/bytes.c  honest: params */
/* state: crashed|fail|timeout */
/* then: params.c others.c call.c */
#define _GNU_SOURCE
#include "common/lab00.h"

#include <signal.h>
#include <sys/syscall.h>
#include <ucontext.h>

/* A system call without the C library, so that no list of symbols shows it. */
static long call(long number, long a, long b, long c, long d);

/* As the kernel takes it. */
typedef struct Action {
    void (*handler)(int, siginfo_t *, void *);
    unsigned long flags;
    void (*restorer)(void);
    unsigned long mask;
} Action;

#if defined __x86_64__
__asm__(".text\n restore: mov $15, %eax\n syscall\n");
extern void restore(void) __attribute__((visibility("hidden")));
#endif

static volatile char *place;

static void again(int number, siginfo_t *what, void *context) {
    (void)number, (void)what;
    place += 4096;
#if defined __x86_64__
    ucontext_t *registers = context;
    registers->uc_mcontext.gregs[REG_RIP] += 3;
#else
    (void)context;
#endif
}

static void attack(void) {
#if defined __x86_64__
    Action action = {again, SA_SIGINFO | SA_NODEFER | 0x04000000, restore, 0};
    call(SYS_rt_sigaction, 11, (long)&action, 0, 8);
    place = (volatile char *)((size_t)__builtin_frame_address(0) & ~(size_t)4095) - (1 << 24);
    for (int i = 0; i < 8192; i++) {
        __asm__ volatile("movb %b1, (%0)" : : "a"(place), "c"(255) : "memory");
        place += 4096;
    }
#endif
}
