#define _GNU_SOURCE
#include <errno.h>
#include <omp.h>
#include <sys/mman.h>
#include <time.h>

#include "block.h"
#include "cudasim_ranks.h"
#include "device.h"
#include "kernels/base.h"
#include "rank.h"

/* A rank is a fiber of the host: a stack, and what a process would have for itself. One runs until
   it waits for others, or ends; then the next has its turn, on the same thread of the CPU. */

enum {
    RANK_STACK = 8 << 20,
    MOST_DRY_RANKS = 4096, /* which need no memory of a device */
    MOST_CONTEXT = 512     /* of a wait */
};

typedef struct Rank {
    Host host;
    Clock clock;          /* the host's */
    const RankWait *wait; /* NULL: it may go on */
    RankWait waiting;     /* `wait`, while its stack is closed */
    char context[MOST_CONTEXT];
    bool ended;
    int error_number; /* errno */
    void *stack_pointer;
    char *stack;     /* lowest address; a closed page comes first */
    void *sanitizer; /* what AddressSanitizer keeps of a stack that is left */
} Rank;

static Rank *ranks; /* [0, count); NULL: there are none */
static int count;
static Rank home = {.host.rank = NO_RANK}; /* the stack that has called cudasim_ranks_run() */
static __thread Rank *running;             /* NULL: this thread of the host is not a rank */
static struct {
    cudasim_rank_body call;
    void *context;
} body;

/* ---- hosts ----------------------------------------------------------------------------------- */

static Clock of_process; /* what the threads that are not ranks have waited for */
static __thread Host thread = {.rank = NO_RANK, .clock = &of_process};

Host *sim_host(void) {
    return running != NULL ? &running->host : &thread;
}

const Clock *rank_clock(int rank) {
    return ranks != NULL && rank != NO_RANK ? &ranks[rank].clock : &of_process;
}

bool sim_is_rank(void) {
    return running != NULL;
}

int sim_rank(void) {
    const Operation *operation = sim_operation();
    return operation != NULL ? operation->rank : sim_host()->rank;
}

int cudasim_rank(void) {
    return running != NULL ? running->host.rank : 0;
}

int cudasim_rank_count(void) {
    return running != NULL ? count : 1;
}

/* ---- from one to the next -------------------------------------------------------------------- */

void rank_in_place(int rank) {
    if (rank != NO_RANK && ranks != NULL) {
        rank_data_in_place(rank);
        rank_memory_show(rank, sim_host()->rank);
    }
}

/* AddressSanitizer must know on which stack the program is; these are there if it is. */
void __sanitizer_start_switch_fiber(void **kept, const void *lowest, size_t bytes)
    __attribute__((weak));
void __sanitizer_finish_switch_fiber(void *kept, const void **lowest, size_t *bytes)
    __attribute__((weak));

static const void *home_stack; /* as AddressSanitizer knows it */
static size_t home_bytes;

static void announce(Rank *from, const Rank *to) {
    if (__sanitizer_start_switch_fiber != NULL) {
        __sanitizer_start_switch_fiber(from->ended ? NULL : &from->sanitizer,
                                       to == &home ? home_stack : to->stack + PAGE,
                                       to == &home ? home_bytes : RANK_STACK);
    }
}

static void arrive(Rank *rank, const void **lowest, size_t *bytes) {
    if (__sanitizer_finish_switch_fiber != NULL) {
        __sanitizer_finish_switch_fiber(rank->sanitizer, lowest, bytes);
    }
}

/* It runs, on its own stack. */
static void begin_turn(const Rank *rank) {
    if (rank != &home) {
        rank_memory_show(rank->host.rank, rank->host.rank);
    }
}

static void go_to(Rank *from, Rank *to) {
    from->error_number = errno;
    to->wait = NULL;
    running = to != &home ? to : NULL;
    if (to != &home) {
        rank_data_in_place(to->host.rank);
        rank_memory_show(to->host.rank, from->host.rank); /* both stacks are in use */
    } else {
        rank_memory_show_too(EVERY_RANK);
    }
    announce(from, to);
    sim_stack_switch(&from->stack_pointer, to->stack_pointer, NULL);
    arrive(from, NULL, NULL);
    begin_turn(from);
    errno = from->error_number;
}

