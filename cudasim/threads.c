#define _GNU_SOURCE
#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include "rank.h"

/* Threads of the host that wait for each other, as one for each device does. Each waits outside of
   the runtime, and looks from time to time. */

typedef struct Waiter {
    const RankWait *wait;
    const Host *host;
    struct Waiter *next;
} Waiter;

static Waiter *waiters;
static int threads; /* that have called the runtime, and have not ended */

/* ---- which there are ------------------------------------------------------------------------- */

static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void has_ended(void *host) {
    (void)host;
    __atomic_fetch_sub(&threads, 1, __ATOMIC_RELAXED);
}

static void make_key(void) {
    pthread_key_create(&key, has_ended);
}

void thread_has_come(Host *host) {
    pthread_once(&once, make_key);
    pthread_setspecific(key, host);
    host->counted = true;
    __atomic_fetch_add(&threads, 1, __ATOMIC_RELAXED);
}

/* ---- can anybody go on? ---------------------------------------------------------------------- */

static bool all_wait_in_vain(void) {
    int waiting = 0;
    for (const Waiter *w = waiters; w != NULL; w = w->next, waiting++) {
        if (w->wait->ready(w->wait->context)) {
            return false;
        }
    }
    return waiting >= __atomic_load_n(&threads, __ATOMIC_RELAXED);
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void detail_waiter(const Waiter *waiter) {
    char whom[500] = "";
    const RankWait *wait = waiter->wait;
    wait->tell(wait->context, whom, sizeof whom);
    sim_detail("another thread is in %s at %s:%d: %s at %s:%d waits for %s", waiter->host->call,
               sim_file(waiter->host->call_place), waiter->host->call_place.line, wait->call,
               sim_file(wait->place), wait->place.line, whom);
}

static _Noreturn void report(const Waiter *self, const char *why) {
    char whom[500] = "";
    const RankWait *wait = self->wait;
    const Host *host = self->host;
    wait->tell(wait->context, whom, sizeof whom);
    sim_report("deadlock", "%s at %s:%d waits forever for %s", wait->call, sim_file(wait->place),
               wait->place.line, whom);
    for (const Waiter *other = waiters; other != NULL; other = other->next) {
        if (other != self) {
            detail_waiter(other);
        }
    }
    if (sim_ending()) {
        sim_detail("the program ends, and nobody else would do anything");
    } else {
        sim_detail("%s at %s:%d waits for that, and %s",
                   host->call != NULL ? host->call : "the host", sim_file(host->call_place),
                   host->call_place.line, why);
    }
    sim_stop();
}

static void remove_waiter(const Waiter *waiter) {
    Waiter **link = &waiters;
    while (*link != waiter) {
        link = &(*link)->next;
    }
    *link = waiter->next;
}

void thread_wait(const RankWait *wait, bool for_ranks) {
    enum { PAUSE = 50 /* microseconds */ };
    Waiter self = {wait, sim_host(), waiters};
    double begun = now();
    waiters = &self;
    while (!wait->ready(wait->context)) {
        if (sim_ending() || (!for_ranks && all_wait_in_vain())) {
            report(&self, "nobody else would do anything");
        }
        /* Others may be busy, or wait for this thread by means of their own. */
        if (!for_ranks && sim_settings.timeout > 0 && now() - begun > sim_settings.timeout) {
            report(&self, "no other thread has done anything about it in CUDASIM_TIMEOUT seconds");
        }
        sim_leave_all();
        usleep(PAUSE);
        sim_enter_again();
    }
    remove_waiter(&self);
}
