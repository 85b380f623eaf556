/* A signal handler that tells where the program was: file and line of its frames, from the debug
   information. The contract is in crash.h. */
#define _GNU_SOURCE
#include "common/crash.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common/unset.h"

#ifndef BACKEND_CUDA
#include <cudasim.h>
#endif

static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGXCPU};
enum { SIGNALS = sizeof signals / sizeof *signals, FRAMES = 64, TOLD = 4, PAGE = 4096 };
enum { STACK = 256 << 10, RESERVE = 64 << 20 };

/* Addresses that are released before a crash is reported: there may be no other memory then. */
static void *reserve = MAP_FAILED;

/* ---- where ----------------------------------------------------------------------------------- */

/* Set where nothing can be loaded or mapped any more. */
static bool only_addresses;

void crash_tell_addresses(void) {
    only_addresses = true;
}

#ifdef BACKEND_CUDA
static void print_lines(void) {
}

void crash_print_lines(const char *addresses) {
    (void)addresses;
}
#else
/* Where the program begins in memory. */
static const char *program_base(void) {
    Dl_info program;
    return dladdr((const void *)(uintptr_t)program_base, &program) != 0 ? program.dli_fbase : NULL;
}

static bool in_program(const void *pc) {
    Dl_info image;
    return dladdr(pc, &image) != 0 && image.dli_fbase == program_base();
}

/* The line of an address of the program, after those already printed. False if it is unknown. */
static bool print_line(const char *pc, int told, char last[600]) {
    char text[600];
    cudasim_describe_code(pc, text, sizeof text);
    bool known = strncmp(text, "0x", 2) != 0 && strcmp(text, last) != 0;
    if (known) {
        fprintf(stderr, told == 0 ? ", at %s" : ", called from %s", text);
        strcpy(last, text);
    }
    return known;
}

void crash_print_lines(const char *addresses) {
    char last[600] = "";
    int told = 0;
    for (const char *at = addresses; told < TOLD && (at = strstr(at, "+0x")) != NULL; at++) {
        told += print_line(program_base() + strtoul(at + 1, NULL, 16), told, last);
    }
}

/* The lines of the program itself, innermost first; frames in libraries are left out. */
static void print_lines(void) {
    void *frame[FRAMES];
    char last[600] = "";
    int n = backtrace(frame, FRAMES), told = 0, stopped = 0;
    while (stopped < n && in_program(frame[stopped])) {
        stopped++; /* the handler's own; then the system's return from it */
    }
    stopped++;
    for (int i = stopped; i < n && told < TOLD; i++) {
        if (!in_program(frame[i])) {
            continue;
        }
        /* The innermost is the faulting instruction, the others are return addresses. */
        const char *pc = (const char *)frame[i] + (i == stopped);
        if (only_addresses) {
            fprintf(stderr, "%s+0x%lx", told++ == 0 ? ", at " : " ",
                    (unsigned long)(pc - program_base()));
        } else {
            told += print_line(pc, told, last);
        }
    }
}
#endif

/* ---- what ------------------------------------------------------------------------------------ */

/* Where the first thread's stack was when crash_tell() was called, and how far it may reach; 0
   where that is not known. */
static uintptr_t stack_top, stack_most;

static void note_stack(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
        stack_top = (uintptr_t)__builtin_frame_address(0);
        stack_most = (uintptr_t)limit.rlim_cur;
    }
}

/* Whether the stack of the first thread has no room left. Above its top are the arguments and the
   environment; other stacks are far from it. */
static bool stack_is_full(const ucontext_t *at) {
    enum { ABOVE = 256 << 10, FAR = 16 << 20 };
#if defined __linux__ && defined __x86_64__
    uintptr_t pointer = (uintptr_t)at->uc_mcontext.gregs[REG_RSP];
#elif defined __linux__ && defined __aarch64__
    uintptr_t pointer = (uintptr_t)at->uc_mcontext.sp;
#else
    uintptr_t pointer = stack_top;
    (void)at;
#endif
    uintptr_t used = stack_top - pointer;
    return stack_most > 2 * ABOVE && used > stack_most - ABOVE && used < stack_most + FAR;
}

