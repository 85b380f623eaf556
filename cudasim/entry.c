#define _GNU_SOURCE
#include <pthread.h>

#include "block.h"
#include "rank.h"

/* The way into the runtime: one thread of the host at a time, and no kernel. What a call needs of
   the device it runs before it lets the next thread in. */

static pthread_mutex_t gate = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

static bool in_kernel(void) {
    return sim_worker != NULL && sim_worker->in_kernel;
}

int sim_enter(const char *what, Place place, const void *frame) {
    if (in_kernel()) {
        sim_report("unsupported", "%s at %s:%d is called by a kernel; let the host do that", what,
                   sim_file(place), place.line);
        sim_detail_thread();
        sim_abort_block();
    }
    pthread_mutex_lock(&gate);
    sim_begin();
    Host *host = sim_host();
    if (!host->counted && !sim_is_rank()) {
        thread_has_come(host);
    }
    if (host->depth++ == 0) {
        host->call = what;
        host->call_place = place;
        host->frame = frame;
    }
    return 0;
}

void sim_leave(const int *entered) {
    (void)entered;
    sim_host()->depth--;
    pthread_mutex_unlock(&gate);
}

void sim_leave_all(void) {
    for (int i = 0; i < sim_host()->depth; i++) {
        pthread_mutex_unlock(&gate);
    }
}

void sim_enter_again(void) {
    for (int i = 0; i < sim_host()->depth; i++) {
        pthread_mutex_lock(&gate);
    }
}

void sim_enter_fault(void) {
    if (!in_kernel()) {
        pthread_mutex_lock(&gate);
    }
}

bool sim_enter_if_free(void) {
    return !in_kernel() && pthread_mutex_trylock(&gate) == 0;
}

void sim_leave_fault(void) {
    if (!in_kernel()) {
        pthread_mutex_unlock(&gate);
    }
}
