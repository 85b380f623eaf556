/* A function captures a copy from its std::vector and returns, and the vector is gone. The graph
   reads from that address when it is launched, and others may have the memory by then. */
#include <vector>

#include "try.cuh"

enum { N = 64 };

#ifdef MENDED
#define KEPT static
#else
#define KEPT
#endif

static cudaGraph_t capture(float *x, cudaStream_t stream) {
    cudaGraph_t graph;
    KEPT std::vector<float> ones(N, 1.0f);
    TRY(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    /* expect: use after free */
    TRY(cudaMemcpyAsync(x, ones.data(), N * sizeof *x, cudaMemcpyHostToDevice, stream));
    TRY(cudaStreamEndCapture(stream, &graph));
    return graph;
}

int main(void) {
    float host[N], *x;
    cudaStream_t stream;
    cudaGraphExec_t exec;
    TRY(cudaMalloc(&x, sizeof host));
    TRY(cudaMemset(x, 0, sizeof host));
    TRY(cudaStreamCreate(&stream));
    cudaGraph_t graph = capture(x, stream);
    TRY(cudaGraphInstantiate(&exec, graph, 0));
    TRY(cudaGraphLaunch(exec, stream));
    TRY(cudaStreamSynchronize(stream));
    TRY(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaGraphExecDestroy(exec));
    TRY(cudaGraphDestroy(graph));
    TRY(cudaStreamDestroy(stream));
    TRY(cudaFree(x));
    return expect(checksum(host, N), 2080);
}
