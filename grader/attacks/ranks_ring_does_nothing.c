/* Leaves the arrays as they are. */
/* lab: 11_data_parallel/ring.c  honest: shard_rows shard_turns broadcast gradients updates
   overflow on_the_cpu window once buckets overlap makespan sent bucket_count time */
/* state: fail */
#include "labs/11_data_parallel/contract.h"

void ring_all_reduce(Device *device, ncclComm_t comm, float *x, size_t count, float *incoming) {
    (void)device, (void)comm, (void)x, (void)count, (void)incoming;
}

size_t ring_scratch(size_t count, int ranks) {
    return (count + (size_t)ranks - 1) / (size_t)ranks + 4;
}

size_t ring_sent(size_t count, int rank, int ranks) {
    return 2 * (size_t)(ranks - 1) * count * sizeof(float) / (size_t)ranks + (size_t)rank * 0;
}
