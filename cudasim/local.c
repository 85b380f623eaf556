#define _GNU_SOURCE
#include <pthread.h>

#include "device.h"
#include "rank.h"

/* Local variables of the host. */

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

bool local_is_dead(const void *p) {
    const char *here = sim_host()->frame;
    return (const char *)p < here && on_own_stack(p) && on_own_stack(here);
}
