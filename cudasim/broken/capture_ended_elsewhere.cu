/* A capture is ended in a stream that it was carried to by an event, and not in the one in which it
   began. The call fails, and the capture with it. */
#include "try.cuh"

/* says: capture was not ended in the same stream as it began */

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
    cudaEvent_t fork, join;
    TRY(cudaEventCreate(&fork));
    TRY(cudaEventCreate(&join));
    TRY(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    TRY(cudaEventRecord(fork, stream));
    TRY(cudaStreamWaitEvent(second, fork, 0));
    add<<<1, N, 0, second>>>(x, 1);
    TRY(cudaEventRecord(join, second));
    TRY(cudaStreamWaitEvent(stream, join, 0));
#ifdef MENDED
    cudaStream_t last = stream;
#else
    cudaStream_t last = second;
#endif
    TRY(cudaStreamEndCapture(last, &graph)); /* expect: graph misuse */
    TRY(cudaEventDestroy(fork));
    TRY(cudaEventDestroy(join));
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
