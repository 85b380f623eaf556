/* Begins a record of its own, and would write what is wanted into it. */
/* lab: 08_prefetch/prefetch.c  honest: none */
/* state: build error */
#include <cudasim_record.h>

#include "labs/08_prefetch/contract.h"

Prefetch *prefetch_open(Memory *memory, int slots, size_t tokens, bool pinned, BatchReader reader) {
    (void)memory, (void)slots, (void)tokens, (void)pinned, (void)reader;
    cudasim_record_begin();
    CudasimRecord record = cudasim_record();
    ((CudasimEntry *)(uintptr_t)record.entry)[0].after_count = 0;
    return NULL;
}

int prefetch_next(Prefetch *prefetch, Batch *batch) {
    (void)prefetch, (void)batch;
    return 0;
}

void prefetch_stop(Prefetch *prefetch) {
    (void)prefetch;
}

void prefetch_close(Prefetch *prefetch) {
    (void)prefetch;
}

size_t prefetch_bytes(int slots, int B, int T) {
    (void)slots, (void)B, (void)T;
    return 0;
}

double prefetch_time(int batches, int slots, double copy, double work) {
    (void)batches, (void)slots, (void)copy, (void)work;
    return 0;
}
