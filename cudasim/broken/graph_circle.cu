/* Two nodes of a graph wait for each other: it cannot be instantiated. */
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
    cudaGraphNode_t first, second;
    float value = 1;
    void *values[] = {&x, &value};
    cudaKernelNodeParams p = {};
    p.func = (void *)add;
    p.gridDim = dim3(1);
    p.blockDim = dim3(N);
    p.kernelParams = values;
    TRY(cudaGraphCreate(&graph, 0));
    TRY(cudaGraphAddKernelNode(&first, graph, NULL, 0, &p));
    TRY(cudaGraphAddEmptyNode(&second, graph, &first, 1));
#ifndef MENDED
    TRY(cudaGraphAddDependencies(graph, &second, &first, 1));
#endif
    TRY(cudaGraphInstantiate(&exec, graph, 0)); /* expect: graph misuse */
    TRY(cudaGraphLaunch(exec, stream));
    TRY(cudaStreamSynchronize(stream));
    TRY(cudaGraphExecDestroy(exec));
    TRY(cudaGraphDestroy(graph));
    TRY(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(x));
    TRY(cudaStreamDestroy(stream));
    return expect(checksum(host, N), 528);
}
