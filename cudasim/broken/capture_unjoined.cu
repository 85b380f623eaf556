/* A second stream is drawn into a capture by an event, and the first one never waits for it. The
   end of the capture fails. */
#include "try.cuh"

/* says: capturing stream has unjoined work */

enum { N = 32 };

static __global__ void add(float *x, float value) {
    x[threadIdx.x] += value;
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
    add<<<1, N, 0, second>>>(x, 1);
    TRY(cudaEventRecord(join, second));
#ifdef MENDED
    TRY(cudaStreamWaitEvent(stream, join, 0));
#endif
    TRY(cudaStreamEndCapture(stream, &graph)); /* expect: graph misuse */
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
