/* A graph copies from pinned memory that was freed after the capture. A graph keeps addresses and
   no bytes: on a GPU it copies whatever is there now, or the program crashes. */
#include "try.cuh"

enum { N = 32 };

int main(void) {
    float host[N], *pinned, *x;
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    TRY(cudaStreamCreate(&stream));
    TRY(cudaMallocHost(&pinned, sizeof host));
    TRY(cudaMalloc(&x, sizeof host));
    for (int i = 0; i < N; i++) {
        pinned[i] = 1;
    }
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
    TRY(cudaGraphExecDestroy(exec));
    TRY(cudaGraphDestroy(graph));
    TRY(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(x));
    TRY(cudaStreamDestroy(stream));
    return expect(checksum(host, N), 528);
}
