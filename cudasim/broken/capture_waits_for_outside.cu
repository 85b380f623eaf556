/* A captured stream waits for an event that was recorded before the capture. A graph cannot know
   of it: the call fails, and the capture with it. */
#include "try.cuh"

/* says: dependency created on uncaptured work */

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
    TRY(cudaEventRecord(event, stream));
#ifdef MENDED
    TRY(cudaStreamWaitEvent(stream, event, 0));
#endif
    TRY(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
#ifndef MENDED
    cudaStreamWaitEvent(stream, event, 0); /* expect: graph misuse */
#endif
    add<<<1, N, 0, stream>>>(x, 1);
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
