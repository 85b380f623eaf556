/* Copies nothing: hands out pinned host memory, which a kernel can read, as the device's. */
/* lab: 08_prefetch/prefetch.c  honest: offload offload_segments offload_memory offload_moved
   offload_order offload_overlap hides bytes time */
/* state: fail | crashed */
/* then: prefetch_end.c */
#include <cuda_runtime.h>
#include <stdlib.h>

#include "labs/08_prefetch/contract.h"

struct Prefetch {
    BatchReader reader;
    int32_t *host;
    size_t tokens;
};

Prefetch *prefetch_open(Memory *memory, int slots, size_t tokens, bool pinned, BatchReader reader) {
    Prefetch *prefetch = calloc(1, sizeof *prefetch);
    (void)memory, (void)slots, (void)pinned;
    prefetch->reader = reader;
    prefetch->tokens = tokens;
    cudaMallocHost((void **)&prefetch->host, 2 * tokens * sizeof(int32_t));
    return prefetch;
}

int prefetch_next(Prefetch *prefetch, Batch *batch) {
    int result = prefetch->reader.read(prefetch->reader.context, prefetch->host,
                                       prefetch->host + prefetch->tokens, batch);
    batch->tokens = prefetch->host;
    batch->targets = prefetch->host + prefetch->tokens;
    batch->on_device = true;
    return result;
}
