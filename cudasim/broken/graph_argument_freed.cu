/* A node of a graph is given other memory, which is freed before the graph is launched. */
#include "try.cuh"

enum { N = 64 };

static __global__ void fill(float *x, float value) {
    x[threadIdx.x] = value;
}

int main(void) {
    float host[N], *first, *second, value = 3;
    cudaGraph_t graph;
    cudaGraphNode_t node;
    cudaGraphExec_t exec;
    TRY(cudaMalloc(&first, sizeof host));
    TRY(cudaMalloc(&second, sizeof host));
    TRY(cudaGraphCreate(&graph, 0));
    void *arguments[] = {&first, &value};
    cudaKernelNodeParams parameters = {};
    parameters.func = (void *)fill;
    parameters.gridDim = dim3(1);
    parameters.blockDim = dim3(N);
    parameters.kernelParams = arguments;
    TRY(cudaGraphAddKernelNode(&node, graph, NULL, 0, &parameters));
    TRY(cudaGraphInstantiate(&exec, graph, 0));
    arguments[0] = &second;
    TRY(cudaGraphExecKernelNodeSetParams(exec, node, &parameters));
#ifndef MENDED
    TRY(cudaFree(second));
#endif
    TRY(cudaGraphLaunch(exec, 0)); /* expect: use after free */
    TRY(cudaDeviceSynchronize());
    TRY(cudaMemcpy(host, second, sizeof host, cudaMemcpyDeviceToHost));
#ifdef MENDED
    TRY(cudaFree(second));
#endif
    TRY(cudaFree(first));
    TRY(cudaGraphExecDestroy(exec));
    TRY(cudaGraphDestroy(graph));
    return expect(checksum(host, N), 3 * 2080);
}
