#include "cudasim/clock/reckoning.h"

#include <stdlib.h>

#include "cudasim/clock/memory.h"

bool reckoning_one_group(const CudasimEntry *a, const CudasimEntry *b) {
    return a->kind == CUDASIM_COLLECTIVE && b->kind == CUDASIM_COLLECTIVE && a->group != 0 &&
           a->group == b->group && a->communicator == b->communicator && a->rank == b->rank;
}

static void find_waits(Reckoning *run) {
    const CudasimRecord *record = run->record;
    for (size_t i = 0; i < record->count; i++) {
        const CudasimEntry *e = &record->entry[i];
        int first = followers_first_before(record, e);
        run->waits[i] = e->after_count - first + !reckoning_is_host(e);
        run->parts[i] = run->meetings.of[i] >= 0;
        for (int k = first; k < e->after_count; k++) {
            run->parts[i] +=
                reckoning_one_group(e, &record->entry[e->after[k] - record->entry[0].id]);
        }
    }
}

static void find_devices_and_hosts(Reckoning *run) {
    size_t count = run->record->count;
    for (size_t i = 0; i < count; i++) {
        const CudasimEntry *e = &run->record->entry[i];
        int most = e->kind == CUDASIM_COPY && e->peer > e->device ? e->peer : e->device;
        run->devices = most >= run->devices ? most + 1 : run->devices;
        run->hosts = e->rank >= run->hosts ? e->rank + 1 : run->hosts;
    }
    run->device = clock_new((size_t)run->devices, sizeof *run->device);
    for (int d = 0; d < run->devices; d++) {
        run->device[d].kernels.first = NONE;
        run->device[d].copies[0].first = run->device[d].copies[1].first = NONE;
    }
    run->host = clock_new((size_t)run->hosts, sizeof *run->host);
    int *last = clock_new((size_t)run->hosts, sizeof *last);
    for (int h = 0; h < run->hosts; h++) {
        run->host[h].next = last[h] = NONE;
    }
    for (int i = 0; i < (int)count; i++) {
        int rank = run->record->entry[i].rank;
        *(last[rank] == NONE ? &run->host[rank].next : &run->next[last[rank]]) = i;
        run->next[i] = NONE;
        last[rank] = i;
    }
    free(last);
}

bool reckoning_begin(Reckoning *run) {
    size_t count = run->record->count;
    if (!meetings_find(run->record, run->machine, &run->meetings)) {
        return false;
    }
    run->span = clock_new(count, sizeof *run->span);
    run->waits = clock_new(count, sizeof *run->waits);
    run->ready = clock_new(count, sizeof *run->ready);
    run->next = clock_new(count, sizeof *run->next);
    run->parts = clock_new(count, sizeof *run->parts);
    run->followers = followers_find(run->record);
    find_waits(run);
    find_devices_and_hosts(run);
    return true;
}

void reckoning_end(Reckoning *run) {
    for (int d = 0; d < run->devices; d++) {
        free(run->device[d].engine.running);
    }
    meetings_free(&run->meetings);
    followers_free(&run->followers);
    void *all[] = {run->span,   run->waits, run->ready, run->next,        run->parts,
                   run->device, run->host,  run->crowd, run->events.event};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        free(all[i]);
    }
}
