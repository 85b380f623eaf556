/* In a pipeline of two streams the consumer waits for the event before the producer has recorded it
   anew: it waits for the round before. */
#include "try.cuh"

enum { N = 64, ROUNDS = 3 };

static __global__ void produce(float *x, int round) {
    x[threadIdx.x] = round;
}

static __global__ void consume(float *sum, const float *x) {
    sum[threadIdx.x] += x[threadIdx.x]; /* expect: stream race */
}

int main(void) {
    float host[N], *x[ROUNDS], *sum;
    cudaStream_t producer, consumer;
    cudaEvent_t ready;
    TRY(cudaStreamCreate(&producer));
    TRY(cudaStreamCreate(&consumer));
    TRY(cudaEventCreate(&ready));
    TRY(cudaMalloc(&sum, sizeof host));
    TRY(cudaMemset(sum, 0, sizeof host));
    for (int r = 0; r < ROUNDS; r++) {
        TRY(cudaMalloc(&x[r], sizeof host));
        TRY(cudaMemset(x[r], 0, sizeof host));
    }
    TRY(cudaDeviceSynchronize());
    for (int r = 0; r < ROUNDS; r++) {
#ifndef MENDED
        TRY(cudaStreamWaitEvent(consumer, ready, 0));
#endif
        produce<<<1, N, 0, producer>>>(x[r], r + 1);
        TRY(cudaEventRecord(ready, producer));
#ifdef MENDED
        TRY(cudaStreamWaitEvent(consumer, ready, 0));
#endif
        consume<<<1, N, 0, consumer>>>(sum, x[r]);
    }
    TRY(cudaDeviceSynchronize());
    TRY(cudaMemcpy(host, sum, sizeof host, cudaMemcpyDeviceToHost));
    for (int r = 0; r < ROUNDS; r++) {
        TRY(cudaFree(x[r]));
    }
    TRY(cudaFree(sum));
    TRY(cudaEventDestroy(ready));
    TRY(cudaStreamDestroy(producer));
    TRY(cudaStreamDestroy(consumer));
    return expect(checksum(host, N), 6 * 2080);
}
