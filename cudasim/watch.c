#define _GNU_SOURCE
#include <signal.h>
#include <sys/time.h>
#include <ucontext.h>

#include "block.h"

/* While a launch runs, a clock ticks. It finds launches that come to no end, and threads that wait
   for another without a call that says so: "while (*flag == 0);" with a volatile flag. Such a
   thread is, tick after tick, at the same few instructions with the same numbers in its registers
   and on its stack: all that it has of its own. Then the others have their turn. */

enum { TICK = 10000, BUSY_TICK = 1000 /* microseconds */, REMEMBERED = 32, RETRIES = 100 };

volatile unsigned sim_progress;

/* ---- threads that wait ----------------------------------------------------------------------- */

/* A core's thread at the last ticks. */
static __thread struct {
    const Worker *worker;
    unsigned block;
    int thread;
    int count;
    uint64_t state[REMEMBERED];
} seen;

static long tick; /* microseconds; 0 between launches */

static void set_tick(long microseconds) {
    tick = microseconds;
    setitimer(ITIMER_REAL, &(struct itimerval){{0, tick}, {0, tick}}, NULL);
}

static uint64_t mixed(uint64_t sum, const void *p, size_t bytes) {
    for (const char *word = p; bytes >= sizeof sum; bytes -= sizeof sum, word += sizeof sum) {
        uint64_t x;
        memcpy(&x, word, sizeof x);
        sum = (sum ^ x) * 0x9E3779B97F4A7C15u;
        sum ^= sum >> 29;
    }
    return sum;
}

#if defined __x86_64__ && defined __linux__
/* Registers and stack of the interrupted thread, as a number; 0 if it is not on its stack. */
static uint64_t private_state(const Worker *worker, const ucontext_t *context) {
    enum { RED_ZONE = 128 };
    const greg_t *registers = context->uc_mcontext.gregs;
    const char *top = worker->fiber->stack + STACK_BYTES;
    const char *at = (const char *)registers[REG_RSP];
    if (at < worker->fiber->stack + PAGE + RED_ZONE || at >= top) {
        return 0;
    }
    uint64_t sum = mixed(1, registers, (REG_RIP + 1) * sizeof *registers);
    sum = mixed(sum, context->uc_mcontext.fpregs->_xmm, sizeof context->uc_mcontext.fpregs->_xmm);
    return mixed(sum, at - RED_ZONE, (size_t)(top - at) + RED_ZONE) | 1;
}
#elif defined __aarch64__ && defined __linux__
/* The same. Records of the vector registers follow the others, as many as the processor has. */
static uint64_t private_state(const Worker *worker, const ucontext_t *context) {
    const mcontext_t *machine = &context->uc_mcontext;
    const char *top = worker->fiber->stack + STACK_BYTES;
    const char *at = (const char *)machine->sp;
    if (at < worker->fiber->stack + PAGE || at >= top) {
        return 0;
    }
    uint64_t sum = mixed(1, machine->regs, sizeof machine->regs);
    sum = mixed(sum, &machine->pc, sizeof machine->pc);
    const struct _aarch64_ctx *record = (const void *)machine->__reserved;
    while (record->magic != 0) {
        sum = mixed(sum, record, record->size);
        record = (const void *)((const char *)record + record->size);
    }
    return mixed(sum, at, (size_t)(top - at)) | 1;
}
#else
static uint64_t private_state(const Worker *worker, const ucontext_t *context) {
    (void)worker, (void)context;
    return 0;
}
#endif

/* Whether the thread has been just like this at an earlier tick of its turn. */
static bool goes_in_circles(const Worker *worker, const ucontext_t *context) {
    int thread = worker->fiber->thread;
    if (seen.worker != worker || seen.block != worker->block || seen.thread != thread) {
        seen.worker = worker;
        seen.block = worker->block;
        seen.thread = thread;
        seen.count = 0;
    }
    uint64_t state = private_state(worker, context);
    for (int i = 0; state != 0 && i < seen.count && i < REMEMBERED; i++) {
        if (seen.state[i] == state) {
            seen.count = 0;
            return true;
        }
    }
    seen.state[seen.count++ % REMEMBERED] = state;
    return false;
}

