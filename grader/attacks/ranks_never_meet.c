/* Sums nothing: each rank trains by itself. */
/* lab: 11_data_parallel/ddp.c  honest: ring ring_small ring_two ring_sent ring_cpu ring_bytes
   shard_rows shard_turns */
/* state: fail */
/* then: ddp_apart.c ddp_rest.c */
#include <cuda_runtime.h>
#include <stdlib.h>

#include "labs/11_data_parallel/contract.h"

static void attack(const Model *model) {
    (void)model;
}