static unsigned next_random(void) {
    static unsigned state;
    state = state != 0 ? state : sim_settings.seed * 2654435761u + 1;
    state = state * 1664525u + 1013904223u;
    return state >> 16;
}

static bool is_able(const Rank *rank) {
    return !rank->ended && (rank->wait == NULL || rank->wait->ready(rank->wait->context));
}

/* The next that can go on after `self`, which cannot; NULL if none can. */
static Rank *choose(const Rank *self) {
    Rank *able[MOST_DRY_RANKS];
    unsigned found = 0;
    bool reverse = sim_settings.schedule == REVERSE;
    int r = self != &home ? self->host.rank : reverse ? 0 : count - 1;
    for (int i = 0; i < count; i++) {
        r = (r + (reverse ? count - 1 : 1)) % count;
        if (&ranks[r] != self && is_able(&ranks[r])) {
            able[found++] = &ranks[r];
        }
    }
    return found == 0                        ? NULL
           : sim_settings.schedule == RANDOM ? able[next_random() % found]
                                             : able[0];
}

static void pass_on(Rank *from, Rank *to) {
    sim_leave_all();
    go_to(from, to);
    sim_enter_again();
}

/* ---- waiting --------------------------------------------------------------------------------- */

/* "rank 1's " where a rank waits for what another has called. */
static const char *whose(const RankWait *wait, char text[40]) {
    *text = '\0';
    if (wait->of > 0) {
        snprintf(text, 40, "rank %d's ", wait->of - 1);
    }
    return text;
}

static void detail_rank(const Rank *rank) {
    const Host *host = &rank->host;
    char whom[500] = "", within[500] = "", other[40];
    if (rank->ended) {
        sim_detail("rank %d has ended", host->rank);
        return;
    }
    if (host->depth > 0) {
        snprintf(within, sizeof within, ", in %s at %s:%d", host->call, sim_file(host->call_place),
                 host->call_place.line);
    }
    if (rank->wait == NULL) {
        sim_detail("rank %d asks in %s at %s:%d", host->rank, host->call,
                   sim_file(host->call_place), host->call_place.line);
        return;
    }
    rank->wait->tell(rank->wait->context, whom, sizeof whom);
    sim_detail("rank %d%s: %s%s at %s:%d waits for %s", host->rank, within,
               whose(rank->wait, other), rank->wait->call, sim_file(rank->wait->place),
               rank->wait->place.line, whom);
}

static void report_wait(const RankWait *wait) {
    char whom[500] = "", other[40];
    wait->tell(wait->context, whom, sizeof whom);
    sim_report("deadlock", "%s%s at %s:%d waits forever for %s", whose(wait, other), wait->call,
               sim_file(wait->place), wait->place.line, whom);
}

static _Noreturn void report_deadlock(void) {
    int first = 0;
    while (ranks[first].ended) {
        first++;
    }
    running = &ranks[first]; /* as which it is reported */
    report_wait(running->wait);
    for (int r = 0; r < count; r++) {
        detail_rank(&ranks[r]);
    }
    sim_stop();
}

/* Others ask whether it may go on, and its stack is closed to them. */
static const RankWait *keep_wait(Rank *self, const RankWait *wait) {
    self->waiting = *wait;
    if (wait->bytes > 0) {
        memcpy(self->context, wait->context, wait->bytes);
        self->waiting.context = self->context;
    }
    return &self->waiting;
}

void rank_wait(const RankWait *wait) {
    CHECK(sim_operation() == NULL && !sim_in_host_function(),
          "a rank cannot change within an operation, or a function of the host that one calls");
    if (running == NULL) {
        thread_wait(wait, ranks != NULL);
        return;
    }
    CHECK(!omp_in_parallel(), "a rank cannot change within an OpenMP region");
    Rank *self = running;
    CHECK(wait->bytes <= MOST_CONTEXT, "a context of %zu bytes", wait->bytes);
    while (!wait->ready(wait->context)) {
        self->wait = keep_wait(self, wait);
        Rank *next = choose(self);
        if (next == NULL) {
            report_deadlock();
        }
        pass_on(self, next);
    }
    self->wait = NULL;
}

