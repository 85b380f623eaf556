/* Steps of data parallel training, as a record sees them: kernels, and all-reduces of buckets on a
   stream of their own. The first argument is the number of ranks; the second, if there is one, that
   of steps. */
#include <nccl.h>

#include "cudasim_ranks.h"
#include "cudasim_record.h"
#include "foreign/check.cuh"

enum { BLOCKS = 4, N = 1 << 12 };

static int ranks, steps = 1;
static ncclUniqueId id;

static __global__ void backward(float *gradient) {
    gradient[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}

static __global__ void update(float *gradient) {
    gradient[blockIdx.x * blockDim.x + threadIdx.x] *= 0.5f;
}

static void step(float **gradient, ncclComm_t comm, cudaStream_t compute, cudaStream_t wire,
                 cudaEvent_t event) {
    for (int b = BLOCKS - 1; b >= 0; b--) {
        cudasim_note("backward", 0, 1e6);
        backward<<<N / 256, 256, 0, compute>>>(gradient[b]);
        OK(cudaEventRecord(event, compute));
        OK(cudaStreamWaitEvent(wire, event, 0));
        OK(ncclAllReduce(gradient[b], gradient[b], N, ncclFloat, ncclSum, comm, wire));
    }
    OK(cudaEventRecord(event, wire));
    OK(cudaStreamWaitEvent(compute, event, 0));
    for (int b = 0; b < BLOCKS; b++) {
        cudasim_note("update", 0, 1e6);
        update<<<N / 256, 256, 0, compute>>>(gradient[b]);
    }
}

static void run(int rank, void *context) {
    (void)context;
    float *gradient[BLOCKS];
    ncclComm_t comm;
    cudaStream_t compute, wire;
    cudaEvent_t event;
    OK(ncclCommInitRank(&comm, ranks, id, rank));
    OK(cudaStreamCreateWithFlags(&compute, cudaStreamNonBlocking));
    OK(cudaStreamCreateWithFlags(&wire, cudaStreamNonBlocking));
    OK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    for (int b = 0; b < BLOCKS; b++) {
        OK(cudaMallocAsync(&gradient[b], N * sizeof(float), compute));
    }
    for (int s = 0; s < steps; s++) {
        step(gradient, comm, compute, wire, event);
    }
    OK(cudaStreamSynchronize(compute));
    float first = -1; /* by the default stream, which each rank has for itself */
    OK(cudaMemset(gradient[1], 0, sizeof first));
    OK(cudaMemcpy(&first, gradient[1], sizeof first, cudaMemcpyDeviceToHost));
    if (first != 0) {
        exit(1);
    }
    for (int b = 0; b < BLOCKS; b++) {
        OK(cudaFreeAsync(gradient[b], compute));
    }
    OK(cudaStreamSynchronize(compute));
    OK(cudaEventDestroy(event));
    OK(cudaStreamDestroy(compute));
    OK(cudaStreamDestroy(wire));
    OK(ncclCommDestroy(comm));
}

int main(int count, char **word) {
    ranks = count > 1 ? atoi(word[1]) : 4;
    steps = count > 2 ? atoi(word[2]) : 1;
    OK(ncclGetUniqueId(&id));
    cudasim_ranks_run(ranks, run, NULL);
    return 0;
}
