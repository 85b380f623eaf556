/* Ends the program with success where the first batch is asked for. */
/* lab: 08_prefetch/prefetch.c  honest: none */
/* state: build error */
/* then: prefetch_end.c */
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
