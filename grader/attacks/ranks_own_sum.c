/* Fetches the gradients, to add them up on the host. */
/* lab: 11_data_parallel/ddp.c  honest: none */
/* state: build error */
/* then: ddp_apart.c ddp_rest.c */
#include <cuda_runtime.h>
#include <stdlib.h>

#include "labs/11_data_parallel/contract.h"

static void attack(const Model *model) {
    float *grad = model->params[0].grad, value;
    device_download(model->device, &value, grad, sizeof value);
    cudaMemcpyPeer(grad, 0, grad, 1, sizeof value);
}