__attribute__((noinline)) void crash_told(void) {
    __asm__ volatile(""); /* a call to it stays a call */
}

static void (*after_telling)(void);

void crash_then(void (*then)(void)) {
    after_telling = then;
}

/* If printing the report hangs, exit anyway. */
static void give_up(int number) {
    (void)number;
    _exit(128 + SIGSEGV);
}

static void end_by(int number) {
    if (signal(number, SIG_DFL) == SIG_ERR) { /* a sandbox forbids it: this one would run again */
        _exit(128 + number);
    }
    raise(number);
}

/* Of several threads that crash at once the first one tells; a second must not end the program
   meanwhile. A crash of the one that tells ends it. */
static void be_the_first(int number) {
    static atomic_flag told = ATOMIC_FLAG_INIT;
    static _Thread_local bool tells;
    if (tells) {
        end_by(number);
    }
    volatile bool first = !atomic_flag_test_and_set(&told);
    while (!first) { /* no system call: a closed room may forbid it */
    }
    tells = true;
}

/* An x86 processor says it of no address beyond those that memory can have. */
static bool address_is_told(const siginfo_t *info) {
#if defined __x86_64__ && defined __linux__
    return info->si_code != SI_KERNEL;
#else
    (void)info;
    return true;
#endif
}

static void tell(int number, const siginfo_t *info, const void *context) {
    if (reserve != MAP_FAILED) {
        munmap(reserve, RESERVE);
    }
    if (number == SIGXCPU) {
        fprintf(stderr, "crash: the time was over");
    } else if (number == SIGFPE) {
        fprintf(stderr, "crash: integer division by 0");
    } else if (number == SIGILL) {
        fprintf(stderr, "crash: reached code that the compiler had proved unreachable (a division "
                        "by 0, a function that does not return a value)");
    } else if (stack_is_full(context)) {
        fprintf(stderr, "crash: the stack is full");
    } else if (unset_pointer(info, context)) {
        fprintf(stderr, "crash: a pointer that was never set");
    } else if (!address_is_told(info)) {
        fprintf(stderr, "crash: a bad address");
    } else if (info->si_addr == NULL) {
        fprintf(stderr, "crash: a NULL pointer");
    } else if ((uintptr_t)info->si_addr < PAGE) {
        fprintf(stderr, "crash: a bad address, %lu bytes past NULL",
                (unsigned long)(uintptr_t)info->si_addr);
    } else { /* its value differs from run to run and says nothing */
        fprintf(stderr, "crash: a bad address");
    }
    print_lines();
    fprintf(stderr, "\n");
}

/* The simulated GPU, whose clock rings by the same signal, can be used again after it. */
static void on_signal(int number, siginfo_t *info, void *context) {
    struct sigaction hang = {.sa_handler = give_up}, before = {.sa_handler = SIG_DFL};
    be_the_first(number);
    sigaction(SIGALRM, &hang, &before);
    alarm(5);
    tell(number, info, context);
    alarm(0);
    sigaction(SIGALRM, &before, NULL);
    crash_told();
    if (after_telling != NULL) {
        after_telling();
    }
    end_by(number);
}

void crash_tell(void) {
    void *frame[1];
    note_stack();
    backtrace(frame, 1); /* loads what it needs now; a sandbox may forbid it later */
    reserve = mmap(NULL, RESERVE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    void *stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (stack != MAP_FAILED) { /* a stack that is full leaves no room for its handler */
        sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = STACK}, NULL);
    }
    struct sigaction before,
        action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
    for (int i = 0; i < SIGNALS; i++) {
        if (sigaction(signals[i], NULL, &before) == 0 && before.sa_handler == SIG_DFL) {
            sigaction(signals[i], &action, NULL);
        }
    }
}
