/* A graph is destroyed twice. On a GPU the program may crash in the driver. */
#include "try.cuh"

enum { N = 32 };

static __global__ void add(float *x, float value) {
    x[threadIdx.x] += value;
}

int main(void) {
    float host[N] = {0}, *x;
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    TRY(cudaStreamCreate(&stream));
    TRY(cudaMalloc(&x, sizeof host));
    TRY(cudaMemset(x, 0, sizeof host));
    TRY(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    add<<<1, N, 0, stream>>>(x, 1);
    TRY(cudaStreamEndCapture(stream, &graph));
    TRY(cudaGraphInstantiate(&exec, graph, 0));
    TRY(cudaGraphLaunch(exec, stream));
    TRY(cudaStreamSynchronize(stream));
    TRY(cudaGraphDestroy(graph));
#ifdef MENDED
    TRY(cudaGraphExecDestroy(exec));
#else
    TRY(cudaGraphDestroy(graph)); /* expect: use after free */
#endif
    TRY(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(x));
    TRY(cudaStreamDestroy(stream));
    return expect(checksum(host, N), 528);
}
