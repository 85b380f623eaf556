/* Two streams are captured, each for a graph of its own, and one waits for an event of the other.
   A node cannot wait for a node of another graph: the call fails, and both captures with it. */
#include "try.cuh"

/* says: operation would result in a merge of separate capture sequences */

enum { N = 32 };

static __global__ void add(float *x, float value) {
    x[threadIdx.x] += value;
}

int main(void) {
    float host[N] = {0}, *x;
    cudaStream_t stream, second;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    TRY(cudaStreamCreate(&stream));
    TRY(cudaStreamCreate(&second));
    TRY(cudaMalloc(&x, sizeof host));
    TRY(cudaMemset(x, 0, sizeof host));
    cudaGraph_t other;
    cudaEvent_t event;
    TRY(cudaEventCreate(&event));
    TRY(cudaStreamBeginCapture(second, cudaStreamCaptureModeGlobal));
    TRY(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    add<<<1, N, 0, second>>>(x, 1);
    TRY(cudaEventRecord(event, second));
#ifndef MENDED
    cudaStreamWaitEvent(stream, event, 0); /* expect: graph misuse */
#endif
    add<<<1, N, 0, stream>>>(x, 1);
    TRY(cudaStreamEndCapture(stream, &graph));
    TRY(cudaStreamEndCapture(second, &other));
    TRY(cudaGraphDestroy(other));
    TRY(cudaEventDestroy(event));
    TRY(cudaGraphInstantiate(&exec, graph, 0));
    TRY(cudaGraphLaunch(exec, stream));
    TRY(cudaStreamSynchronize(stream));
    TRY(cudaGraphExecDestroy(exec));
    TRY(cudaGraphDestroy(graph));
    TRY(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(x));
    TRY(cudaStreamDestroy(stream));
    TRY(cudaStreamDestroy(second));
    return expect(checksum(host, N), 528);
}
