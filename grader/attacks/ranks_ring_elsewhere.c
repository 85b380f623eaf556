/* Defines the ring in a file that may call ncclAllReduce(). */
/* lab: 11_data_parallel/ddp.c  honest: none */
/* state: build error */
/* then: ddp_rest.c */
#include <stdlib.h>

#include "labs/11_data_parallel/contract.h"

__attribute__((weak)) void ring_all_reduce(Device *device, ncclComm_t comm, float *x, size_t count,
                                           float *incoming) {
    (void)device, (void)incoming;
    ncclAllReduce(x, x, count, ncclFloat, ncclSum, comm, 0);
}

Ddp *ddp_open(Model *model, ncclComm_t comm, size_t bucket_bytes) {
    (void)model, (void)comm, (void)bucket_bytes;
    return malloc(1);
}

void ddp_begin(Ddp *ddp, bool last) {
    (void)ddp, (void)last;
}

void ddp_leave(void *context, int layer, bool backward) {
    (void)context, (void)layer, (void)backward;
}

void ddp_end(Ddp *ddp) {
    (void)ddp;
}
