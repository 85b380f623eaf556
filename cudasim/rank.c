#include "rank.h"

#include "cudasim_ranks.h"
#include "device.h"

/* Hosts: each thread of the program, and each rank. */

static Clock of_process; /* what its threads have waited for */
static __thread Host thread;

Host *sim_host(void) {
    thread.clock = &of_process;
    return &thread;
}

bool sim_is_rank(void) {
    return false;
}

int cudasim_rank(void) {
    return sim_host()->rank;
}

int cudasim_rank_count(void) {
    return 1;
}

int cudasim_ranks_run(int count, cudasim_rank_body body, void *context) {
    sim_begin();
    sim_need_devices(count);
    for (int rank = 0; rank < count; rank++) {
        body(rank, context);
    }
    return 0;
}

void cudasim_rank_data(void *begin, size_t bytes) {
    (void)begin, (void)bytes;
}

void rank_wait(const RankWait *wait) {
    char whom[500] = "";
    if (wait->ready(wait->context)) {
        return;
    }
    wait->tell(wait->context, whom, sizeof whom);
    sim_report("deadlock", "%s at %s:%d waits forever for %s", wait->call, sim_file(wait->place),
               wait->place.line, whom);
    sim_stop();
}

void rank_yield(void) {
}
