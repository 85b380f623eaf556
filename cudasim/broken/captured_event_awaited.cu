/* The host waits for an event that was recorded in a captured stream. It is never reached: the call
   fails, and the capture with it. */
#include "try.cuh"

/* says: event last recorded in a capturing stream */

enum { N = 32 };

static __global__ void add(float *x, float value) {
    x[threadIdx.x] += value;
}

int main(void) {
    float host[N] = {0}, *x;
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaEvent_t event;
    TRY(cudaStreamCreate(&stream));
    TRY(cudaMalloc(&x, sizeof host));
    TRY(cudaMemset(x, 0, sizeof host));
    TRY(cudaEventCreate(&event));
    TRY(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    add<<<1, N, 0, stream>>>(x, 1);
    TRY(cudaEventRecord(event, stream));
#ifndef MENDED
    cudaEventSynchronize(event); /* expect: graph misuse */
#endif
    TRY(cudaStreamEndCapture(stream, &graph));
    TRY(cudaGraphInstantiate(&exec, graph, 0));
    TRY(cudaGraphLaunch(exec, stream));
    TRY(cudaStreamSynchronize(stream));
    TRY(cudaGraphExecDestroy(exec));
    TRY(cudaGraphDestroy(graph));
    TRY(cudaEventDestroy(event));
    TRY(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(x));
    TRY(cudaStreamDestroy(stream));
    return expect(checksum(host, N), 528);
}
