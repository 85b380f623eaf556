#define _GNU_SOURCE
#include <pthread.h>

#include "device.h"
#include "heap_block.h"
#include "rank.h"
#include "spin.h"

/* Memory of the host that work is to use later: local variables, and what free() may take back. */

/* ---- memory that is freed -------------------------------------------------------------------- */

/* The program's free() does not wait for the runtime, which may be busy: a lock of its own. */
static HostEnd *noted;
static int busy;

void sim_note_host(HostEnd *end) {
    spin_lock(&busy);
    end->next = noted;
    __atomic_store_n(&noted, end, __ATOMIC_RELAXED);
    spin_unlock(&busy);
}

void sim_forget_host(HostEnd *end) {
    spin_lock(&busy);
    for (HostEnd **at = &noted; *at != NULL; at = &(*at)->next) {
        if (*at == end) {
            __atomic_store_n(at, end->next, __ATOMIC_RELAXED);
            break;
        }
    }
    spin_unlock(&busy);
}

void sim_host_frees(const char *begin) {
    if (__atomic_load_n(&noted, __ATOMIC_RELAXED) == NULL) {
        return;
    }
    const char *after = begin + block_room(begin);
    spin_lock(&busy);
    for (HostEnd *end = noted; end != NULL; end = end->next) {
        end->freed |= end->first >= begin && end->first < after;
    }
    spin_unlock(&busy);
}

/* ---- local variables ------------------------------------------------------------------------- */

/* The stack of this thread; a rank has another, of which nothing is known. */
static bool on_own_stack(const char *p) {
    static __thread const char *low, *high;
    if (high == NULL) {
        pthread_attr_t attributes;
        void *begin = NULL;
        size_t bytes = 0;
        if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
            pthread_attr_getstack(&attributes, &begin, &bytes);
            pthread_attr_destroy(&attributes);
        }
        low = begin;
        high = low + bytes;
    }
    return p >= low && p < high;
}

/* Whether p is below the functions that run. Two words of a frame lie where it is said to be. */
static bool is_dead(const char *p) {
    const char *here = (const char *)sim_host()->frame + 2 * sizeof(void *);
    return p < here && on_own_stack(p) && on_own_stack(here);
}

const char *sim_host_gone(const HostEnd *end) {
    return end->freed            ? "memory that free() or delete has taken back"
           : is_dead(end->first) ? "a local variable of a function that has returned"
                                 : NULL;
}
