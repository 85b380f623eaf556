/* A capture is ended by another thread of the host than the one that began it, and its mode is not
   relaxed. */
#include <thread>

#include "try.cuh"

/* says: attempt to terminate a thread-local capture sequence from another thread */

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
#ifdef MENDED
    cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
#else
    cudaStreamCaptureMode mode = cudaStreamCaptureModeThreadLocal;
#endif
    TRY(cudaStreamBeginCapture(stream, mode));
    add<<<1, N, 0, stream>>>(x, 1);
    std::thread([&] {
        TRY(cudaStreamEndCapture(stream, &graph)); /* expect: graph misuse */
    }).join();
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
