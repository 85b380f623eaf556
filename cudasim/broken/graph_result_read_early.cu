/* The host reads pinned memory that a graph copies to, and has not waited for the graph. */
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
    float *pinned;
    TRY(cudaStreamCreate(&stream));
    TRY(cudaMalloc(&x, sizeof host));
    TRY(cudaMemset(x, 0, sizeof host));
    TRY(cudaMallocHost(&pinned, sizeof host));
    TRY(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    add<<<1, N, 0, stream>>>(x, 1);
    TRY(cudaMemcpyAsync(pinned, x, sizeof host, cudaMemcpyDeviceToHost, stream));
    TRY(cudaStreamEndCapture(stream, &graph));
    TRY(cudaGraphInstantiate(&exec, graph, 0));
    TRY(cudaGraphLaunch(exec, stream));
#ifdef MENDED
    TRY(cudaStreamSynchronize(stream));
#endif
    double sum = pinned[0] * 528; /* expect: pending copy */
    TRY(cudaStreamSynchronize(stream));
    TRY(cudaGraphExecDestroy(exec));
    TRY(cudaGraphDestroy(graph));
    TRY(cudaFreeHost(pinned));
    TRY(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(x));
    TRY(cudaStreamDestroy(stream));
    return expect(sum, 528);
}
