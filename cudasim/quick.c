#include "quick.h"
#include "operation.h"

Quick quick;

void quick_begin(void) {
    size_t bytes;
    quick.device = sim_device_range(&bytes);
    quick.device_bytes = bytes;
    quick.bits = shadow_device_bits();
    quick.cells = race_device_cells();
    quick.image = site_origin();
    quick.first_block = sim_many_streams() ? 0 : sim_first_block();
    quick.disguised = replay_runs();
    quick.checks = !quick.disguised && sim_settings.profile == NULL && !traffic_counts();
}

double quick_accesses(void) {
    return (double)quick.looked_at;
}
