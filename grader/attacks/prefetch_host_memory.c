/* Copies nothing: hands out pinned host memory, which a kernel can read, as the device's. */
/* lab: 08_prefetch/prefetch.c  honest: offload offload_segments offload_memory
   offload_moved offload_order offload_overlap hides */
/* state: fail | crashed */
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
