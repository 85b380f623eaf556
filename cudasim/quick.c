#include "quick.h"
#include "operation.h"
#include "race.h"

Quick quick;

void quick_begin(void) {
    size_t bytes;
    quick.device = sim_device_range(&bytes);
    quick.device_bytes = bytes;
    quick.bits = shadow_device_bits();
    quick.cells = race_device_cells();
    quick.image = site_origin();
    quick.first_block = sim_many_streams() || race_watches_managed ? 0 : sim_first_block();
    quick.disguised = replay_runs();
    quick_forget();
    quick.checks = !quick.disguised && sim_settings.profile == NULL && !traffic_counts();
}

void quick_know(void) {
    const Worker *worker = sim_worker;
    unsigned warp = (unsigned)worker->fiber->thread / WARP;
    Party readers = {.barriers = (uint16_t)worker->barriers,
                     .meetings = worker->meetings[warp],
                     .thread = (uint16_t)(WARP_OF | warp),
                     .bytes = 0xF | SETTLED,
                     .atomic = PLAIN};
    quick.by_warp = quick_state(&readers);
    readers.thread = MANY;
    quick.by_many = quick_state_of_many(&readers);
    quick.block = worker->block;
}

void quick_forget(void) {
    quick.block = NO_BLOCK;
}

double quick_accesses(void) {
    return (double)quick.looked_at;
}
