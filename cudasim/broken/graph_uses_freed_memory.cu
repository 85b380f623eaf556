/* The memory that a captured kernel was given is freed, and then the graph is launched: it has the
   old address. */
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
    float *one;
    TRY(cudaStreamCreate(&stream));
    TRY(cudaMalloc(&x, sizeof host));
    TRY(cudaMemset(x, 0, sizeof host));
    TRY(cudaMalloc(&one, sizeof(float)));
    TRY(cudaMemset(one, 0, sizeof(float)));
    TRY(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    add<<<1, 1, 0, stream>>>(one, 1);
    add<<<1, N, 0, stream>>>(x, 1);
    TRY(cudaStreamEndCapture(stream, &graph));
#ifndef MENDED
    TRY(cudaFree(one));
#endif
    TRY(cudaGraphInstantiate(&exec, graph, 0));
    TRY(cudaGraphLaunch(exec, stream)); /* expect: use after free */
    TRY(cudaStreamSynchronize(stream));
#ifdef MENDED
    TRY(cudaFree(one));
#endif
    TRY(cudaGraphExecDestroy(exec));
    TRY(cudaGraphDestroy(graph));
    TRY(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(x));
    TRY(cudaStreamDestroy(stream));
    return expect(checksum(host, N), 528);
}