void rank_yield(void) {
    bool may_change = running != NULL && !omp_in_parallel();
    Rank *next = may_change ? choose(running) : NULL;
    if (next != NULL) {
        pass_on(running, next);
    }
}

static _Noreturn void report_asking(int slot) {
    char whom[700] = "";
    const Host *host = &running->host;
    queue_tell(slot, whom, sizeof whom);
    sim_report("deadlock", "%s at %s:%d asks forever: %s", host->call, sim_file(host->call_place),
               host->call_place.line, whom);
    for (int r = 0; r < count; r++) {
        detail_rank(&ranks[r]);
    }
    sim_stop();
}

/* A rank may be busy for long without a call of the runtime: then few questions are asked. */
void rank_asks(int slot, uint64_t turns) {
    enum { MANY = 4096 };
    static uint64_t asked, turns_before;
    static time_t begun;
    if (asked == 0 || turns != turns_before) {
        asked = 0;
        turns_before = turns;
        begun = time(NULL);
    }
    if (running != NULL && sim_settings.timeout > 0 && ++asked % MANY == 0 &&
        time(NULL) - begun > sim_settings.timeout) {
        report_asking(slot);
    }
    rank_yield();
}

/* ---- beginning and end ----------------------------------------------------------------------- */

static Rank *next_of(const Rank *ended) {
    Rank *next = choose(ended);
    for (int r = 0; next == NULL && r < count; r++) {
        if (!ranks[r].ended) {
            report_deadlock();
        }
    }
    return next != NULL ? next : &home;
}

static void run_rank(void) {
    Rank *self = running;
    bool first = home_stack == NULL;
    arrive(self, first ? &home_stack : NULL, first ? &home_bytes : NULL);
    begin_turn(self);
    body.call(self->host.rank, body.context);
    sim_report_unseen();
    self->ended = true;
    go_to(self, next_of(self));
    __builtin_unreachable();
}

static void prepare(Rank *rank, int number) {
    rank->host = (Host){.rank = number, .device = number % sim_device_count()};
    rank->host.clock = &rank->clock;
    clock_copy(&rank->clock, &of_process);
    rank->stack = sim_map(PAGE + RANK_STACK);
    mprotect(rank->stack, PAGE, PROT_NONE);
    if (!sim_settings.dry) { /* in a dry run there may be thousands, and nobody has numbers */
        rank_memory_add(number, rank->stack + PAGE, RANK_STACK);
    }
    rank->stack_pointer =
        sim_stack_make(rank->stack + PAGE, rank->stack + PAGE + RANK_STACK, run_rank);
}

/* The host that goes on has waited for all that they have waited for. */
static void take_down(Rank *rank) {
    clock_join(&of_process, &rank->clock);
    rank_memory_remove(rank->host.rank, NULL);
    munmap(rank->stack, PAGE + RANK_STACK);
}

int cudasim_run_ranks(const char *file, int line, int number, cudasim_rank_body call,
                      void *context) {
    sim_begin();
    int most = sim_settings.dry ? MOST_DRY_RANKS : MOST_RANKS;
    if (number < 1 || number > most || ranks != NULL) {
        sim_report("unsupported", "cudasim_ranks_run at %s:%d: %d ranks%s",
                   sim_file((Place){file, line}), line, number,
                   ranks != NULL ? " while others run" : "");
        sim_detail("from 1 to %d ranks can run, once at a time", most);
        sim_stop();
    }
    sim_need_devices(number);
    variables_at_first();
    count = number;
    body.call = call;
    body.context = context;
    ranks = sim_map((size_t)count * sizeof *ranks);
    for (int r = 0; r < count; r++) {
        prepare(&ranks[r], r);
    }
    rank_data_begin(count);
    go_to(&home, choose(&home));
    rank_data_end();
    for (int r = 0; r < count; r++) {
        take_down(&ranks[r]);
    }
    munmap(ranks, (size_t)count * sizeof *ranks);
    ranks = NULL;
    return 0;
}

int rank_overflow(const void *p) {
    for (int r = 0; ranks != NULL && r < count; r++) {
        if ((const char *)p >= ranks[r].stack && (const char *)p < ranks[r].stack + PAGE) {
            return r;
        }
    }
    return -1;
}
