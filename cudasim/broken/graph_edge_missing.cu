/* A graph by API: the second kernel reads what the first one writes, and does not depend on it. On
   a GPU they run at once. */
#include "try.cuh"

enum { N = 32 };

static __global__ void add(float *x, float value) {
    x[threadIdx.x] += value; /* expect: stream race */
}

int main(void) {
    float host[N] = {0}, *x;
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    TRY(cudaStreamCreate(&stream));
    TRY(cudaMalloc(&x, sizeof host));
    TRY(cudaMemset(x, 0, sizeof host));
    float value = 0.5f;
    void *values[] = {&x, &value};
    cudaKernelNodeParams p = {};
    cudaGraphNode_t first, second;
    p.func = (void *)add;
    p.gridDim = dim3(1);
    p.blockDim = dim3(N);
    p.kernelParams = values;
    TRY(cudaGraphCreate(&graph, 0));
    TRY(cudaGraphAddKernelNode(&first, graph, NULL, 0, &p));
#ifdef MENDED
    TRY(cudaGraphAddKernelNode(&second, graph, &first, 1, &p));
#else
    TRY(cudaGraphAddKernelNode(&second, graph, NULL, 0, &p));
#endif
    TRY(cudaGraphInstantiate(&exec, graph, 0));
    TRY(cudaGraphLaunch(exec, stream));
    TRY(cudaStreamSynchronize(stream));
    TRY(cudaGraphExecDestroy(exec));
    TRY(cudaGraphDestroy(graph));
    TRY(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(x));
    TRY(cudaStreamDestroy(stream));
    return expect(checksum(host, N), 528);
}
