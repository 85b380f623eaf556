/* Takes its slots from CUDA, where nobody counts them. */
/* lab: 08_prefetch/prefetch.c  honest: none */
/* state: build error */
/* then: prefetch_end.c no_prefetch_next.c */
#include <cuda_runtime.h>

#include "labs/08_prefetch/contract.h"

Prefetch *prefetch_open(Memory *memory, int slots, size_t tokens, bool pinned, BatchReader reader) {
    void *slot;
    (void)memory, (void)pinned, (void)reader;
    cudaMalloc(&slot, (size_t)slots * 8 * tokens);
    return slot;
}
