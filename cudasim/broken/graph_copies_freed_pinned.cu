/* The pinned buffer of a captured copy is freed before the graph is launched. */
#include "try.cuh"

enum { N = 64 };

int main(void) {
    float host[N], *x, *pinned;
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    TRY(cudaMalloc(&x, sizeof host));
    TRY(cudaMallocHost(&pinned, sizeof host));
    for (int i = 0; i < N; i++) {
        pinned[i] = i;
    }
    TRY(cudaStreamCreate(&stream));
    TRY(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    TRY(cudaMemcpyAsync(x, pinned, sizeof host, cudaMemcpyHostToDevice, stream));
    TRY(cudaStreamEndCapture(stream, &graph));
    TRY(cudaGraphInstantiate(&exec, graph, 0));
#ifndef MENDED
    TRY(cudaFreeHost(pinned));
#endif
    TRY(cudaGraphLaunch(exec, stream)); /* expect: use after free */
    TRY(cudaStreamSynchronize(stream));
#ifdef MENDED
    TRY(cudaFreeHost(pinned));
#endif
    TRY(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaGraphExecDestroy(exec));
    TRY(cudaGraphDestroy(graph));
    TRY(cudaStreamDestroy(stream));
    TRY(cudaFree(x));
    return expect(checksum(host, N), 87360);
}
