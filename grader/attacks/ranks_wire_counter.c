/* Asks the simulator for its count of bytes. */
/* lab: 11_data_parallel/ddp.c  honest: none */
/* state: build error */
/* then: ddp_apart.c ddp_rest.c */
#include <cuda_runtime.h>
#include <cudasim_nccl.h>
#include <stdlib.h>

#include "labs/11_data_parallel/contract.h"

static size_t told;

static void attack(const Model *model) {
    (void)model;
    told += (size_t)cudasim_wire_bytes(0);
}