/* On the stack of the thread that waits: its registers are kept there until it goes on. */
static void on_yield(int signal) {
    (void)signal;
    sim_look_later();
}

/* ---- the clock ------------------------------------------------------------------------------- */

/* Time that passes while a debugger holds the program does not count: ticks do. */
static struct {
    unsigned progress; /* at the last tick */
    long microseconds; /* since it changed */
} last;

static void count_tick(void) {
    if (last.progress != sim_progress) {
        last.progress = sim_progress;
        last.microseconds = 0;
    }
    last.microseconds += tick;
}

static bool time_is_up(void) {
    return sim_settings.timeout > 0 && last.microseconds > sim_settings.timeout * 1000000L;
}

/* Whom the thread may wait for. */
static void detail_others(const Worker *worker) {
    int threads = 0, blocks = sim_blocks_aside();
    for (int t = 0; t < worker->threads; t++) {
        threads += t != worker->fiber->thread && worker->state[t] == LOOKING;
    }
    if (threads + blocks > 0) {
        sim_detail("%d other threads of the block, and %d other blocks, wait in a loop as well: "
                   "for a lock that is never given back, for one of two that are taken in "
                   "opposite order, or for a count that is never reached?",
                   threads, blocks);
    }
}

static void report_timeout(const void *pc) {
    static volatile int retries;
    char where[600];
    sim_describe_fault(pc, true, where, sizeof where);
    if (strstr(where, ".cu") == NULL && retries++ < RETRIES) {
        return; /* just now it switches stacks, where no line is known: look at the next tick */
    }
    sim_report("timeout", "a block has run for %d s; it is at %s", sim_settings.timeout, where);
    sim_detail_thread();
    detail_others(sim_worker);
    sim_detail("a loop that never ends, or one that waits for what no other thread does; at most "
               "64 blocks with 28672 threads are resident and can wait for each other");
    sim_detail("a thread of the host goes on when the kernel is over: until then no answer comes "
               "from it through mapped memory");
    sim_stop();
}

/* In a library it must not even be asked: the C library's locks may be shut. */
static bool in_code_of_kernel(const void *pc) {
    extern char __executable_start[], etext[];
    char where[600];
    if ((const char *)pc < __executable_start || (const char *)pc >= etext) {
        return false;
    }
    cudasim_describe_code(pc, where, sizeof where);
    return strstr(where, ".cu") != NULL;
}

static void on_tick(int signal, siginfo_t *info, void *context) {
    (void)signal;
    Worker *worker = sim_worker;
    const void *pc = sim_program_counter(context);
    if (info->si_code != SI_TKILL) {
        count_tick();
        sim_tell_cores();
    }
    if (worker == NULL || !worker->in_kernel || worker->fiber == NULL) {
        return;
    }
    if (time_is_up()) {
        if (sim_is_first(worker)) {
            worker->has_turn = true;
            report_timeout(pc);
        }
    } else if (!sim_announced && goes_in_circles(worker, context) && in_code_of_kernel(pc)) {
        set_tick(BUSY_TICK);
        raise(SIGVTALRM);
    }
}

void sim_watch(bool on) {
    last.microseconds = 0;
    set_tick(on ? TICK : 0);
}

/* Switching threads within on_yield() must leave no signal shut, and needs the thread's own stack;
   so on_tick(), which has a stack of its own, is over before on_yield() begins. */
void sim_catch_ticks(void) {
    struct sigaction clock = {.sa_sigaction = on_tick,
                              .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART};
    sigaddset(&clock.sa_mask, SIGVTALRM);
    sigaction(SIGALRM, &clock, NULL);
    struct sigaction yield = {.sa_handler = on_yield, .sa_flags = SA_NODEFER | SA_RESTART};
    sigaction(SIGVTALRM, &yield, NULL);
}
