/* A function captures a copy to its local array and returns. The graph copies to that address when
   it is launched, and other functions have the place by then. */
#include "try.cuh"

enum { N = 64 };

#ifdef MENDED
#define KEPT static
#else
#define KEPT
#endif

static __attribute__((noinline)) cudaGraph_t capture(const float *x, cudaStream_t stream) {
    cudaGraph_t graph;
    KEPT float host[N];
    TRY(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    /* expect: use after free */
    TRY(cudaMemcpyAsync(host, x, sizeof host, cudaMemcpyDeviceToHost, stream));
    TRY(cudaStreamEndCapture(stream, &graph));
    return graph;
}

int main(void) {
    float host[N] = {1, 2, 3}, *x;
    cudaStream_t stream;
    cudaGraphExec_t exec;
    TRY(cudaMalloc(&x, sizeof host));
    TRY(cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice));
    TRY(cudaStreamCreate(&stream));
    cudaGraph_t graph = capture(x, stream);
    TRY(cudaGraphInstantiate(&exec, graph, 0));
    TRY(cudaGraphLaunch(exec, stream));
    TRY(cudaStreamSynchronize(stream));
    TRY(cudaGraphExecDestroy(exec));
    TRY(cudaGraphDestroy(graph));
    TRY(cudaStreamDestroy(stream));
    TRY(cudaFree(x));
    return expect(checksum(host, N), 14);
}
