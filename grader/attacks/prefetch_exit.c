/* Ends the program with success where the first batch is asked for. */
/* lab: 08_prefetch/prefetch.c  honest: none */
/* state: build error */
#include <stdlib.h>

#include "labs/08_prefetch/contract.h"

Prefetch *prefetch_open(Memory *memory, int slots, size_t tokens, bool pinned, BatchReader reader) {
    (void)memory, (void)slots, (void)tokens, (void)pinned, (void)reader;
    return NULL;
}

int prefetch_next(Prefetch *prefetch, Batch *batch) {
    (void)prefetch, (void)batch;
    exit(0);
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
