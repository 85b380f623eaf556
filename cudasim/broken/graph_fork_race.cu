/* Two streams are captured, and both add to the same numbers. In the graph nothing orders the two
   nodes, and on a GPU they run at once. */
#include "try.cuh"

enum { N = 32 };

static __global__ void add(float *x, float value) {
    x[threadIdx.x] += value; /* expect: stream race */
}

int main(void) {
    float host[N] = {0}, *x;
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaStream_t second;
    cudaEvent_t fork, join;
    TRY(cudaStreamCreate(&stream));
    TRY(cudaMalloc(&x, sizeof host));
    TRY(cudaMemset(x, 0, sizeof host));
    TRY(cudaStreamCreate(&second));
    TRY(cudaEventCreate(&fork));
    TRY(cudaEventCreate(&join));
    TRY(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    TRY(cudaEventRecord(fork, stream));
    TRY(cudaStreamWaitEvent(second, fork, 0));
    add<<<1, N, 0, second>>>(x, 0.25f);
    TRY(cudaEventRecord(join, second));
#ifdef MENDED
    TRY(cudaStreamWaitEvent(stream, join, 0));
#endif
    add<<<1, N, 0, stream>>>(x, 0.75f);
#ifndef MENDED
    TRY(cudaStreamWaitEvent(stream, join, 0));
#endif
    TRY(cudaStreamEndCapture(stream, &graph));
    TRY(cudaGraphInstantiate(&exec, graph, 0));
    TRY(cudaGraphLaunch(exec, stream));
    TRY(cudaStreamSynchronize(stream));
    TRY(cudaGraphExecDestroy(exec));
    TRY(cudaGraphDestroy(graph));
    TRY(cudaEventDestroy(fork));
    TRY(cudaEventDestroy(join));
    TRY(cudaStreamDestroy(second));
    TRY(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(x));
    TRY(cudaStreamDestroy(stream));
    return expect(checksum(host, N), 528);
}
