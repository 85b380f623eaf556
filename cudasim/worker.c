#define _GNU_SOURCE
#include <pthread.h>

#include "block.h"

/* A worker has the stacks of a thousand CUDA threads: that of a thread of the host which has ended
   goes to the next one that runs a kernel. */

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static Worker *idle[64];
static int idle_count;

static void give_back(void *worker) {
    sim_drop_signal_stack();
    pthread_mutex_lock(&gate);
    if (idle_count < (int)(sizeof idle / sizeof idle[0])) {
        idle[idle_count++] = worker;
    }
    pthread_mutex_unlock(&gate);
}

static void make_key(void) {
    pthread_key_create(&key, give_back);
}

Worker *sim_take_worker(void) {
    pthread_once(&once, make_key);
    pthread_mutex_lock(&gate);
    Worker *worker = idle_count > 0 ? idle[--idle_count] : NULL;
    pthread_mutex_unlock(&gate);
    if (worker == NULL) {
        worker = sim_new_worker();
    } else {
        /* Fibers begin anew: what they know of their thread is of another one. */
        worker->spare = NULL;
        worker->fibers = 0;
    }
    pthread_setspecific(key, worker);
    return worker;
}
